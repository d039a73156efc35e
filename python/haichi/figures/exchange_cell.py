"""One exchange on one place: every way to carry it out in turn, and which of them haichi takes."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path

from haichi import mpi
from haichi.figures import trial
from haichi.figures.cases import Plan, program_of
from haichi.figures.model import Case, Samples
from haichi.figures.trial import STOCK, Program, Variant
from haichi.report.load import ReportError, load
from haichi.report.model import Collective

RANKS = 16
BLOCKING = ("alltoall", "alltoallv", "skewed", "grid", "allgather")
# Where haichi goes by rule, without trials.
NONBLOCKING = ("ialltoall", "ialltoallv", "iskewed", "igrid")
CANDIDATES = 15  # the library and haichi's, at most
# What nonblocking exchanges can do: all messages at once, in one order or another.
AT_ONCE = ("spread(nd_rank_shift,0)", "spread(rank,0)", "spread(pairwise,0)")
JOBS, FIRST_CALLS = 2, 2  # of each of those, in turn; calls of a job that set connections up
CALL = "call"
LIBRARY = "library"
# What is measured is what haichi does once it acts, so it acts from the second call on, and the
# choice after trials, so they may cost anything.
SOON = {"HAICHI_COLLECTIVES_AFTER": "1"}
TRIALS = {**SOON, "HAICHI_COLLECTIVES_BUDGET": "100"}


@dataclass(frozen=True)
class Cell:
    """One exchange on one place by one MPI."""

    plan: Plan
    which: mpi.Mpi
    where: str  # in words
    function: str
    size: int

    @property
    def title(self) -> str:
        """In words."""
        return f"{self.function}, {self.size >> 10} KiB, {self.where}"


@dataclass(frozen=True)
class Found:
    """The cases of a cell, one for each way; two ratios, None if there are none."""

    cases: list[Case]
    over_best: float | None = None  # the choice over the best of all
    over_library: float | None = None  # the library over the choice


def run(cell: Cell, rounds: int) -> Found:
    """Has every way carried out `rounds` times at least, interleaved."""
    return (by_rule if cell.function in NONBLOCKING else by_trial)(cell, rounds)


def by_trial(cell: Cell, rounds: int) -> Found:
    """All candidates in one job, then haichi's own trials in another."""
    every = {
        **TRIALS,
        "HAICHI_COLLECTIVES_ROUNDS": str(rounds),
        "HAICHI_COLLECTIVES_PRUNE": "off",
    }
    all_case, everything = job(cell, Variant("all", True, every), 2 + rounds * CANDIDATES)
    own_case, own = job(cell, Variant("haichi", True, TRIALS), 2 + 5 * CANDIDATES)
    problems = all_case.problems + own_case.problems
    if everything is None or own is None or problems:
        all_case.problems = problems or ["the report has no trials"]
        return Found([all_case])
    times = {c.name: c.trials for c in everything.candidates if c.trials}
    return _found(all_case, times, own.chosen)


def by_rule(cell: Cell, rounds: int) -> Found:
    """The library and haichi's orders in jobs of their own, one after the other, more than once."""
    on = {**SOON, "HAICHI_COLLECTIVES_NONBLOCKING": "on"}
    variants = [STOCK, Variant("rule", True, on)] + [
        Variant(name, True, {**on, "HAICHI_COLLECTIVES_ALGORITHM": name}) for name in AT_ONCE
    ]
    times: dict[str, list[float]] = {}
    chosen = LIBRARY
    for _ in range(JOBS):
        for variant in variants:
            case, seen = job(cell, variant, FIRST_CALLS + rounds)
            if case.problems:
                return Found([case])
            if variant.name == "rule":
                chosen = seen.chosen if seen else LIBRARY
            else:
                name = LIBRARY if variant is STOCK else variant.name
                times.setdefault(name, []).extend(
                    case.operations["last rank"].seconds[FIRST_CALLS:]
                )
    return _found(case, times, chosen)


def _found(case: Case, times: dict[str, list[float]], chosen: str) -> Found:
    medians = {name: statistics.median(seconds) for name, seconds in times.items()}
    cases = []
    for name in sorted(medians, key=lambda name: medians[name]):
        each = case.model_copy(deep=True)
        each.variant = name + (" (haichi's choice)" if name == chosen else "")
        each.operations = {CALL: Samples(seconds=times[name])}
        cases.append(each)
    if chosen not in medians:  # what the model leaves out is not measured without pruning either
        return Found(cases)
    best = min(medians.values())
    return Found(cases, medians[chosen] / best, medians[LIBRARY] / medians[chosen])


def job(cell: Cell, variant: Variant, calls: int) -> tuple[Case, Collective | None]:
    """A case of one job, and what its report says of the exchange."""
    binary = program_of("exchange", cell.which)
    argv = [binary, cell.function, str(cell.size), str(calls)]
    program = Program(cell.title, cell.which, lambda file: list(argv))
    case, go = cell.plan.make(program, variant, nothing, "exchange")
    go()
    if not variant.haichi or case.problems:
        return case, None
    assert cell.plan.reports is not None
    report = cell.plan.reports / f"exchange-{cell.which.name}-{variant.name}.json"
    try:
        found = load(report).collectives
    except ReportError as error:
        trial.once(case.problems, str(error))
        return case, None
    return case, found[0] if found else None


def nothing(case: Case, file: Path) -> None:
    """There is no file; the program checks its messages."""
