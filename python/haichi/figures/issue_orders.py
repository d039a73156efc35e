"""`haichi figures issue-orders`: an all-to-all in the four issue orders, ranks in blocks and round
robin (paper 000, section 4.1, Fig. 8). No haichi is under the program: its orders are measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from haichi import mpi, paths, programs
from haichi.figures import record
from haichi.figures.cases import Plan, program_of
from haichi.figures.model import Case, Claim, Measurement
from haichi.figures.places import OnLab
from haichi.figures.record import ratio
from haichi.figures.trial import Program, Trial, Variant

NODES, RANKS = 4, 16
ORDERS = ("rank", "pairwise", "nd_shift", "nd_rank_shift")  # the first is stock ROMIO's
MAPPINGS = ("BK", "RR")
WINDOWS = (0, 4)  # sends outstanding; 0 is all of them, the paper's way
BYTES = 128 << 10
INSIDE = 3  # exchanges per start of the program
LAST, FIRST = "last rank", "first rank"


def measure(
    lab: OnLab,
    repetitions: int,
    names: Sequence[str],
    yields: str,
    progress: Callable[[str], None],
) -> Measurement:
    """Runs everything; MPIs that are not here raise mpi.Missing."""
    environment = record.environment(lab, yields)
    trials: list[Trial] = []
    for mapping in MAPPINGS:
        plan = Plan(replace(lab, mapping=mapping), RANKS, yields)
        for which in (mpi.find(name) for name in names):
            for window in WINDOWS:
                trials += order_trials(plan, which, mapping, window)
    return record.measured("issue-orders", trials, repetitions, environment, progress, claims)


def order_trials(plan: Plan, which: mpi.Mpi, mapping: str, window: int) -> list[Trial]:
    """The exchange in every order."""
    binary = program_of("alltoall", which)
    many = f"{window} sends" if window else "all sends"
    title = f"{mapping}, {many} outstanding, {BYTES >> 10} KiB"
    trials = []
    for order in ORDERS:
        lists = write_order(plan.place.shared, order, plan.place.node_of_rank(plan.ranks), mapping)
        argv = [binary, str(lists), str(BYTES), str(window), str(INSIDE)]
        program = Program(title, which, _always(argv))
        trials.append(plan.make(program, Variant(order, haichi=False), _nothing, "alltoall"))
    return trials


def _always(argv: list[str]) -> Callable[[Path], list[str]]:
    """These words, whatever the file: there is none."""
    return lambda file: list(argv)


def write_order(folder: Path, order: str, nodes: Sequence[int], mapping: str) -> Path:
    """The peers of every rank in that order, for bench/p2p/alltoall.

    Raises:
        Missing: the program that knows the orders is not built.
    """
    file = folder / f"{order}-{mapping}.txt"
    tool = paths.program("issue-orders")
    file.write_text(programs.output(tool, order, ",".join(map(str, nodes))))
    return file


def _nothing(case: Case, file: Path) -> None:
    """There is no file; the program checks its messages."""


def claims(cases: Sequence[Case]) -> list[Claim]:
    """What the paper saw: the orders that know the nodes are not slower than rank order; with few
    sends outstanding they are clearly faster where ranks are in blocks."""
    by = {(c.mpi, c.program, c.variant): c for c in cases}
    found = []
    for name, program in dict.fromkeys((c.mpi, c.program) for c in cases):
        rank, ours = by.get((name, program, ORDERS[0])), by.get((name, program, ORDERS[-1]))
        bounded = program.startswith(f"BK, {WINDOWS[-1]} sends")
        found.append(
            Claim(
                what=f"{name}, {program}: rank order / nd_rank_shift, {LAST}",
                ratio=ratio(rank, ours, LAST),
                wanted=1.3 if bounded else 1.0,
            )
        )
    return found
