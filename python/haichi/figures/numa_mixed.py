"""`haichi figures numa-mixed`: files of which parts, drawn at random, are in memory, read by
haichi.io and by one plain call in turns. Such a read is never to be slower than the plain one."""

from __future__ import annotations

import gc
import os
import platform
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table

from haichi import io
from haichi.figures import record
from haichi.figures.command import keep, one_line, progress_on_errors
from haichi.figures.numa_load import MIB, plainly, temporary
from haichi.figures.page_cache import keep_in_memory
from haichi.io import files
from haichi.units import size_of

PAGE = 4096
MOST_EXTENTS = 256
OWN, PLAIN, AGAIN = "haichi.io", "one read(2)", "one read(2) again"
READS: dict[str, Callable[[Path], object]] = {
    OWN: files.read_now,  # in this thread, whose io.last() it is
    PLAIN: plainly,
    AGAIN: plainly,  # what two equal ways differ by on this machine
}


@dataclass
class Layout:
    """Which extents of a file are in memory, and what reading it took."""

    cached: list[tuple[int, int]]
    """Begin and end in bytes, ascending."""
    share: float
    extents: int
    seconds: dict[str, list[float]] = field(default_factory=lambda: {who: [] for who in READS})
    from_storage: dict[str, list[int]] = field(default_factory=lambda: {who: [] for who in READS})
    why: list[str] = field(default_factory=list)

    def ratio(self, over: str) -> float:
        """The plain call's time over another's, of the least: other work on the machine, and on
        its disk, only adds to them."""
        return min(self.seconds[PLAIN]) / min(self.seconds[over])


def draw(random_: random.Random, size: int) -> Layout:
    """Up to MOST_EXTENTS extents of any lengths, each in memory with a probability drawn first."""
    wanted = random_.random()
    parts = round(2 ** random_.uniform(0, np.log2(MOST_EXTENTS)))
    inner = sorted(random_.randrange(size // PAGE) * PAGE for _ in range(parts - 1))
    borders = [0, *inner, size]
    extents = [
        pair for pair in zip(borders, borders[1:], strict=False) if random_.random() < wanted
    ]
    return Layout(extents, sum(end - begin for begin, end in extents) / size, parts)


def stored_bytes() -> int:
    """What storage has given this process so far."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("read_bytes")))


def measure(path: Path, layout: Layout, random_: random.Random, rounds: int) -> None:
    """Each way once a round, in an order drawn anew."""
    for _ in range(rounds):
        for who in random_.sample(list(READS), len(READS)):
            with path.open("rb") as opened:
                keep_in_memory(opened.fileno(), layout.cached)
            gc.collect()
            given, begin = stored_bytes(), time.perf_counter()
            got = READS[who](path)
            layout.seconds[who].append(time.perf_counter() - begin)
            layout.from_storage[who].append(stored_bytes() - given)
            if who == OWN:
                layout.why.append(io.last().why)
            del got


def command(
    folder: Annotated[
        Path | None, typer.Option(help="On a disk; the file is made there. $TMPDIR else.")
    ] = None,
    size: Annotated[str, typer.Option(help="Bytes of the file.")] = "128m",
    layouts: Annotated[int, typer.Option(min=1, help="How many are drawn.")] = 20,
    rounds: Annotated[int, typer.Option(min=1, help="Of each way and layout, in turns.")] = 9,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 25,
    out: Annotated[
        Path | None, typer.Option(help="The JSON file to write (haichi.numa-mixed/1).")
    ] = None,
) -> None:
    """Read a file of which parts, drawn at random, are in memory, by haichi.io and plainly."""
    say = progress_on_errors()
    random_ = random.Random(seed)
    with one_line():
        bytes_ = size_of(size)
        before = record.load()
        with temporary(folder or Path(tempfile.gettempdir()), 2 * bytes_) as into:
            path = into / "file"
            with path.open("wb") as opened:
                for _ in range(bytes_ // MIB):
                    opened.write(random_.randbytes(MIB))
                os.fsync(opened.fileno())
            drawn = [draw(random_, path.stat().st_size) for _ in range(layouts)]
            for number, layout in enumerate(drawn):
                say(f"layout {number + 1} of {layouts}: {layout.share:.0%} cached")
                measure(path, layout, random_, rounds)
    _show(drawn)
    keep(
        {
            "schema": "haichi.numa-mixed/1",
            "bytes": bytes_,
            "seed": seed,
            "cores": len(os.sched_getaffinity(0)),
            "kernel": platform.release(),
            "load": [before, record.load()],
            "layouts": [asdict(layout) for layout in drawn],
        },
        out,
        "numa-mixed",
    )


def _quartiles(values: list[float]) -> str:
    low, middle, high = np.percentile(values, [25, 50, 75])
    return f"{middle:.2f} ({low:.2f} to {high:.2f}), least {min(values):.2f}"


def _show(drawn: list[Layout]) -> None:
    table = Table("cached", "extents", "plain / haichi", "plain / plain", "from storage", "what")
    for layout in sorted(drawn, key=lambda each: each.share):
        extra = statistics.median(layout.from_storage[OWN]) - statistics.median(
            layout.from_storage[PLAIN]
        )
        table.add_row(
            f"{layout.share:.0%}",
            str(layout.extents),
            f"{layout.ratio(OWN):.2f}",
            f"{layout.ratio(AGAIN):.2f}",
            f"{extra / MIB:+.1f} MiB",
            statistics.mode(layout.why),
        )
    console = record.console()
    console.print(table)
    for name, over in (("haichi.io", OWN), ("the plain call once more", AGAIN)):
        ratios = [layout.ratio(over) for layout in drawn]
        console.print(
            f"plain call's time over that of {name}: median {_quartiles(ratios)}", markup=False
        )
