"""`haichi figures mapping`: how good the mapping of ranks to nodes is (src/plan/mapping.h).

Counted are messages between nodes when all neighbours of a grid exchange one. Ours stands beside
the order that ranks have without it, in blocks (BK) and round robin (RR), and beside the best there
is: for a dozen ranks that of all divisions; for more a bound that no division can go below. A part
of s ranks of a grid has at least the surface of a box of s ranks, whose edges may have any length
(Loomis and Whitney 1949); what lies at the rim of the grid is no surface. Where parts may go around
a dimension that closes, there is a bound for tori that are alike in all dimensions only (Bollobas
and Leader 1991, Edge-isoperimetric inequalities in the grid, theorem 8).

No MPI is involved, and but for the times the same build gives the same figures everywhere.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from haichi.advise.mapping import map_ranks
from haichi.advise.traffic import neighbours
from haichi.figures import record
from haichi.figures.command import INVALID, keep, one_line, progress_on_errors
from haichi.predict.places import dealt_out, in_blocks
from haichi.record.model import Cart
from haichi.report.placement import Node, Placement

NEAR = 1.05  # of the best there is
LONGEST = 60.0  # seconds for 100,000 ranks
RANDOM = 200
MOST_TRIED = 12  # ranks of which all divisions are tried
CASES: tuple[tuple[tuple[int, ...], int, tuple[int, ...]], ...] = (
    ((4, 3), 0, (4, 4, 4)),
    ((2, 6), 1, (4, 4, 4)),
    ((2, 2, 3), 0, (6, 6)),
    ((12,), 1, (5, 4, 3)),
    ((3, 4), 1, (6, 4, 2)),
    ((8, 8), 0, (16,) * 4),
    ((16, 16), 3, (16,) * 16),
    ((32, 32), 0, (64,) * 16),
    ((30, 20), 0, (50,) * 12),
    ((16, 16, 16), 7, (64,) * 64),
    ((10, 10, 10), 0, (25,) * 40),
    ((24, 20, 16), 0, (96,) * 80),
    ((316, 316), 0, (64,) * 1560 + (16,)),
    ((40, 50, 50), 7, (100,) * 1000),
    ((46, 46, 47), 0, (64,) * 1553 + (60,)),
)  # extents, a bit for each dimension that closes, ranks of each node


@dataclass(frozen=True)
class Row:
    """A grid and nodes."""

    extents: tuple[int, ...]
    closes: tuple[bool, ...]
    nodes: int
    block: int
    round_robin: int
    ours: int
    least: float
    """Of all divisions, or a bound that none goes below."""
    tried: bool
    """Whether all divisions were tried."""
    seconds: float

    @property
    def ranks(self) -> int:
        """Of the grid."""
        return math.prod(self.extents)


@dataclass(frozen=True)
class Draws:
    """Random grids and nodes."""

    cases: int
    worse: int
    better: int
    mean: float
    """Geometric, of ours over what it was, where that was anything."""


def command(
    cases: Annotated[int, typer.Option(min=1, help="Random grids and nodes.")] = RANDOM,
    seed: Annotated[int, typer.Option(help="Of what is drawn.")] = 1,
    out: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
) -> None:
    """Messages between nodes by haichi's mapping of grids, against ranks in blocks and round robin
    and the best there is; times up to 100,000 ranks."""
    progress = progress_on_errors()
    rows: list[Row] = []
    with one_line():
        for extents, bits, sizes in CASES:
            progress(f"{len(rows) + 1}/{len(CASES)}  {' x '.join(map(str, extents))}")
            closes = tuple(bool(bits >> d & 1) for d in range(len(extents)))
            rows.append(measure(extents, closes, sizes))
        drawn = draw(cases, seed)
    console = record.console()
    console.print(table(rows))
    slowest = max(row.seconds for row in rows)
    console.print(
        f"{drawn.cases} random grids and nodes: never more than as given in "
        f"{drawn.cases - drawn.worse}, less in {drawn.better}, {drawn.mean:.2f} times in the mean"
    )
    console.print(f"longest search: {slowest:.1f} s")
    keep(
        {"schema": "haichi.mapping/1", "cases": [asdict(r) for r in rows], "drawn": asdict(drawn)},
        out,
        "mapping",
    )
    exact = all(row.ours <= NEAR * row.least for row in rows if row.tried)
    if drawn.worse or not exact or slowest > LONGEST:
        raise typer.Exit(INVALID)


def measure(extents: tuple[int, ...], closes: tuple[bool, ...], sizes: Sequence[int]) -> Row:
    """One grid, with the ranks in both orders.

    Raises:
        Missing: haichi is not built.
    """
    grid = Cart(dims=list(extents), periods=list(closes))
    block = map_ranks(placement(in_blocks(sizes)), grid=grid)
    dealt = map_ranks(placement(dealt_out(sizes)), grid=grid)
    tried = math.prod(extents) <= MOST_TRIED
    return Row(
        extents,
        closes,
        len(sizes),
        block.given.between_nodes,
        dealt.given.between_nodes,
        min(block.mapped.between_nodes, dealt.mapped.between_nodes),
        best(grid, sizes) if tried else bound(extents, closes, sizes),
        tried,
        max(block.seconds, dealt.seconds),
    )


def placement(nodes: Sequence[int]) -> Placement:
    """Of the node of each rank."""
    return Placement.seated(nodes, [Node(name=f"n{n}", ranks="") for n in range(max(nodes) + 1)])


def best(grid: Cart, sizes: Sequence[int]) -> int:
    """The least of all divisions into parts of these sizes, in messages."""
    ranks = math.prod(grid.dims)
    beside = [[other for other in neighbours(grid, r) if other < r] for r in range(ranks)]
    part, free, least = [-1] * ranks, list(sizes), math.inf

    def seat(rank: int, cut: int) -> None:
        nonlocal least
        if cut >= least:
            return
        if rank == ranks:
            least = cut
            return
        empty: set[int] = set()
        for p, size in enumerate(sizes):
            if free[p] == 0 or (free[p] == size and size in empty):
                continue  # of equal parts that are empty the first one will do
            if free[p] == size:
                empty.add(size)
            free[p] -= 1
            part[rank] = p
            seat(rank + 1, cut + 2 * sum(part[other] != p for other in beside[rank]))
            free[p] += 1

    seat(0, 0)
    return int(least)


def bound(extents: Sequence[int], closes: Sequence[bool], sizes: Sequence[int]) -> float:
    """Messages that go between parts of these sizes at least; 0 where none is known."""
    ranks = math.prod(extents)
    if all(closes) and len(set(extents)) == 1 and 2 * max(sizes) <= ranks and extents[0] > 2:
        return sum(rim_on_torus(extents[0], len(extents), size) for size in sizes)
    if any(round_ and max(sizes) >= n for n, round_ in zip(extents, closes, strict=True)):
        return 0.0
    lines = 0.0
    for size in set(sizes):
        edges = box(extents, size)
        lines += sizes.count(size) * sum(size / edge for edge in edges)
    rim = sum(ranks / n for n, round_ in zip(extents, closes, strict=True) if not round_)
    return 2 * (lines - rim)


def rim_on_torus(side: int, dimensions: int, size: int) -> float:
    """Edges that leave so many ranks of a torus at least: those of a cube in some dimensions, all
    around the others."""
    return min(
        2 * r * math.pow(size, 1 - 1 / r) * math.pow(side, dimensions / r - 1)
        for r in range(1, dimensions + 1)
    )


def box(extents: Sequence[int], size: int) -> list[float]:
    """Edges of the box of so many ranks that has the least surface and fits into the grid: all the
    same, but for those that are cut off."""
    edges = [0.0] * len(extents)
    open_, rest = set(range(len(extents))), float(size)
    while open_:
        edge = rest ** (1 / len(open_))
        short = {d for d in open_ if extents[d] <= edge}
        for d in short or open_:
            edges[d] = extents[d] if short else edge
            rest /= edges[d]
        open_ = open_ - short if short else set()
    return edges


def draw(cases: int, seed: int) -> Draws:
    """Grids of up to four dimensions and some hundred ranks on nodes of any size, in any order."""
    draws = random.Random(seed)
    worse = better = 0
    logs: list[float] = []
    for _ in range(cases):
        extents = [draws.randint(1, 8) for _ in range(draws.randint(1, 4))]
        while math.prod(extents) > 400:
            extents.pop()
        ranks = math.prod(extents)
        count = draws.randint(1, min(ranks, 40))
        nodes = sorted(draws.randrange(count) for _ in range(ranks))
        if draws.randrange(3) == 0:
            draws.shuffle(nodes)
        grid = Cart(dims=extents, periods=[draws.random() < 0.5 for _ in extents])
        found = map_ranks(placement(nodes), grid=grid)
        worse += found.mapped.between_nodes > found.given.between_nodes
        better += found.mapped.between_nodes < found.given.between_nodes
        if found.given.between_nodes and found.mapped.between_nodes:
            logs.append(math.log(found.mapped.between_nodes / found.given.between_nodes))
    return Draws(cases, worse, better, math.exp(sum(logs) / len(logs)) if logs else 1.0)


def table(rows: Sequence[Row]) -> Table:
    """All cases."""
    made = Table("grid", title="Messages between nodes", title_justify="left")
    for heading in ("ranks", "nodes", "BK", "RR", "ours", "least", "ours / least", "search"):
        made.add_column(heading, justify="right")
    for row in rows:
        extents = " x ".join(
            f"{n}{'°' if round_ else ''}" for n, round_ in zip(row.extents, row.closes, strict=True)
        )
        least = f"{row.least:.0f}" if row.tried else f"> {row.least:.0f}" if row.least else "-"
        made.add_row(
            extents,
            f"{row.ranks}",
            f"{row.nodes}",
            f"{row.block}",
            f"{row.round_robin}",
            f"{row.ours}",
            least,
            f"{row.ours / row.least:.3f}" if row.least else "-",
            f"{row.seconds:.3f} s",
        )
    made.caption = "° closes; least: the best of all divisions, or >: a bound that none goes below"
    return made
