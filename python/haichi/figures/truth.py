"""`haichi figures truth`: ratios between the algorithms of an all-to-all as `haichi figures
collectives` found them in the lab, beside what the simulator says for the same cluster.

The simulated cluster has the nodes, the placement and the rate of the lab, each node with a port of
that rate and nothing between. Where 16 ranks share a few cores, each copies memory at its share of
a core's speed. A message without bytes takes what it takes between two ranks that are alone in the
lab.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from rich.table import Table

from haichi import mpi
from haichi.figures.exchange_cell import CALL, LIBRARY
from haichi.figures.links import bytes_per_second
from haichi.figures.model import Case, Measurement
from haichi.figures.simulated import simulated

NEAR = 0.15
LEAST_BYTES = 64 << 10  # below it the lab measures its cores, not its links
BASE = "spread(nd_rank_shift,0)"  # what the others are divided by
# Ethernet's, IP's and TCP's headers: of 1514 bytes on the wire 1448 are the message's.
PAYLOAD = 1448 / 1514
WORD_NS = 11e3  # half a round trip, Open MPI 4.1.4; with 50e3 the ratios are as good
COPY_GBS = 5.0  # of a whole core, as the simulator has it


@dataclass(frozen=True)
class Cell:
    """The all-to-all of one MPI on one placement."""

    mpi: str
    title: str
    bytes: int
    nodes: int
    per_node: int
    placement: str
    measured: dict[str, float]  # seconds by algorithm

    @property
    def ranks(self) -> int:
        """Of the job."""
        return self.nodes * self.per_node


@dataclass(frozen=True)
class Compared:
    """One algorithm in one cell: its time by that of BASE."""

    cell: Cell
    algorithm: str
    measured: float
    simulated: float

    @property
    def near(self) -> bool:
        """Whether the simulator is right."""
        return abs(self.simulated / self.measured - 1) <= NEAR


def between_any_two(rows: Sequence[Compared]) -> tuple[int, int]:
    """Of the ratios between any two algorithms of one cell, BASE among them: how many the simulator
    is right about, and how many there are. One algorithm that it has wrong spoils its own only."""
    off = [1.0, *(row.simulated / row.measured for row in rows)]
    ratios = [max(pair) / min(pair) for pair in itertools.combinations(off, 2)]
    return sum(ratio <= 1 + NEAR for ratio in ratios), len(ratios)


def read(saved: Path) -> Measurement:
    """What `haichi figures collectives` has saved; raises mpi.Missing if it has not."""
    try:
        found = Measurement.model_validate_json(saved.read_text())
    except (OSError, ValidationError) as error:
        first = str(error).splitlines()[0]
        raise mpi.Missing(f"{saved}: no result of haichi figures collectives: {first}") from None
    if found.what != "collectives":
        raise mpi.Missing(f"{saved} is of haichi figures {found.what}, not of collectives")
    return found


def cells_of(cases: Sequence[Case]) -> list[Cell]:
    """Those of MPI_Alltoall from LEAST_BYTES on in which everything ran."""
    times: dict[tuple[str, str], dict[str, float]] = {}
    for case in cases:
        median = case.median(CALL)
        if median is not None and not case.problems:
            name = case.variant.split(" ")[0]
            times.setdefault((case.mpi, case.program), {})[name] = median
    found = []
    for (name, title), measured in times.items():
        words = re.fullmatch(r"alltoall, (\d+) KiB, (\d+)x(\d+) (BK|RR)", title)
        if words is None or BASE not in measured:
            continue
        size, nodes, per_node = (int(words[i]) for i in (1, 2, 3))
        if size << 10 >= LEAST_BYTES:
            found.append(Cell(name, title, size << 10, nodes, per_node, words[4], measured))
    return found


def gigabytes(place: str) -> float:
    """The rate of a link in 10^9 bytes a second, from the words of Environment.place."""
    words = re.search(r"links of (\d+(?:\.\d+)?[kmg]bit) each way", place)
    if words is None:
        raise mpi.Missing(f"no rate of links in “{place}”")
    return bytes_per_second(words[1]) / 1e9


def machine(gbs: float, cores: int, ranks: int) -> dict[str, float]:
    """The simulated cluster, with links of that rate and so many cores for all ranks."""
    return {
        **dict.fromkeys(("out_gbs", "in_gbs"), gbs * PAYLOAD),
        **dict.fromkeys(("latency_ns", "local_latency_ns"), WORD_NS),
        "copy_gbs": COPY_GBS * min(1, cores / ranks),
    }


def compared(cell: Cell, gbs: float, cores: int) -> list[Compared]:
    """The algorithms of a cell, all but the library's own."""
    names = [name for name in cell.measured if name != LIBRARY]
    words = [
        *("alltoall", "--nodes", str(cell.nodes), "--ppn", str(cell.per_node)),
        *("--placement", cell.placement, "--bytes", str(cell.bytes)),
    ]
    # The slowest rank's: over TCP the messages through a port share it and end together.
    times = simulated(words, machine(gbs, cores, cell.ranks), names)
    return [
        Compared(cell, name, cell.measured[name] / cell.measured[BASE], times[name] / times[BASE])
        for name in names
        if name != BASE
    ]


def table(cell: Cell, rows: Sequence[Compared]) -> Table:
    """For the eye."""
    shown = Table(
        title=f"{cell.mpi}: {cell.title}",
        title_justify="left",
    )
    shown.add_column("algorithm", no_wrap=True)
    for head in (f"measured, × {BASE}", "simulated", "simulated ÷ measured"):
        shown.add_column(head, justify="right")
    for row in rows:
        ratio = f"{row.simulated / row.measured:.2f}"
        shown.add_row(
            row.algorithm,
            f"{row.measured:.2f}",
            f"{row.simulated:.2f}",
            f"[green]{ratio}[/green]" if row.near else f"[yellow]{ratio}[/yellow]",
        )
    return shown
