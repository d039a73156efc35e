"""`haichi figures hpio-network`: HPIO over a network that is the bottleneck, haichi against stock.

The figures that the project is to reach (paper 000, section 4.2, scaled to 16 ranks on 4 nodes),
and those of haichi's own settings among each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from haichi import mpi
from haichi.figures import record
from haichi.figures.cases import Plan, limit_of_cut, pattern_trials
from haichi.figures.model import Case, Claim, Measurement
from haichi.figures.patterns import Hpio
from haichi.figures.places import OnLab
from haichi.figures.record import ratio
from haichi.figures.trial import DEFAULT, STOCK, choice

NODES, PER_NODE, COUNT = 4, 4, 1500
PACKED = choice("packed/rank, 4 aggregators", layout="packed", order="rank", aggregators=4)
SPREAD = choice("roundrobin/rank, 4 aggregators", layout="roundrobin", order="rank", aggregators=4)
# The order of issue matters where messages are long: with a large buffer, as in the paper.
WINDOW_RANK = choice(
    "rank, 16 aggregators, W 4",
    layout="roundrobin",
    order="rank",
    aggregators=16,
    window=4,
    buffer="16M",
)
WINDOW_SHIFT = choice(
    "nd_rank_shift, 16 aggregators, W 4",
    layout="roundrobin",
    order="nd_rank_shift",
    aggregators=16,
    window=4,
    buffer="16M",
)
VARIANTS = (STOCK, DEFAULT, PACKED, SPREAD, WINDOW_RANK, WINDOW_SHIFT)


def measure(
    place: OnLab,
    repetitions: int,
    names: Sequence[str],
    yields: str,
    progress: Callable[[str], None],
) -> Measurement:
    """Runs everything; MPIs that are not here raise mpi.Missing."""
    ranks = NODES * PER_NODE
    plan = Plan(place, ranks, yields, reports=place.shared)
    mpis = [mpi.find(name) for name in names]
    trials = pattern_trials(plan, Hpio(ranks, COUNT), mpis, VARIANTS, limit=limit_of_cut)
    environment = record.environment(place, yields)
    return record.measured("hpio-network", trials, repetitions, environment, progress, claims)


# MPI: what its stock default is to be beaten by in writing (Open MPI 4.1.4, MPICH 5.0.2).
GAIN = {"openmpi": 1.67, "mpich5": 1.3}


def claims(cases: Sequence[Case]) -> list[Claim]:
    """What was to be reached, and what was."""
    by = {(c.mpi, c.variant): c for c in cases}
    found = []
    for name in dict.fromkeys(c.mpi for c in cases):
        stock, ours = by.get((name, STOCK.name)), by.get((name, DEFAULT.name))
        packed, spread = by.get((name, PACKED.name)), by.get((name, SPREAD.name))
        first, shift = by.get((name, WINDOW_RANK.name)), by.get((name, WINDOW_SHIFT.name))
        found += [
            Claim(
                what=f"{name}: stock / haichi, write",
                ratio=ratio(stock, ours, "write"),
                wanted=GAIN.get(name, 1.0),
            ),
            Claim(
                what=f"{name}: stock / haichi, read", ratio=ratio(stock, ours, "read"), wanted=1.0
            ),
        ]
        for op in ("write", "read"):
            limit = ours.limit_s if ours else None
            median = ours.median(op) if ours else None
            found.append(
                Claim(
                    what=f"{name}: haichi / wire limit, {op}",
                    direction="at most",
                    wanted=1.3,
                    ratio=median / limit if median and limit else None,
                )
            )
        found += [
            Claim(
                what=f"{name}: packed / round robin, 4 aggregators, write",
                ratio=ratio(packed, spread, "write"),
                wanted=2.0,
            ),
            Claim(
                what=f"{name}: rank order / nd_rank_shift, 4 sends outstanding, write",
                ratio=ratio(first, shift, "write"),
                wanted=1.3,
            ),
        ]
    return found
