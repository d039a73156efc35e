"""`haichi gasfs picture`: requests before and after as a picture, file offset by time, as one page
that fetches nothing."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from haichi.gasfs.daemons import GasfsError
from haichi.gasfs.job import Job
from haichi.gasfs.trace import ADVICE, NodeTrace, Records, busiest, reasons
from haichi.report.markup import Markup, document, table, tag
from haichi.units import format_bytes, format_seconds, plural

FILES = 8  # of one page
COLUMNS, ROWS, CELL = 120, 60, 4  # of a picture, in points
LEFT, TOP = 70, 22
NODES = 6  # that have a colour of their own; the others share them
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")  # Tol's bright


def draw(job: Job, files: Sequence[Path], out: Path) -> int:
    """Writes the page; of how many files.

    Raises:
        GasfsError: nothing was traced, or a file can't be read or written.
    """
    traces = [NodeTrace.read(path) for path in sorted((job.folder / "run").glob("*.trace"))]
    if not traces:
        raise GasfsError(f"nothing of {job.folder} is traced: start or mount it with --trace")
    try:
        names = {path.stat().st_ino: str(path) for path in files}
    except OSError as error:
        raise GasfsError(f"cannot look at {error.filename}: {error.strerror}") from None
    shown = list(names) or busiest(traces, FILES)
    if not shown:
        raise GasfsError("nothing was written while it was traced")
    parts = [
        _of_file(traces, inode, names.get(inode, f"file {inode}"), job.description.stripe)
        for inode in shown
    ]
    style = resources.files("haichi.report").joinpath("page.css").read_text("utf-8")
    title = f"haichi gasfs: {job.folder}"
    page = document(title, traces[0].by, style, tag("h1", title), *parts)
    try:
        out.write_text(page, encoding="utf-8")
    except OSError as error:
        raise GasfsError(f"cannot write {out}: {error.strerror}") from None
    return len(parts)


def _of_file(traces: Sequence[NodeTrace], inode: int, name: str, stripe: int) -> Markup:
    own = [trace.of_file(inode) for trace in traces]
    own = [trace for trace in own if len(trace.requests) or len(trace.sent)]
    before, after = [trace.requests for trace in own], [trace.sent for trace in own]
    window = _Window.around([*before, *after])
    counts = [sum(map(len, each)) for each in (before, after)]
    why = {reason: count for reason, count in reasons(own, stripe).items() if count}
    rows = [
        [f"{count:,}", reason, ADVICE.get(reason, "")]
        for reason, count in sorted(why.items(), key=lambda each: -each[1])
    ]
    merged = f", {counts[0] / counts[1]:.1f} : 1" if counts[1] else ""
    return tag(
        "section",
        tag("h2", name),
        tag(
            "p",
            f"{counts[0]:,} requests of {plural(len(own), 'node')} went to the servers as "
            f"{counts[1]:,}{merged}.",
        ),
        tag(
            "figure",
            window.draw("as programs asked", before),
            window.draw("as it went to the servers", after),
            tag("figcaption", *_legend([trace.node for trace in own])),
        ),
        tag("h3", "Why requests end where they do") if rows else None,
        table(["#requests", "because", "what helps"], rows) if rows else None,
    )


def _legend(nodes: Sequence[str]) -> list[Markup]:
    return [
        tag("span", f"■ {node.removeprefix('dispatcher-')} ", style=f"color:{COLOURS[i % NODES]}")
        for i, node in enumerate(nodes)
    ]


class _Window:
    """Times and offsets of a picture, and the cell in which each is."""

    def __init__(self, begin: int, end: int, low: int, high: int) -> None:
        self.begin, self.low = begin, low
        self.time_step = max(1, -(-(end - begin + 1) // COLUMNS))
        self.offset_step = max(1, -(-(high - low) // ROWS))

    @classmethod
    def around(cls, all_records: Sequence[Records]) -> _Window:
        """All that is in them."""
        some = [records for records in all_records if len(records)]
        if not some:
            return cls(0, 0, 0, 1)
        return cls(
            min(int(records["time"].min()) for records in some),
            max(int(records["time"].max()) for records in some),
            min(int(records["offset"].min()) for records in some),
            max(int((records["offset"] + records["length"]).max()) for records in some),
        )

    def cells(self, records: Records) -> NDArray[np.bool_]:
        """Which cells have something of them: [column, row]."""
        grid = np.zeros((COLUMNS, ROWS + 1), dtype=np.int64)
        column = np.minimum((records["time"] - self.begin) // self.time_step, COLUMNS - 1)
        offset = records["offset"].astype(np.int64) - self.low
        first = np.minimum(offset // self.offset_step, ROWS - 1)
        behind = offset + np.maximum(records["length"].astype(np.int64), 1) - 1
        last = np.minimum(behind // self.offset_step, ROWS - 1)
        np.add.at(grid, (column, first), 1)
        np.add.at(grid, (column, last + 1), -1)
        return np.cumsum(grid, axis=1)[:, :ROWS] > 0

    def draw(self, title: str, nodes: Sequence[Records]) -> Markup:
        """One picture; of each node a colour, the last on top."""
        parts = [tag("text", title, x=LEFT, y=14)]
        for i, records in enumerate(nodes):
            filled = self.cells(records)
            for column in range(COLUMNS):
                for row, rows in _runs(filled[column]):
                    parts.append(
                        tag(
                            "rect",
                            x=LEFT + column * CELL,
                            y=TOP + row * CELL,
                            width=CELL,
                            height=rows * CELL,
                            fill=COLOURS[i % NODES],
                        )
                    )
        wide, high = COLUMNS * CELL, ROWS * CELL
        frame = tag(
            "rect", x=LEFT, y=TOP, width=wide, height=high, fill="none", stroke="currentColor"
        )
        bytes_at = ((0, self.low), (1, self.low + self.offset_step * ROWS))
        scale = [
            tag(
                "text",
                format_bytes(at),
                x=LEFT - 4,
                y=TOP + 8 + end * (high - 8),
                text_anchor="end",
            )
            for end, at in bytes_at
        ]
        seconds = format_seconds(self.time_step * COLUMNS / 1e9)
        scale.append(tag("text", "0", x=LEFT, y=TOP + high + 14))
        scale.append(tag("text", seconds, x=LEFT + wide, y=TOP + high + 14, text_anchor="end"))
        return tag(
            "svg",
            tag("title", f"{title}: offset in the file from top to bottom, time to the right"),
            *parts,
            frame,
            *scale,
            viewBox=f"0 0 {LEFT + wide + 8} {TOP + high + 20}",
            style=f"max-width:{LEFT + wide + 8}px;font-size:11px;fill:currentColor",
            role="img",
        )


def _runs(filled: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where cells that are filled begin, and how many follow on each other."""
    edges = np.diff(np.concatenate(([0], filled.astype(np.int8), [0])))
    begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return [(int(begin), int(end - begin)) for begin, end in zip(begins, ends, strict=True)]
