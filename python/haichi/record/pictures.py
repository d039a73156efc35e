"""The pictures of a record's page: bars of functions and ranks, heat maps of traffic, placement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from haichi.record.read import Record
from haichi.record.view import View
from haichi.report.gantt import ticks
from haichi.report.markup import Markup, tag
from haichi.report.model import Traffic
from haichi.report.svg import matrix
from haichi.samples.model import Binding
from haichi.samples.pictures import places
from haichi.units import format_seconds, second_unit, shortened

BARS = 20  # functions of a picture
RANKS = 64  # bars of ranks; of more ranks each bar is the mean of several
Part = tuple[str, str, float]
"""What it is, its class in the style sheet, seconds."""


@dataclass(frozen=True)
class Seats:
    """Who is where, as the picture of places asks."""

    job_ranks: int
    node_names: list[str]
    nodes_of_ranks: list[int]
    host_cores: list[int]
    binding: list[Binding]
    bound_by_haichi: bool = False


def seats(record: Record) -> Markup:
    """Each node with its cores and ranks."""
    placement, ranks = record.head.placement, record.head.ranks
    found = (placement.places if placement else None) or []
    cores = (record.head.signature.cores if record.head.signature else None) or 0
    bound = [Binding(core=place.core, cores=place.cores, numa=place.numa) for place in found]
    return places(Seats(ranks, record.node_names, record.node_of_rank, [cores] * ranks, bound))


def node_matrix(view: View) -> Markup:
    """Bytes from node to node."""
    return matrix(_traffic(view.record.node_names, view.nodes))


def rank_matrix(view: View) -> Markup | None:
    """Bytes from rank to rank."""
    if view.pairs is None:
        return None
    names = [str(rank) for rank in range(view.record.head.ranks)]
    return matrix(_traffic(names, view.pairs), "rank")


def _traffic(names: list[str], values: NDArray[np.float64]) -> Traffic:
    return Traffic(nodes=names, bytes=[[int(size) for size in row] for row in values])


def functions(view: View) -> Markup:
    """Time of each function, with what of it was waiting."""
    rows = [
        (
            each.name,
            [
                ("", "total", each.seconds - each.waiting),
                ("waiting", "exchange", each.waiting),
            ],
        )
        for each in view.functions[:BARS]
    ]
    waiting = any(each.waiting > 0 for each in view.functions[:BARS])
    words = "Seconds of all ranks together."
    if waiting:
        words += " Orange: what ranks waited for each other, at least."
    return _bars("Time by function", rows, words)


def ranks(view: View) -> Markup | None:
    """Of each rank the time between calls and the time in MPI."""
    lines = [line for _, line in sorted(view.record.ranks.items())]
    if not lines:
        return None
    step = -(-len(lines) // RANKS)
    rows = []
    for first in range(0, len(lines), step):
        those = lines[first : first + step]
        name = f"rank {those[0].rank}" + (f" … {those[-1].rank}" if step > 1 else "")
        compute = sum(line.compute_s for line in those) / len(those)
        mpi = sum(line.mpi_s for line in those) / len(those)
        rows.append((name, [("computing", "read", compute), ("MPI", "total", mpi)]))
    words = "Of each rank: computing, then the time in MPI (darker)."
    return _bars("Computing and MPI by rank", rows, words)


def _bars(title: str, rows: Sequence[tuple[str, Sequence[Part]]], words: str) -> Markup:
    """Rows of stacked bars on one linear axis."""
    width, left, room, step, top = 1060, 230, 700, 22, 8
    sums = [sum(seconds for _, _, seconds in parts) for _, parts in rows]
    longest = max(sums, default=0.0) or 1.0
    bottom = top + len(rows) * step
    size, unit = second_unit(longest)
    drawn = []
    for tick in ticks(longest / size, 6):
        at = left + tick * size / longest * room
        drawn.append(tag("line", x1=at, x2=at, y1=top, y2=bottom, cls="tick"))
        drawn.append(tag("text", f"{tick:g}", x=at, y=bottom + 15, text_anchor="middle"))
    drawn.append(tag("text", unit, x=left + room + 14, y=bottom + 15, cls="unit"))
    for index, ((name, parts), whole) in enumerate(zip(rows, sums, strict=True)):
        y, x = top + index * step, float(left)
        drawn.append(
            tag("text", shortened(name, 30), x=left - 10, y=y + 15, text_anchor="end", cls="node")
        )
        for what, cls, seconds in parts:
            long = seconds / longest * room
            if long <= 0:
                continue
            said = f"{name}{', ' if what else ''}{what}: {format_seconds(seconds)}"
            bar = tag("rect", x=x, y=y + 4, width=max(long, 1), height=step - 8, cls=cls)
            drawn.append(tag("g", tag("title", said), bar))
            x += long
        drawn.append(tag("text", format_seconds(whole), x=x + 8, y=y + 15, cls="value"))
    svg = tag(
        "svg",
        tag("title", title),
        drawn,
        viewBox=f"0 0 {width} {bottom + 22}",
        role="img",
        cls="bars",
    )
    return tag("figure", tag("div", svg, cls="scroll"), tag("figcaption", words))
