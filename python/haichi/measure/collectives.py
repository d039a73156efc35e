"""`haichi measure collectives`: every algorithm for an exchange in one run, interleaved, and
which of them haichi chooses by itself in another (paper 004, section 4)."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from haichi import mpi
from haichi.measure import record, trial
from haichi.measure.cases import Plan, program_of
from haichi.measure.model import Case, Claim, Measurement, Samples
from haichi.measure.places import OnLab
from haichi.measure.trial import Program, Variant
from haichi.report.load import ReportError, load
from haichi.report.model import Collective

RANKS = 16
NODES = (4, 8, 16)
MAPPINGS = ("BK", "RR")
FUNCTIONS = ("alltoall", "alltoallv", "skewed", "allgather")
SIZES = (4 << 10, 64 << 10, 256 << 10)
CANDIDATES = 15  # the library and haichi's, at most
CALL = "call"
LIBRARY = "library"
# How near the choice is to be to the best of all, in how many of the cells, and how much slower
# than the library it may ever be.
NEAR, MOST_CELLS, NEVER_SLOWER = 1.05, 0.90, 0.97


@dataclass(frozen=True)
class Cell:
    """One exchange on one place by one MPI."""

    plan: Plan
    which: mpi.Mpi
    mapping: str
    nodes: int
    function: str
    size: int

    @property
    def title(self) -> str:
        """In words."""
        per_node = RANKS // self.nodes
        return f"{self.function}, {self.size >> 10} KiB, {self.nodes}x{per_node} {self.mapping}"


def measure(
    places: Sequence[OnLab],
    rounds: int,
    names: Sequence[str],
    mappings: Sequence[str],
    functions: Sequence[str],
    sizes: Sequence[int],
    yields: str,
    progress: Callable[[str], None],
) -> Measurement:
    """Runs every cell twice: all candidates `rounds` times each, then haichi as it is; MPIs that
    are not here raise mpi.Missing."""
    environment = record.environment(places[0], yields)
    cells = [
        Cell(
            Plan(replace(place, mapping=mapping), RANKS, yields, place.shared),
            mpi.find(name),
            mapping,
            len(place.lab.nodes),
            function,
            size,
        )
        for name in names
        for place in places
        for mapping in mappings
        for function in functions
        for size in sizes
    ]
    cases: list[Case] = []
    ratios: list[tuple[float, float]] = []
    for number, cell in enumerate(cells, 1):
        progress(f"{number}/{len(cells)}  {cell.which.name}: {cell.title}")
        found, figures = run_cell(cell, rounds)
        cases += found
        if figures:
            ratios.append(figures)
    environment.load_after = record.load()
    return Measurement(
        what="collectives",
        repetitions=rounds,
        environment=environment,
        cases=cases,
        claims=claims(ratios),
    )


def run_cell(cell: Cell, rounds: int) -> tuple[list[Case], tuple[float, float] | None]:
    """The cases of a cell, and two ratios: the choice over the best of all candidates, and the
    library over the choice, all of one run."""
    every = {"HAICHI_COLLECTIVES_ROUNDS": str(rounds), "HAICHI_COLLECTIVES_PRUNE": "off"}
    all_case, everything = _run(cell, Variant("all", True, every), 2 + rounds * CANDIDATES)
    own_case, own = _run(cell, Variant("haichi", True, {}), 2 + 6 * CANDIDATES)
    problems = all_case.problems + own_case.problems
    if everything is None or own is None or problems:
        all_case.problems = problems or ["the report has no trials"]
        return [all_case], None
    medians = {c.name: statistics.median(c.trials) for c in everything.candidates if c.trials}
    cases = []
    for candidate in sorted(everything.candidates, key=lambda c: medians.get(c.name, 0)):
        case = all_case.model_copy(deep=True)
        case.variant = candidate.name + (
            " (haichi's choice)" if candidate.name == own.chosen else ""
        )
        case.operations = {CALL: Samples(seconds=candidate.trials)}
        cases.append(case)
    chosen, best = medians[own.chosen], min(medians.values())
    return cases, (chosen / best, medians[LIBRARY] / chosen)


def _run(cell: Cell, variant: Variant, calls: int) -> tuple[Case, Collective | None]:
    binary = program_of("exchange", cell.which)
    argv = [binary, cell.function, str(cell.size), str(calls)]
    program = Program(cell.title, cell.which, lambda file: list(argv))
    case, go = cell.plan.make(program, variant, _nothing, "exchange")
    go()
    assert cell.plan.reports is not None
    report = cell.plan.reports / f"exchange-{cell.which.name}-{variant.name}.json"
    try:
        found = load(report).collectives
    except ReportError as error:
        trial.once(case.problems, str(error))
        return case, None
    return case, found[0] if found else None


def _nothing(case: Case, file: Path) -> None:
    """There is no file; the program checks its messages."""


def claims(ratios: Sequence[tuple[float, float]]) -> list[Claim]:
    """What was to be reached, over all cells."""
    near = sum(over_best <= NEAR for over_best, _ in ratios) / len(ratios) if ratios else None
    worst = min((over_library for _, over_library in ratios), default=None)
    mean = statistics.geometric_mean([r for _, r in ratios]) if ratios else None
    return [
        Claim(
            what=f"cells in which haichi's choice is within {NEAR} of the best candidate",
            ratio=near,
            wanted=MOST_CELLS,
        ),
        Claim(what="library / haichi's choice, worst cell", ratio=worst, wanted=NEVER_SLOWER),
        Claim(what="library / haichi's choice, geometric mean", ratio=mean, wanted=1.0),
    ]
