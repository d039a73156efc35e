"""`haichi figures scale`: what MPI libraries' own rules for an MPI_Alltoall take against haichi's
choice, simulated at sizes that no test machine has.

bin/scale-study simulates both. haichi's choice is what its trials end with where nothing disturbs
them: the fastest of the candidates that the model keeps, but the library's own unless that takes
less than 0.97 of its time (src/collectives/selection.h). What the trials cost is not in it; `haichi
figures regret` is about that.
"""

from __future__ import annotations

import itertools
import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypedDict

from rich.table import Table

from haichi import programs
from haichi.figures.pruning import Stock

SCHEMA = "haichi.scale/1"
RANKS = (96, 384, 1024)  # those that take minutes; 4096 take an hour
NETWORKS = ("crossbar", "fat tree 2:1", "3-D torus", "6-D torus")
WORTH = 0.97  # src/collectives/selection.h


class Candidate(TypedDict):
    """A candidate of haichi's and its seconds."""

    candidate: str
    simulated: float
    model: float


class Cell(TypedDict):
    """A job and a size of blocks, as bin/scale-study prints it."""

    network: str
    machine: str
    nodes: int
    ranks: int
    bytes: int
    candidates: list[Candidate]
    stock: dict[str, Stock]


@dataclass(frozen=True)
class Choice:
    """One library on one job and size."""

    library: str
    network: str
    ranks: int
    bytes: int
    default: str  # the library's algorithm
    chosen: str
    ratio: float  # the library's time by that of the choice


def simulated(
    program: Path,
    ranks: Sequence[int],
    sizes: Sequence[int | None],
    networks: Sequence[str | None],
    progress: Callable[[str], None],
) -> list[Cell]:
    """The cells; None is all sizes or networks. Raises mpi.Missing if the program is not built or
    fails."""
    cells: list[Cell] = []

    def take(line: str) -> None:
        cell: Cell = json.loads(line)
        progress(f"{cell['ranks']} ranks, {cell['network']}, {cell['bytes']} bytes")
        cells.append(cell)

    for number, size, network in itertools.product(ranks, sizes, networks):
        words = ["--ranks", str(number)]
        words += ["--bytes", str(size)] if size else []
        words += ["--network", network] if network else []
        programs.output(program, *words, timeout=None, take=take)
    return cells


def choices(cells: Sequence[Cell]) -> list[Choice]:
    """What haichi chooses in each cell under each library."""
    found = []
    for cell in cells:
        best = min(cell["candidates"], key=lambda row: row["simulated"])
        for library, own in cell["stock"].items():
            faster = best["simulated"] <= WORTH * own["simulated"]
            found.append(
                Choice(
                    library=library,
                    network=cell["network"],
                    ranks=cell["ranks"],
                    bytes=cell["bytes"],
                    default=own["algorithm"],
                    chosen=best["candidate"] if faster else "library",
                    ratio=own["simulated"] / best["simulated"] if faster else 1.0,
                )
            )
    return found


def table(found: Sequence[Choice]) -> Table:
    """For the eye: a row for each library, number of ranks and network, a column for each size."""
    sizes = sorted({each.bytes for each in found})
    shown = Table()
    for head in ("library", "ranks", "network"):
        shown.add_column(head, no_wrap=True)
    for size in sizes:
        shown.add_column(size_text(size), justify="right")
    rows: dict[tuple[str, int, str], dict[int, Choice]] = {}
    for each in found:
        rows.setdefault((each.library, each.ranks, each.network), {})[each.bytes] = each
    for (library, ranks, network), cells in sorted(rows.items(), key=lambda row: row[0][:2]):
        shown.add_row(
            library,
            str(ranks),
            network,
            *(
                f"{cells[size].ratio:.2f} {cells[size].chosen.split('(')[0]}"
                if size in cells
                else ""
                for size in sizes
            ),
        )
    return shown


def size_text(size: int) -> str:
    """Bytes, with a unit where that is shorter."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size // factor} {unit}"
    return f"{size} B"


class Summary(TypedDict):
    """The library's time by the choice's, over all cells."""

    library: str
    cells: int
    mean: float  # geometric
    least: float
    most: float


def summary(found: Sequence[Choice]) -> list[Summary]:
    """By library: the geometric mean and the extremes of the library's time by the choice's."""
    return [
        {
            "library": library,
            "cells": len(ratios),
            "mean": statistics.geometric_mean(ratios),
            "least": min(ratios),
            "most": max(ratios),
        }
        for library in dict.fromkeys(each.library for each in found)
        if (ratios := [each.ratio for each in found if each.library == library])
    ]


def document(cells: Sequence[Cell], found: Sequence[Choice]) -> dict[str, object]:
    """Everything, figures first (haichi.scale/1)."""
    return {
        "schema": SCHEMA,
        "summary": summary(found),
        "choices": [asdict(each) for each in found],
        "cells": cells,
    }
