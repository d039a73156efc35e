"""`haichi figures numa-small`: what small calls cost with libhaichi-posix in front of them, beside
the C library's own in the same process."""

from __future__ import annotations

import os
import platform
import random
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypedDict

import numpy as np
import typer
from haichi_processes import runner
from numpy.typing import NDArray
from rich.table import Table

from haichi import paths
from haichi.figures import record
from haichi.figures.command import keep, one_line, progress_on_errors
from haichi.mpi import Missing

# What stands in front; without anything both functions are the same, which shows the noise.
WAYS: dict[str, dict[str, str] | None] = {
    "nothing": None,
    "io.split=off": {"HAICHI_IO_SPLIT": "off"},
    "io.split=on": {"HAICHI_IO_SPLIT": "on"},
}
LIMIT_NS = 10.0
PAGE = 4096


class Row(TypedDict):
    """One function behind one way. Nanoseconds a call: the C library's own in the median, and how
    much more the other took, of each start the median of its blocks."""

    function: str
    way: str
    stock_ns: float
    more_ns: list[float]


def blocks(file: Path, count: int, way: Mapping[str, str] | None) -> dict[str, NDArray[np.float64]]:
    """Of one start: nanoseconds a call of each function's blocks, stock and as it is found.

    Raises:
        Missing: the program or the preload is not built, or it failed.
    """
    program, preload = paths.program("small-calls"), paths.build() / "lib" / "libhaichi-posix.so"
    for each in (program, preload):
        if not each.exists():
            raise Missing(f"no {each}: ./haichi build")
    own = {key: value for key, value in os.environ.items() if not key.startswith("HAICHI_")}
    if way is not None:
        own |= {"LD_PRELOAD": str(preload), **way}
    done = runner.run([program, file, str(count)], env=own, timeout=600)
    if done.code:
        raise Missing(f"{program}: {done.how}: {done.err.strip()}")
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for line in done.out.splitlines():
        name, stock, found = line.split()
        pairs[name].append((float(stock), float(found)))
    return {name: np.array(each) for name, each in pairs.items()}


def measure(starts: int, count: int) -> list[Row]:
    """All ways once in each round of starts, in an order drawn anew."""
    draw = random.Random(25)
    stock: dict[tuple[str, str], list[float]] = defaultdict(list)
    more: dict[tuple[str, str], list[float]] = defaultdict(list)
    say = progress_on_errors()
    with tempfile.NamedTemporaryFile(prefix="haichi-small-") as file:
        file.write(bytes(PAGE))
        file.flush()
        for start in range(starts):
            say(f"start {start + 1} of {starts}")
            for way in draw.sample(list(WAYS), len(WAYS)):
                for name, pairs in blocks(Path(file.name), count, WAYS[way]).items():
                    stock[name, way].append(float(np.median(pairs[:, 0])))
                    # Of pairs: what disturbs the machine lasts longer than one block.
                    more[name, way].append(float(np.median(pairs[:, 1] - pairs[:, 0])))
    return [
        {
            "function": name,
            "way": way,
            "stock_ns": statistics.median(stock[name, way]),
            "more_ns": more[name, way],
        }
        for name, way in stock
    ]


def command(
    starts: Annotated[int, typer.Option(min=1, help="Of the program, each way.")] = 7,
    count: Annotated[
        int, typer.Option("--blocks", min=10, help="Of 500 calls, in each start.")
    ] = 400,
    out: Annotated[
        Path | None, typer.Option(help="The JSON file to write (haichi.numa-small/1).")
    ] = None,
) -> None:
    """Time small reads and writes with the preload in front, beside the C library's own."""
    before = record.load()
    with one_line():
        rows = measure(starts, count)
    _show(rows)
    keep(
        {
            "schema": "haichi.numa-small/1",
            "blocks": count,
            "kernel": platform.release(),
            "load": [before, record.load()],
            "rows": rows,
        },
        out,
        "numa-small",
    )


def _show(rows: list[Row]) -> None:
    table = Table("call", "ns by itself", *(f"more: {way}" for way in WAYS))
    by_name = {(row["function"], row["way"]): row for row in rows}
    for name in dict.fromkeys(row["function"] for row in rows):
        cells = []
        for way in WAYS:
            more = by_name[name, way]["more_ns"]
            cells.append(f"{statistics.median(more):+.1f} ({min(more):+.1f} to {max(more):+.1f})")
        table.add_row(name, f"{by_name[name, 'nothing']['stock_ns']:.0f}", *cells)
    console = record.console()
    console.print(table)
    most = max(statistics.median(row["more_ns"]) for row in rows if row["way"] != "nothing")
    verdict = "within" if most < LIMIT_NS else "OVER"
    console.print(f"most: {most:+.1f} ns, {verdict} the {LIMIT_NS:g} ns allowed", markup=False)
