"""`haichi figures tuned-io`: whether order and window by trial (`io.tune`) are worth it: HPIO on 4
nodes, as set by default, with every pair that is tried fixed, and by what trials decided.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from haichi import mpi
from haichi.figures import record, trial
from haichi.figures.cases import Plan, pattern_trials, scratch
from haichi.figures.model import Case, Claim, Measurement
from haichi.figures.patterns import Hpio
from haichi.figures.places import OnLab
from haichi.figures.record import ratio
from haichi.figures.trial import DEFAULT, Trial, Variant

NODES, PER_NODE, COUNT = 4, 4, 400
MAPPINGS = ("BK", "RR")
# Of a job: a first access that makes connections, and some more.
CALLS = 5
# Trials of all pairs, and accesses by the choice.
TRIAL_CALLS = 40
TUNED, TRIALS = "tuned", "trials"
# What src/plan/order_window.cpp has to try, and the order of stock ROMIO.
PAIRS = (
    ("pairwise", 32),
    ("nd_rank_shift", 0),
    ("pairwise", 0),
    ("nd_rank_shift", 4),
    ("pairwise", 4),
    ("rank", 32),
)
OPERATIONS = ("write", "read")


@dataclass(frozen=True)
class Exchange:
    """Settings that say how many messages there are, and of what size."""

    name: str
    settings: dict[str, str]


EXCHANGES = (
    Exchange("4 aggregators", {}),
    Exchange("16 aggregators", {"HAICHI_IO_AGGREGATORS": "16"}),
    Exchange("4 aggregators, 4 MiB", {"HAICHI_IO_BUFFER": "4M"}),
    Exchange("16 aggregators, 4 MiB", {"HAICHI_IO_AGGREGATORS": "16", "HAICHI_IO_BUFFER": "4M"}),
)


def variants(exchange: Exchange, decisions: Path) -> list[Variant]:
    """As set, by what trials decided, and every pair fixed."""
    own = exchange.settings
    kept = {"HAICHI_IO_TUNE": "on", "HAICHI_COLLECTIVES_DECISIONS": str(decisions)}
    fixed = [
        Variant(
            f"{order},{window}",
            True,
            {**own, "HAICHI_IO_ORDER": order, "HAICHI_IO_WINDOW": str(window)},
        )
        for order, window in PAIRS
    ]
    return [replace(DEFAULT, settings=own), Variant(TUNED, True, {**own, **kept}), *fixed]


def measure(
    place: OnLab,
    repetitions: int,
    names: Sequence[str],
    mappings: Sequence[str],
    exchanges: Sequence[Exchange],
    yields: str,
    progress: Callable[[str], None],
) -> Measurement:
    """Runs the trials of every cell, and then all variants in turns; MPIs that are not here raise
    mpi.Missing."""
    environment = record.environment(place, yields)
    ranks = NODES * PER_NODE
    cases: list[Case] = []
    found: list[Claim] = []
    with scratch(place) as folder:
        for number, (name, mapping, exchange) in enumerate(
            (name, mapping, exchange)
            for name in names
            for mapping in mappings
            for exchange in exchanges
        ):
            decisions = Path(folder) / str(number)
            decisions.mkdir(mode=0o777)
            plan = Plan(replace(place, mapping=mapping), ranks, yields, place.shared)
            title = f"HPIO, {mapping}, {exchange.name}"
            own = cell(plan, mpi.find(name), title, exchange, decisions, repetitions, progress)
            cases += own
            found += claims(title, own)
    environment.load_after = record.load()
    return Measurement(
        what="tuned-io",
        repetitions=repetitions,
        environment=environment,
        cases=cases,
        claims=found,
    )


def cell(
    plan: Plan,
    which: mpi.Mpi,
    title: str,
    exchange: Exchange,
    decisions: Path,
    repetitions: int,
    progress: Callable[[str], None],
) -> list[Case]:
    """The cases of one MPI, mapping and exchange: one job that tries, then the others in turns."""
    all_variants = variants(exchange, decisions)
    trying = replace(all_variants[1], name=TRIALS)

    def trials_of(wanted: Sequence[Variant], calls: int) -> list[Trial]:
        pattern = Hpio(plan.ranks, COUNT)
        more = ["--repetitions", str(calls)]
        return pattern_trials(plan, pattern, [which], wanted, title=title, more=more)

    first = trials_of([trying], TRIAL_CALLS)
    others = trials_of(all_variants, CALLS)
    trial.interleaved(first, 1, progress)
    trial.interleaved(others, repetitions, progress)
    return [case for case, _ in [others[0], *first, *others[1:]]]


def claims(title: str, cases: Sequence[Case]) -> list[Claim]:
    """How much faster the choice is than what is set, how far it is from the best fixed pair, and
    what the accesses of the job that tried cost beside those of one that did not."""
    by = {case.variant: case for case in cases}
    usual, tuned, trying = by[DEFAULT.name], by[TUNED], by[TRIALS]
    fixed = [usual, *(case for case in cases if case.variant not in (DEFAULT.name, TUNED, TRIALS))]
    found = []
    for op in OPERATIONS:
        best = min(fixed, key=lambda case: case.median(op) or float("inf"))
        with_trials, without = _mean(trying, op), _mean(usual, op)
        where = f"{usual.mpi}: {title}, {op}"
        found += [
            Claim(what=f"{where}: as set / tuned", ratio=ratio(usual, tuned, op), wanted=0.97),
            Claim(
                what=f"{where}: best fixed ({best.variant}) / tuned",
                ratio=ratio(best, tuned, op),
                wanted=0.95,
            ),
            Claim(
                what=f"{where}: {TRIAL_CALLS} accesses with the trials / as set, mean",
                ratio=with_trials / without if with_trials and without else None,
                wanted=1.05,
                direction="at most",
            ),
        ]
    return found


def _mean(case: Case, op: str) -> float | None:
    samples = case.operations.get(op)
    return statistics.fmean(samples.seconds) if samples and samples.seconds else None
