"""`haichi figures collectives`: every algorithm for an exchange in one run, interleaved, and
which of them haichi chooses by itself (paper 004, section 4)."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

from haichi import mpi
from haichi.figures import exchange_cell, record
from haichi.figures.cases import Plan
from haichi.figures.exchange_cell import RANKS, Cell, Found
from haichi.figures.model import Claim, Measurement
from haichi.figures.places import OnLab

# Ranks of each node.
SHAPES = {"4x4": (4,) * 4, "8x2": (2,) * 8, "16x1": (1,) * 16, "1+3+5+7": (1, 3, 5, 7)}
MAPPINGS = ("BK", "RR")
FUNCTIONS = (*exchange_cell.BLOCKING, *exchange_cell.NONBLOCKING)
SIZES = (4 << 10, 64 << 10, 256 << 10)
LONGEST_S = 300.0  # of a job: every candidate several times, over 1 s each at 256 KiB
# How near the choice is to be to the best of all, in how many of the cells, and how much slower
# than the library it may ever be.
NEAR, MOST_CELLS, NEVER_SLOWER = 1.05, 0.90, 0.97


def measure(
    places: dict[str, OnLab],
    rounds: int,
    names: Sequence[str],
    mappings: Sequence[str],
    functions: Sequence[str],
    sizes: Sequence[int],
    yields: str,
    progress: Callable[[str], None],
) -> Measurement:
    """Runs every cell, on `places` by the names of their shapes; MPIs that are not here raise
    mpi.Missing."""
    environment = record.environment(next(iter(places.values())), yields)
    cells = [
        Cell(
            Plan(
                replace(place, mapping=mapping, room=SHAPES[shape]),
                RANKS,
                yields,
                reports=place.shared,
                timeout_s=LONGEST_S,
            ),
            mpi.find(name),
            f"{shape} {mapping}",
            function,
            size,
        )
        for name in names
        for shape, place in places.items()
        for mapping in mappings
        if can_be(shape, mapping, name)
        for function in functions
        for size in sizes
    ]
    found = []
    for number, cell in enumerate(cells, 1):
        progress(f"{number}/{len(cells)}  {cell.which.name}: {cell.title}")
        found.append(exchange_cell.run(cell, rounds))
    environment.load_after = record.load()
    return Measurement(
        what="collectives",
        repetitions=rounds,
        environment=environment,
        cases=[case for each in found for case in each.cases],
        claims=claims(found),
    )


def can_be(shape: str, mapping: str, name: str) -> bool:
    """Whether there is such a place, and no other of the same: one rank a node is in blocks, and
    MPICH cannot deal ranks out to unequal nodes."""
    room = SHAPES[shape]
    return mapping == "BK" or (
        max(room) > 1 and (len(set(room)) == 1 or mpi.find(name).family == "openmpi")
    )


def claims(found: Sequence[Found]) -> list[Claim]:
    """What was to be reached, over all cells."""
    best = [each.over_best for each in found if each.over_best is not None]
    library = [each.over_library for each in found if each.over_library is not None]
    near = sum(ratio <= NEAR for ratio in best) / len(best) if best else None
    return [
        Claim(
            what=f"cells in which haichi's choice is within {NEAR} of the best candidate",
            ratio=near,
            wanted=MOST_CELLS,
        ),
        Claim(
            what="library / haichi's choice, worst cell",
            ratio=min(library, default=None),
            wanted=NEVER_SLOWER,
        ),
        Claim(
            what="library / haichi's choice, geometric mean",
            ratio=statistics.geometric_mean(library) if library else None,
            wanted=1.0,
        ),
    ]
