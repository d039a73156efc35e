"""The small pictures of the page: bytes node by node, spreads over ranks, runs side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from haichi.report.gantt import ticks
from haichi.report.markup import Markup, Value, tag
from haichi.report.model import PhaseName, Traffic
from haichi.report.summary import RunSummary, Spread
from haichi.units import (
    byte_unit,
    digits,
    format_bytes,
    format_seconds,
    printable,
    second_unit,
    shortened,
)

MATRIX_NODES = 32  # larger matrices are summed up in blocks of nodes
NUMBERS_UP_TO = 16  # nodes whose cells have room for a number
HEATS = 7


def matrix(traffic: Traffic, between: str = "node") -> Markup:
    """Bytes from node to node, or between others, as a figure; row: from, column: to, diagonal:
    inside the node."""
    grid = _Matrix(traffic, between)
    svg = tag(
        "svg",
        tag("title", grid.title()),
        grid.draw(),
        viewBox=f"0 0 {grid.width} {grid.height}",
        style=f"max-width:{grid.width}px;min-width:{min(grid.width, 480)}px",
        role="img",
        cls="matrix",
    )
    return tag("figure", tag("div", svg, cls="scroll"), grid.caption())


class _Matrix:
    """Geometry and parts of the matrix; see `matrix`."""

    LEFT, TOP = 96, 44

    def __init__(self, traffic: Traffic, between: str) -> None:
        self.between = between
        self.nodes = [printable(name) for name in traffic.nodes]
        self.bytes = np.array(traffic.bytes, dtype=float)
        self.block = -(-len(self.nodes) // MATRIX_NODES)
        self.values, self.names = _blocks(self.bytes, self.nodes, self.block)
        count = len(self.names)
        self.numbers = count <= NUMBERS_UP_TO
        self.cell = 64 if count <= 8 else 48 if self.numbers else 18
        self.most = float(self.values.max())
        self.size, self.unit = byte_unit(self.most)
        sums = 70 if self.numbers else 0
        self.width = self.LEFT + count * self.cell + sums + 8
        self.height = self.TOP + count * self.cell + (30 if self.numbers else 4)

    def title(self) -> str:
        """The picture in a sentence."""
        total, inside = self.bytes.sum(), np.trace(self.bytes)
        return (
            f"Bytes exchanged from {self.between} to {self.between}, {len(self.nodes)} "
            f"{self.between}s: {format_bytes(total)} in all, {format_bytes(total - inside)} "
            f"between {self.between}s"
        )

    def caption(self) -> Markup:
        """Units, what is framed, and the nodes whose links carry most."""
        words = [f"Numbers in {self.unit}."] if self.numbers else []
        if self.between == "node":
            words.append("Framed: inside a node, through its memory; all else crosses the network.")
        else:
            words.append(f"Framed: what stays on a {self.between}.")
        if self.block > 1:
            words.append(
                f"A cell sums {self.block} x {self.block} {self.between}s: framed cells hold both "
                "kinds."
            )
        sent, received = _crossing(self.bytes)
        if sent.any() and sent.min() == sent.max() == received.min() == received.max():
            words.append(
                f"Every {self.between} sends and receives the same: {format_bytes(sent[0])}."
            )
        elif sent.any():
            out, into = int(sent.argmax()), int(received.argmax())
            words.append(
                f"Most leaves {self._named(out)} ({format_bytes(sent[out])}), most arrives at "
                f"{self._named(into)} ({format_bytes(received[into])})."
            )
        scale = [tag("span", cls=f"heat h{step}") for step in range(HEATS)]
        key = tag("span", "0 ", scale, f" {format_bytes(self.most)}", cls="scale")
        return tag("figcaption", " ".join(words), " ", key)

    def _named(self, index: int) -> str:
        name = self.nodes[index]
        return name if self.between == "node" else f"{self.between} {name}"

    def draw(self) -> list[Markup]:
        """Labels, cells, and sums over the other nodes where there is room."""
        parts = self._labels()
        for row in range(len(self.names)):
            for column in range(len(self.names)):
                parts.append(self._cell(row, column))
        if self.numbers and len(self.names) > 1:
            parts += self._sums()
        return parts

    def _at(self, index: int) -> float:
        return index * self.cell + self.cell / 2

    def _labels(self) -> list[Markup]:
        parts = [
            tag("text", f"to {self.between}", x=self.LEFT, y=12, cls="unit"),
            tag("text", f"from {self.between}", x=4, y=self.TOP - 8, cls="unit"),
        ]
        every = 1 if self.numbers else 4
        for index, name in enumerate(self.names):
            if index % every:
                continue
            short = shortened(name, 12)
            fits = len(short) * 8 <= self.cell * every
            x, y = self.LEFT + self._at(index), self.TOP + self._at(index) + 4
            column = short if fits else str(index * self.block)
            parts.append(tag("text", short, x=self.LEFT - 8, y=y, text_anchor="end", cls="node"))
            parts.append(tag("text", column, x=x, y=self.TOP - 8, text_anchor="middle", cls="node"))
        return parts

    def _cell(self, row: int, column: int) -> Markup:
        value = self.values[row, column]
        heat = 0
        if value > 0:
            heat = 1 + min(int(value / self.most * (HEATS - 1)), HEATS - 2)
        x, y = self.LEFT + column * self.cell, self.TOP + row * self.cell
        gap = 1 if self.numbers else 0
        side = self.cell - gap
        inside = f" (inside the {self.between})" if row == column and self.block == 1 else ""
        parts = [
            tag(
                "title",
                f"{self.names[row]} to {self.names[column]}: {format_bytes(value)}{inside}",
            ),
            tag("rect", x=x, y=y, width=side, height=side, cls=f"heat h{heat}"),
        ]
        if row == column:
            frame = tag("rect", x=x + 2.5, y=y + 2.5, width=side - 5, height=side - 5,
                        cls=f"diagonal on{heat}")  # fmt: skip
            parts.append(frame)
        if self.numbers:
            at: dict[str, Value] = {
                "x": x + side / 2,
                "y": y + side / 2 + 4,
                "text_anchor": "middle",
            }
            parts.append(tag("text", self._number(value), cls=f"on{heat}", **at))
        return tag("g", parts)

    def _number(self, value: float) -> str:
        return digits(value / self.size) if self.size > 1 else f"{value:.0f}"

    def _sums(self) -> list[Markup]:
        """What each node sends to and receives from the others, at the ends of rows and columns."""
        sent, received = _crossing(self.values)
        end = len(self.names) * self.cell
        parts = [
            tag("text", "to others", x=self.LEFT + end + 10, y=self.TOP - 8, cls="unit"),
            tag("text", "from others", x=self.LEFT - 8, y=self.TOP + end + 20, text_anchor="end",
                cls="unit"),
        ]  # fmt: skip
        for index in range(len(self.names)):
            right = {"x": self.LEFT + end + 10, "y": self.TOP + self._at(index) + 4}
            below = {"x": self.LEFT + self._at(index), "y": self.TOP + end + 20}
            parts.append(tag("text", self._number(sent[index]), cls="sum", **right))
            parts.append(
                tag("text", self._number(received[index]), cls="sum", text_anchor="middle", **below)
            )
        return parts


def _crossing(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bytes that each node sends to, and receives from, the other nodes."""
    inside = np.diagonal(values)
    return values.sum(axis=1) - inside, values.sum(axis=0) - inside


def _blocks(
    values: NDArray[np.float64], names: Sequence[str], block: int
) -> tuple[NDArray[np.float64], list[str]]:
    """Sums of `block` x `block` nodes, with names such as `n0 … n3`."""
    if block == 1:
        return values, list(names)
    starts = list(range(0, len(names), block))
    summed = np.add.reduceat(np.add.reduceat(values, starts, axis=0), starts, axis=1)
    lasts = [min(start + block, len(names)) - 1 for start in starts]
    labels = [f"{names[a]} … {names[b]}" for a, b in zip(starts, lasts, strict=True)]
    return summed, labels


def spread(phase: PhaseName, times: Spread, longest: float) -> Markup:
    """From the least to the most time of a phase, with the median, on a scale up to `longest`."""
    width = 260

    def x(seconds: float) -> float:
        return 6 + (width - 12) * seconds / longest if longest > 0 else 6

    title = (
        f"{format_seconds(times.min)} to {format_seconds(times.max)}, "
        f"median {format_seconds(times.median)}"
    )
    return tag(
        "svg",
        tag("title", title),
        tag("line", x1=6, x2=width - 6, y1=9, y2=9, cls="rail"),
        tag("rect", x=x(times.min), y=5, width=max(x(times.max) - x(times.min), 2), height=8,
            cls=phase),
        tag("line", x1=x(times.median), x2=x(times.median), y1=1, y2=17, cls="median"),
        viewBox=f"0 0 {width} 18",
        width=width,
        height=18,
        role="img",
        cls="spread",
    )  # fmt: skip


def comparison(runs: Sequence[RunSummary]) -> Markup:
    """Total time of each run as a bar, with its ratio to the first run's."""
    width, left, bar, step, top = 1060, 210, 22, 34, 8
    longest = max((run.seconds for run in runs), default=0.0) or 1.0
    room = width - left - 190
    bottom = top + len(runs) * step
    size, unit = second_unit(longest)
    parts = []
    for tick in ticks(longest / size, 6):
        at = left + tick * size / longest * room
        parts.append(tag("line", x1=at, x2=at, y1=top, y2=bottom, cls="tick"))
        parts.append(tag("text", f"{tick:g}", x=at, y=bottom + 15, text_anchor="middle"))
    parts.append(tag("text", unit, x=left + room + 14, y=bottom + 15, cls="unit"))
    first = left + runs[0].seconds / longest * room
    parts.append(tag("line", x1=first, x2=first, y1=top, y2=bottom, cls="base"))
    for index, run in enumerate(runs):
        y = top + index * step + (step - bar) / 2
        long = run.seconds / longest * room
        name = shortened(run.label, 28)
        words = format_seconds(run.seconds)
        if index and run.ratio_to_first is not None:
            words += f" ({run.ratio_to_first:.2f} × the first)"
        parts += [
            tag("text", name, x=left - 10, y=y + 15, text_anchor="end", cls="node"),
            tag("rect", x=left, y=y, width=max(long, 1), height=bar, cls="total"),
            tag("text", words, x=left + long + 8, y=y + 15, cls="value"),
        ]
    title = "Time in collective file access: " + "; ".join(
        f"{run.label} {format_seconds(run.seconds)}" for run in runs
    )
    svg = tag(
        "svg",
        tag("title", title),
        parts,
        viewBox=f"0 0 {width} {bottom + 22}",
        role="img",
        cls="bars",
    )
    return tag("figure", tag("div", svg, cls="scroll"))
