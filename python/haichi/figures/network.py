"""`haichi figures network`: patterns over networks that are the bottleneck, haichi against both
stock libraries and against what the links need for the bytes that must cross them (links.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from haichi import mpi
from haichi.figures import comparison, record
from haichi.figures.cases import Plan, limit_of_best, pattern_trials
from haichi.figures.comparison import Row
from haichi.figures.model import Claim, Measurement
from haichi.figures.patterns import Block3d, Contiguous, Hpio, Pattern, cells, grid_3d
from haichi.figures.places import OnLab
from haichi.figures.trial import DEFAULT, STOCK, Trial

RANKS = 16
NODES = (4, 8)
MAPPINGS = ("BK", "RR")
# As much data that the wire, not the start of a transfer, takes the time.
PATTERNS: dict[str, Pattern] = {
    "hpio": Hpio(RANKS, 1500),
    "cells": cells(RANKS, (128, 128, 128)),
    "ghost": Block3d((192, 192, 192), grid_3d(RANKS)),
    "contiguous": Contiguous(RANKS, 4 << 20),
}
# Per start of the program. Where no byte crosses the wire an access takes some milliseconds, and
# one says little; stock Open MPI's do cross it, and take seconds.
INSIDE = ("--repetitions", "10", "--seconds", "1")
ABOVE_LIMIT = 1.15
NEVER_SLOWER = 1.0


def measure(
    places: Sequence[OnLab],
    repetitions: int,
    names: Sequence[str],
    mappings: Sequence[str],
    only: Sequence[str],
    yields: str,
    progress: Callable[[str], None],
) -> Measurement:
    """Runs the patterns named on every lab with every mapping; MPIs that are not here raise
    mpi.Missing."""
    mpis = [mpi.find(name) for name in names]
    environment = record.environment(places[0], yields)
    environment.place = "; ".join(place.description for place in places)
    trials: list[Trial] = []
    for lab in places:
        for mapping in mappings:
            place = replace(lab, mapping=mapping)
            plan = Plan(place, RANKS, yields, reports=place.shared)
            nodes = len(lab.lab.nodes)
            for name in only:
                pattern = PATTERNS[name]
                title = f"{nodes}x{RANKS // nodes} {mapping}, {name}: {pattern}"
                trials += pattern_trials(
                    plan,
                    pattern,
                    mpis,
                    (STOCK, DEFAULT),
                    title=title,
                    more=INSIDE,
                    limit=limit_of_best,
                )
    return record.measured(
        "network",
        trials,
        repetitions,
        environment,
        progress,
        lambda cases: claims(comparison.rows(cases)),
    )


def claims(rows: Sequence[Row]) -> list[Claim]:
    """What was to be reached, and what was. Where nothing has to cross there is no limit."""
    return [
        comparison.worst("haichi / wire limit", rows, "above_limit", ABOVE_LIMIT, "at most"),
        comparison.worst("own stock / haichi", rows, "against_own", NEVER_SLOWER),
        comparison.worst("better stock / haichi", rows, "against_better", NEVER_SLOWER),
    ]
