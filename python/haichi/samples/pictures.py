"""The page's other pictures: who is where, bars of calls side by side, heat maps of pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from haichi.report.markup import Markup, tag
from haichi.report.svg import HEATS
from haichi.samples.model import Binding
from haichi.samples.view import Job, Value
from haichi.units import format_rate, format_seconds, plural, printable, shortened

NODES = 16  # drawn of a job
CORES = 64  # drawn of a node
SIDE, GAP, A_ROW = 34, 3, 26  # of cores: pixels, pixels, cores
BARS = 30
CELLS = 64  # ranks or nodes of a heat map


class Seated(Protocol):
    """Ranks of a job where they run; as a launch of `haichi measure` has it."""

    @property
    def job_ranks(self) -> int: ...
    @property
    def node_names(self) -> list[str]: ...
    @property
    def nodes_of_ranks(self) -> list[int]: ...
    @property
    def host_cores(self) -> list[int]: ...
    @property
    def binding(self) -> list[Binding]: ...
    @property
    def bound_by_haichi(self) -> bool: ...


def places(launch: Seated) -> Markup:
    """Each node as a box of its cores, those with ranks filled; NUMA nodes framed."""
    parts: list[Markup] = []
    most = max(launch.host_cores, default=1)
    top, width = 0, max(420, 20 + min(most, A_ROW) * (SIDE + GAP))
    for node in range(min(len(launch.node_names), NODES)):
        drawn, height = _host(launch, node, top, width)
        parts += drawn
        top += height + 10
    left = len(launch.node_names) - NODES
    note = f"; {plural(left, 'more node')} not drawn" if left > 0 else ""
    ranks = plural(launch.job_ranks, "rank")
    title = f"{ranks} on {plural(len(launch.node_names), 'node')}{note}"
    svg = tag(
        "svg", tag("title", title), parts, viewBox=f"0 0 {width} {max(top, 10)}", role="img",
        cls="places",
        style=f"max-width:{width}px;min-width:{min(width, 640)}px",
    )  # fmt: skip
    bound = "bound by haichi" if launch.bound_by_haichi else "as the launcher left them"
    words = (
        f"{title}. A square is a core, a filled one has a rank, by its number; ranks are {bound}."
    )
    return tag("figure", tag("div", svg, cls="scroll"), tag("figcaption", words))


def _host(launch: Seated, node: int, top: int, width: int) -> tuple[list[Markup], int]:
    ranks = [rank for rank, at in enumerate(launch.nodes_of_ranks) if at == node]
    cores = max((launch.host_cores[r] for r in ranks if r < len(launch.host_cores)), default=0)
    of_core: dict[int, list[int]] = {}
    numas: set[int] = set()
    floating = []
    for rank in ranks:
        bound = launch.binding[rank] if rank < len(launch.binding) else None
        if bound and bound.core >= 0 and bound.cores == 1:
            of_core.setdefault(bound.core, []).append(rank)
            numas.add(bound.numa)
        else:
            floating.append(rank)
    shown = min(cores, CORES)
    rows = max(1, -(-shown // A_ROW))
    height = 30 + rows * (SIDE + GAP) + (16 if floating else 0)
    name = printable(launch.node_names[node])
    known = sorted(n for n in numas if n >= 0)
    where = f", NUMA {'node' if len(known) == 1 else 'nodes'} {', '.join(map(str, known))}"
    head = f"{name}: {plural(cores, 'core')}, {plural(len(ranks), 'rank')}{where if known else ''}"
    if cores > CORES:
        head += f" (the first {CORES} cores are drawn)"
    parts = [
        tag("rect", x=0.5, y=top + 0.5, width=width - 1, height=height - 1, rx=6, cls="host"),
        tag("text", head, x=10, y=top + 18, cls="node"),
    ]
    for core in range(shown):
        x = 10 + core % A_ROW * (SIDE + GAP)
        y = top + 26 + core // A_ROW * (SIDE + GAP)
        here = of_core.get(core, [])
        taken = " taken" if here else ""
        parts.append(tag("rect", x=x, y=y, width=SIDE, height=SIDE, rx=3, cls=f"core{taken}"))
        if here:
            text = ",".join(map(str, here)) if len(here) < 3 else f"{len(here)} r."
            parts.append(tag("text", text, x=x + SIDE / 2, y=y + 21, cls="rank"))
    if floating:
        text = f"not bound to one core: ranks {_some(floating)}"
        parts.append(tag("text", text, x=10, y=top + height - 8))
    return parts, height


def _some(ranks: Sequence[int]) -> str:
    shown = ", ".join(map(str, ranks[:12]))
    return shown + (f" … {ranks[-1]}" if len(ranks) > 12 else "")


def bars(title: str, values: Sequence[tuple[str, Value]]) -> Markup | None:
    """Times side by side, on a logarithmic axis that begins below the shortest."""
    shown = values[:BARS]
    if not shown:
        return None
    left, right, row, top = 250, 90, 22, 26
    width, height = 860, top + row * len(shown) + 6
    low = min(value.median for _, value in shown) / 2
    high = max(value.median for _, value in shown) * 1.05

    def x(seconds: float) -> float:
        share = math.log(seconds / low) / math.log(high / low)
        return left + share * (width - left - right)

    head = f"{title} (logarithmic)"
    parts = [tag("text", head, x=0, y=14, cls="caption")]
    for tick in _powers(low, high):
        parts.append(tag("line", x1=x(tick), x2=x(tick), y1=top, y2=height - 4, cls="grid"))
    for index, (name, value) in enumerate(shown):
        y = top + row * index
        text = shortened(printable(name), 36)
        parts += [
            tag("text", text, x=left - 8, y=y + 15, text_anchor="end", cls="name"),
            tag("rect", x=left, y=y + 4, width=max(x(value.median) - left, 1), height=row - 8,
                cls="bar s0"),
            tag("text", format_seconds(value.median), x=x(value.median) + 6, y=y + 15,
                cls="value"),
        ]  # fmt: skip
    words = f"{title}: " + "; ".join(f"{n} {format_seconds(v.median)}" for n, v in shown)
    svg = tag(
        "svg", tag("title", words), parts, viewBox=f"0 0 {width} {height}", role="img", cls="rows"
    )
    return tag("figure", tag("div", svg, cls="scroll"))


def _powers(low: float, high: float) -> list[float]:
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    return [10.0**power for power in range(first, last + 1)]


def heat_maps(job: Job) -> list[Markup]:
    """Of each placement class rank by rank, and node by node where there are several: latency at
    the smallest size that pairs were measured at, bandwidth at the largest."""
    made = []
    for name, place in dict.fromkeys(key[:2] for key in job.pairs):
        sizes = sorted(key[2] for key in job.pairs if key[:2] == (name, place))
        for size, what in ((sizes[0], "time"), (sizes[-1], "rate")):
            if what == "rate" and (size < 1024 or len(sizes) == 1):
                continue
            values = {value.ranks: value for value in job.pairs[name, place, size]}
            title = f"{name}, {place}, {size} bytes"
            ranks = {rank for pair in values for rank in pair}
            if len(ranks) <= CELLS:
                labels = {rank: str(rank) for rank in sorted(ranks)}
                made.append(heat(f"{title}: rank by rank", labels, values, what))
            nodes = job.launch.nodes_of_ranks
            of_nodes: dict[tuple[int, ...], Value] = {}
            for pair, value in values.items():
                key = tuple(nodes[rank] for rank in pair)
                if key not in of_nodes or of_nodes[key].median < value.median:
                    of_nodes[key] = value
            several = {node for key in of_nodes for node in key}
            if 1 < len(several) <= CELLS:
                labels = {node: job.launch.node_names[node] for node in sorted(several)}
                made.append(heat(f"{title}: node by node", labels, of_nodes, what))
    return made


def heat(
    title: str, labels: Mapping[int, str], values: Mapping[tuple[int, ...], Value], what: str
) -> Markup:
    """A cell for each pair; row: the one that begins. `what`: `time`, or `rate` for bytes a second.
    The more intense, the slower."""
    count = len(labels)
    cell = 46 if count <= 16 else max(10, 700 // count)
    left, top = 92, 40
    place = {key: index for index, key in enumerate(labels)}
    low = min(value.median for value in values.values())
    high = max(value.median for value in values.values())
    parts = [tag("text", title, x=0, y=14, cls="caption")]
    for key, name in labels.items():
        at = place[key] * cell + cell / 2
        text = shortened(name, 12)
        if cell >= 14 or place[key] % 4 == 0:
            parts.append(
                tag("text", text, x=left - 6, y=top + at + 4, text_anchor="end", cls="node")
            )
            across = text if len(text) * 7 <= cell else str(key)
            parts.append(tag("text", across, x=left + at, y=top - 6, text_anchor="middle"))
    for (one, other), value in values.items():
        step = 1 + int(math.log(value.median / low) / math.log(max(high / low, 1.5)) * (HEATS - 2))
        step = min(step, HEATS - 1)
        x, y = left + place[other] * cell, top + place[one] * cell
        text = format_seconds(value.median) if what == "time" else format_rate(value.rate)
        number = f"{value.median * 1e6:.3g}" if what == "time" else f"{value.rate / 1e9:.3g}"
        parts.append(
            tag(
                "g",
                tag("title", f"{labels[one]} to {labels[other]}: {text}"),
                tag("rect", x=x, y=y, width=cell - 1, height=cell - 1, cls=f"heat h{step}"),
                tag("text", number, x=x + cell / 2, y=y + cell / 2 + 4, text_anchor="middle",
                    cls=f"on{step}") if cell >= 34 else None,
            )
        )  # fmt: skip
    side = left + count * cell + 6
    svg = tag(
        "svg", tag("title", title), parts, viewBox=f"0 0 {max(side, 320)} {top + count * cell + 4}",
        role="img", cls="matrix",
        style=f"max-width:{max(side, 320)}px;min-width:{min(side, 400)}px",
    )  # fmt: skip
    unit = "Microseconds" if what == "time" else "GB/s"
    caption = f"{unit}; the more intense, the slower. Row: the one that begins. "
    caption += f"From {format_seconds(low)} to {format_seconds(high)}."
    return tag("figure", tag("div", svg, cls="scroll"), tag("figcaption", caption))
