"""`haichi figures paper-004`: what each algorithm takes by the size of a block on the three shapes
of paper 004, Figs. 2 to 4, simulated.

The paper prints neither the latency nor the bandwidth of its machine. A link has the 5 GB/s of a
Tofu, less what a message loses of it, a node four of them. A rank's work is the simulator's
default; it looks through its queues at 30 ns an entry, which is assumed: without that Simple Spread
is nearly as good as Bruck where messages are small, which the paper does not find.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from haichi.figures import record
from haichi.figures.command import keep, one_line, progress_on_errors
from haichi.figures.simulated import simulated

SCHEMA = "haichi.paper-004/1"
SHAPES = {"4x3x2": 24, "8x3x1": 24, "4x3x4": 48}  # nodes, one rank on each
# The paper's names, and ours.
ALGORITHMS = {
    "Bruck": "bruck(2)",
    "Ring": "ring",
    "Ring LB": "ring_light_barrier",
    "Ring MB": "ring_mpi_barrier",
    "Ring OB": "ring_one_barrier",
    "Simple": "spread(rank,0)",
}
BYTES = [8, 64, 512, 4096, 32768, 262144]
MACHINE = {"link_gbs": 4.7, "out_gbs": 18.8, "in_gbs": 18.8}


def command(
    search_ns: Annotated[
        float, typer.Option("--search-ns", min=0, help="Of each entry of a queue.")
    ] = 30,
    out: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
) -> None:
    """Times of the six algorithms by size on the three shapes of paper 004, Figs. 2 to 4."""
    with one_line():
        found = measure(search_ns, BYTES, progress_on_errors())
    console = record.console()
    for shape, times in found.items():
        console.print(table(shape, times))
    keep({"schema": SCHEMA, "search_ns": search_ns, "seconds": found}, out, "paper-004")


def measure(
    search_ns: float, sizes: Sequence[int], progress: Callable[[str], None]
) -> dict[str, dict[str, dict[str, float]]]:
    """Seconds of the slowest rank, by shape, size and the paper's name of the algorithm."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for shape, nodes in SHAPES.items():
        for size in sizes:
            progress(f"{shape}, {size} B")
            words = ["alltoall", "--nodes", str(nodes), "--bytes", str(size)]
            words += ["--set", f"network=mesh:{shape}"]
            machine = {**MACHINE, "search_ns": search_ns}
            times = simulated(words, machine, ALGORITHMS.values())
            found.setdefault(shape, {})[str(size)] = {
                name: times[algorithm] for name, algorithm in ALGORITHMS.items()
            }
    return found


def table(shape: str, times: dict[str, dict[str, float]]) -> Table:
    """Microseconds; the best of a size is green."""
    made = Table(title=f"{shape}, microseconds", title_justify="left")
    made.add_column("bytes", justify="right")
    for name in ALGORITHMS:
        made.add_column(name, justify="right")
    for size, row in times.items():
        best = min(row.values())
        made.add_row(
            size,
            *(
                f"[green]{1e6 * each:.1f}[/green]" if each == best else f"{1e6 * each:.1f}"
                for each in row.values()
            ),
        )
    return made
