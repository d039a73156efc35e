"""`haichi figures one-node`: ranks that share a machine and its memory, haichi against both stock
libraries and against the limit, the same bytes of each rank in one contiguous pwrite or pread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from haichi import mpi
from haichi.figures import comparison, record
from haichi.figures.cases import Plan, pattern_trials
from haichi.figures.comparison import Row
from haichi.figures.model import Claim, Measurement
from haichi.figures.patterns import Block3d, Contiguous, Hpio, Pattern, cells, grid_3d
from haichi.figures.places import OnMachine
from haichi.figures.trial import DEFAULT, LIMIT, STOCK, Trial

ACCESSES = 3  # writes, and reads, per start of the program
RANKS = (4, 2)
PATTERNS: dict[str, Callable[[int], Pattern]] = {
    "segments": lambda ranks: Hpio(ranks, 512, 8192, 0, memory="contiguous"),
    "hpio": lambda ranks: Hpio(ranks, 1500),
    "cells": lambda ranks: cells(ranks, (128, 64, 64)),
    "cyclic": lambda ranks: Hpio(ranks, 65536, 64, 0, memory="contiguous"),
    "ghost": lambda ranks: Block3d((192, 192, 192), grid_3d(ranks)),
    "contiguous": lambda ranks: Contiguous(ranks, 16 << 20),
}
# Geometric mean of better stock / haichi, by ranks.
GAIN = {4: 3.0, 2: 1.5}
NEVER_SLOWER = 0.95
LARGE = 1024  # bytes of a piece
ABOVE_LIMIT, ABOVE_LIMIT_SMALL = 2.5, 5.0


def measure(
    place: OnMachine,
    repetitions: int,
    names: Sequence[str],
    ranks: Sequence[int],
    only: Sequence[str],
    yields: str,
    accesses: int,
    progress: Callable[[str], None],
) -> Measurement:
    """Runs the patterns named; MPIs that are not here raise mpi.Missing."""
    mpis = [mpi.find(name) for name in names]
    environment = record.environment(place, yields)
    inside = ("--repetitions", str(accesses))
    trials: list[Trial] = []
    small = []
    for number in ranks:
        plan = Plan(place, number, yields, reports=place.shared)
        for name in only:
            pattern = PATTERNS[name](number)
            title = f"{name}: {pattern}"
            trials += pattern_trials(
                plan, pattern, mpis, (STOCK, DEFAULT, LIMIT), title=title, more=inside
            )
            if pattern.piece < LARGE:
                small.append(title)
    return record.measured(
        "one-node",
        trials,
        repetitions,
        environment,
        progress,
        lambda cases: claims(comparison.rows(cases), small),
    )


def claims(rows: Sequence[Row], small: Sequence[str]) -> list[Claim]:
    """What was to be reached, and what was; `small` are the programs whose pieces are small."""
    found = []
    for ranks in dict.fromkeys(row.ranks for row in rows):
        ours = [row for row in rows if row.ranks == ranks]
        found.append(
            Claim(
                what=f"{ranks} ranks: better stock / haichi, geometric mean of {len(ours)} cases",
                ratio=comparison.geometric_mean(ours),
                wanted=GAIN.get(ranks, 1.0),
            )
        )
    found.append(comparison.worst("own stock / haichi", rows, "against_own", NEVER_SLOWER))
    for what, wanted, chosen in (
        ("pieces of 1 KiB and more", ABOVE_LIMIT, [r for r in rows if r.program not in small]),
        ("smaller pieces", ABOVE_LIMIT_SMALL, [r for r in rows if r.program in small]),
    ):
        what = f"haichi / limit, {what}"
        found.append(comparison.worst(what, chosen, "above_limit", wanted, "at most"))
    return found
