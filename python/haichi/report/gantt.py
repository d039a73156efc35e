"""The Gantt chart of one collective call: Read, Exchange and Write of every rank over time.

Paper 000, Fig. 11. With more ranks than can be read, a choice of them is drawn, and above them how
many of all ranks are in which phase. With more intervals than a page should hold, they are drawn
at a resolution of a pixel. Both are said in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from haichi.report.markup import Markup, number, tag
from haichi.report.model import Call, Event, PhaseName, Report
from haichi.report.summary import PHASES, accesses_beside_exchange
from haichi.units import format_bytes, format_seconds, printable, second_unit, shortened

WIDTH = 1060
GUTTER = 132
RIGHT = 14
PLOT = WIDTH - GUTTER - RIGHT
UNITS = 40000  # horizontal resolution of the plot's own coordinates
ROWS = 40
DETAIL = 2000  # intervals that are drawn one by one, each with its own tooltip
MERGED = 6 * DETAIL  # bars of a chart with more intervals; a sixth of the size each
CROWD = 70  # height of the chart of all ranks
CROWD_BINS = 300

# Heights of the bars relative to a row: the phases differ in grey prints too.
HEIGHT: dict[PhaseName, float] = {"read": 0.88, "exchange": 0.66, "write": 0.88, "agree": 0.3}
# Where a rank exchanges while its thread accesses the file, each has half of the row.
BESIDE: tuple[tuple[PhaseName, ...], ...] = (("read", "write"), ("exchange", "agree"))


@dataclass(frozen=True)
class CallEvents:
    """The events of one call, by rank, and the interval that they span in microseconds."""

    ranks: dict[int, list[Event]]
    begin_us: float
    end_us: float

    @classmethod
    def of(cls, ranks: dict[int, list[Event]]) -> CallEvents:
        """Finds the span; `ranks` must hold at least one event."""
        return cls(
            ranks,
            min(event.begin_us for events in ranks.values() for event in events),
            max(event.end_us for events in ranks.values() for event in events),
        )

    @property
    def span_us(self) -> float:
        """Length of the call from its first event to its last, at least a nanosecond."""
        return max(self.end_us - self.begin_us, 1e-3)

    def last_rank(self) -> int:
        """The rank that was done last."""
        return max(self.ranks, key=lambda rank: max(event.end_us for event in self.ranks[rank]))

    def first_rank(self) -> int:
        """The rank that was done first."""
        return min(self.ranks, key=lambda rank: max(event.end_us for event in self.ranks[rank]))


def choose_ranks(
    ranks: Iterable[int],
    node_of: Sequence[int],
    always: Iterable[int],
    first: Iterable[int],
    limit: int,
) -> list[int]:
    """At most `limit` of `ranks`, spread evenly over the nodes; those in `always` are among them.

    Of each node its ranks that are in `first` come before its lowest ranks; with too many nodes for
    two ranks of each, evenly spaced nodes are taken. Result ascending by node, then rank.
    """
    by_place = sorted(ranks, key=lambda rank: (node_of[rank], rank))
    if len(by_place) <= limit:
        return by_place
    chosen, wanted = sorted(set(always)), set(first)
    by_node: dict[int, list[int]] = {}
    for rank in sorted(set(by_place).difference(chosen), key=lambda r: (r not in wanted, r)):
        by_node.setdefault(node_of[rank], []).append(rank)
    nodes = sorted(by_node)
    most = max(limit // min(2, max(len(here) for here in by_node.values())), 1)
    if len(nodes) > most:
        steps = np.linspace(0, len(nodes) - 1, most).round().astype(int)
        nodes = [nodes[step] for step in steps]
    for turn in range(limit):
        for node in nodes:
            if turn < len(by_node[node]) and len(chosen) < limit:
                chosen.append(by_node[node][turn])
    return sorted(chosen, key=lambda rank: (node_of[rank], rank))


def busy(
    begin: NDArray[np.float64], end: NDArray[np.float64], edges: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Time that the intervals [begin, end) spend between each two edges, summed over intervals."""

    def until(starts: NDArray[np.float64]) -> NDArray[np.float64]:
        starts = np.sort(starts)
        sums = np.concatenate(([0.0], np.cumsum(starts)))
        count = np.searchsorted(starts, edges)
        return count * edges - sums[count]

    return np.diff(until(begin) - until(end))


def gantt(
    report: Report,
    call: Call,
    events: CallEvents,
    rows: int = ROWS,
    span_us: float | None = None,
    detail: int = DETAIL,
) -> Markup:
    """The chart as a figure of at most about `rows` ranks.

    `span_us` is the length of its time axis (default: the call's), `detail` bounds its size: so
    many intervals are drawn one by one.
    """
    node_of = report.placement.node_of_rank()
    extremes = [events.last_rank(), events.first_rank()]
    ranks = choose_ranks(events.ranks, node_of, extremes, call.aggregators, rows)
    chart = _Chart(report, call, events, ranks, node_of, span_us or events.span_us, detail)
    title = (
        f"Gantt chart of {call.call}, call {call.index}: Read, Exchange and Write over time for "
        f"{len(ranks)} of {len(events.ranks)} ranks; the last rank is done after "
        f"{format_seconds(events.span_us / 1e6)}"
    )
    svg = tag(
        "svg",
        tag("title", title),
        chart.draw(),
        viewBox=f"0 0 {WIDTH} {number(chart.height)}",
        role="img",
        cls="gantt",
        data_span=repr(chart.span),
        data_left=GUTTER,
        data_width=PLOT,
        data_units=UNITS,
    )
    return tag("figure", tag("div", svg, cls="scroll"), tag("figcaption", chart.says()))


class _Chart:
    """Geometry and parts of one chart; see `gantt`."""

    def __init__(
        self,
        report: Report,
        call: Call,
        events: CallEvents,
        ranks: list[int],
        node_of: list[int],
        span_us: float,
        detail: int,
    ) -> None:
        self.report, self.call, self.events = report, call, events
        self.ranks, self.node_of, self.span = ranks, node_of, span_us
        self.crowd = CROWD if len(events.ranks) > len(ranks) else 0
        self.row = 20 if len(ranks) <= 8 else 17 if len(ranks) <= 20 else 14
        self.top = 22 + (self.crowd + 14 if self.crowd else 0)
        self.gaps = len({node_of[rank] for rank in ranks}) - 1
        self.body = len(ranks) * self.row + self.gaps * 4
        self.height = self.top + self.body + 34
        self.intervals = sum(len(events.ranks[rank]) for rank in ranks)
        self.bins = 0  # resolution of the bars, or 0 if every interval is drawn
        together = any(accesses_beside_exchange(events.ranks[rank]) for rank in ranks)
        self.lanes = BESIDE if together else (PHASES,)
        self.merged: dict[int, list[NDArray[np.intp]]] = {}
        if self.intervals > detail:
            self._merge(MERGED * detail // DETAIL)

    def x(self, micros: float) -> float:
        """Horizontal position, in the plot's own units, of a time on the shared clock."""
        return min(max((micros - self.events.begin_us) / self.span, 0.0), 1.0) * UNITS

    def draw(self) -> list[Markup]:
        """All parts, back to front."""
        parts: list[Markup] = []
        plot: list[Markup] = []
        if self.crowd:
            parts.append(self._crowd_labels())
            plot.extend(self._crowd_areas())
        y = float(self.top)
        numbers: list[Markup] = []
        previous = -1
        for index, rank in enumerate(self.ranks):
            node = self.node_of[rank]
            if node != previous:
                y += 4 if index else 0
                parts.append(self._node_label(node, y))
                previous = node
            parts.append(self._rank_label(rank, y))
            plot.extend(self._bars(rank, y))
            numbers.extend(self._cycle_numbers(rank, y))
            y += self.row
        parts.append(self._grid())
        parts.append(
            tag(
                "svg",
                plot,
                x=GUTTER,
                y=0,
                width=PLOT,
                height=self.top + self.body,
                viewBox=f"0 0 {UNITS} {self.top + self.body}",
                preserveAspectRatio="none",
                cls="plot merged" if self.bins else "plot",
            )
        )
        parts.append(tag("g", numbers, cls="cycles"))
        parts.append(self._end_mark())
        return parts

    def _grid(self) -> Markup:
        bottom = self.top + self.body
        size, unit = second_unit(self.span / 1e6)
        lines = []
        for tick in ticks(self.span / 1e6 / size, 10):
            at = GUTTER + tick * size * 1e6 / self.span * PLOT
            lines.append(tag("line", x1=at, x2=at, y1=14, y2=bottom))
            lines.append(tag("text", f"{tick:g}", x=at, y=bottom + 15, text_anchor="middle"))
        caption = tag(
            "text",
            f"time since the call began, {unit}",
            x=GUTTER + PLOT,
            y=bottom + 31,
            text_anchor="end",
            cls="unit",
        )
        return tag("g", tag("g", lines, cls="ticks"), caption, cls="axis", data_bottom=bottom)

    def _crowd_areas(self) -> list[Markup]:
        edges = np.linspace(self.events.begin_us, self.events.begin_us + self.span, CROWD_BINS + 1)
        everything = [event for events in self.events.ranks.values() for event in events]
        base = np.zeros(CROWD_BINS)
        curves = []
        for phase in PHASES:
            mine = [event for event in everything if event.phase == phase]
            if not mine:
                continue
            begin = np.array([event.begin_us for event in mine])
            end = np.array([event.end_us for event in mine])
            top = base + busy(begin, end, edges) / (self.span / CROWD_BINS)
            curves.append((phase, base, top))
            base = top
        # A rank that does two things at a time counts twice.
        scale = self.crowd / max(len(self.events.ranks), base.max())
        return [
            tag("path", d=_area(low, high, scale, 22 + self.crowd), cls=phase)
            for phase, low, high in curves
        ]

    def _crowd_labels(self) -> Markup:
        count = len(self.events.ranks)
        return tag(
            "g",
            tag("rect", x=GUTTER, y=22, width=PLOT, height=self.crowd, cls="frame"),
            tag("text", f"all {count} ranks:", x=4, y=22 + 12, cls="node"),
            tag("text", "how many are in", x=4, y=22 + 28),
            tag("text", "which phase", x=4, y=22 + 42),
            tag("text", str(count), x=GUTTER - 6, y=22 + 10, text_anchor="end"),
            tag("text", "0", x=GUTTER - 6, y=22 + self.crowd, text_anchor="end"),
        )

    def _node_label(self, node: int, y: float) -> Markup:
        shown = sum(1 for rank in self.ranks if self.node_of[rank] == node)
        name = printable(self.report.placement.name_of(node))
        short = shortened(name, 11)
        return tag(
            "g",
            tag("title", f"node {node}: {name}"),
            tag("rect", x=0, y=y, width=WIDTH - RIGHT, height=shown * self.row, cls="band"),
            tag("text", short, x=4, y=y + self.row * 0.5 + 4, cls="node"),
        )

    def _rank_label(self, rank: int, y: float) -> Markup:
        aggregator = rank in self.call.aggregators
        return tag(
            "text",
            f"{'◆ ' if aggregator else ''}rank {rank}",
            x=GUTTER - 6,
            y=y + self.row * 0.5 + 4,
            text_anchor="end",
            cls="aggregator" if aggregator else None,
        )

    def _bars(self, rank: int, y: float) -> list[Markup]:
        if self.bins:
            return self._merged_bars(rank, y)
        bars = []
        for event in self.events.ranks[rank]:
            begin, end = self.x(event.begin_us), self.x(event.end_us)
            upper, tall = self._span(event.phase)
            bars.append(
                tag(
                    "rect",
                    tag("title", self._tip(rank, event)),
                    x=round(begin),
                    y=y + upper,
                    width=max(round(end) - round(begin), 1),
                    height=tall,
                    cls=event.phase,
                )
            )
        return bars

    def _span(self, phase: PhaseName) -> tuple[float, float]:
        """Where a phase's bars begin within a row, and how tall they are."""
        lane = next(i for i, phases in enumerate(self.lanes) if phase in phases)
        room = self.row / len(self.lanes)
        tall = room * HEIGHT[phase]
        return lane * room + (room - tall) / 2, tall

    def _tip(self, rank: int, event: Event) -> str:
        took = format_seconds((event.end_us - event.begin_us) / 1e6)
        begin = format_seconds((event.begin_us - self.events.begin_us) / 1e6)
        moved = f", {format_bytes(event.bytes)}" if event.bytes else ""
        name = event.phase.capitalize()
        return f"rank {rank}, cycle {event.cycle}: {name} {took}{moved}, at {begin}"

    def _merge(self, most: int) -> None:
        """Finds the finest resolution, up to a pixel, at which there are at most `most` bars."""
        self.bins = PLOT
        while True:
            self.merged = {
                rank: [self._winners(rank, lane) for lane in self.lanes] for rank in self.ranks
            }
            bars = sum(
                np.count_nonzero(np.diff(winner))
                for lanes in self.merged.values()
                for winner in lanes
            )
            if bars <= most or self.bins < 32:
                return
            self.bins //= 2

    def _winners(self, rank: int, lane: Sequence[PhaseName]) -> NDArray[np.intp]:
        """Per bin the index of the lane's phase that takes most of it, or len(lane) for none."""
        edges = np.linspace(self.events.begin_us, self.events.begin_us + self.span, self.bins + 1)
        shares = []
        for phase in lane:
            mine = [event for event in self.events.ranks[rank] if event.phase == phase]
            begin = np.array([event.begin_us for event in mine])
            end = np.array([event.end_us for event in mine])
            shares.append(busy(begin, end, edges))
        idle = np.maximum(self.span / self.bins - np.sum(shares, axis=0), 0.0)
        winners: NDArray[np.intp] = np.argmax(np.vstack([*shares, idle]), axis=0)
        return winners

    def _merged_bars(self, rank: int, y: float) -> list[Markup]:
        """One path a phase; neighbouring bins of one phase are one bar."""
        unit = UNITS / self.bins
        bars = []
        for lane, winner in zip(self.lanes, self.merged[rank], strict=True):
            borders = np.flatnonzero(np.diff(winner, prepend=-1, append=-1))
            for index, phase in enumerate(lane):
                upper, tall = self._span(phase)
                path = "".join(
                    f"M{round(a * unit)} {number(y + upper)}h{round((b - a) * unit)}"
                    f"v{number(tall)}h-{round((b - a) * unit)}z"
                    for a, b in zip(borders[:-1], borders[1:], strict=True)
                    if winner[a] == index
                )
                if path:
                    bars.append(tag("path", d=path, cls=phase))
        return bars

    def _cycle_numbers(self, rank: int, y: float) -> list[Markup]:
        """Numbers of the cycles in their Exchange bars, as many as there is room for."""
        cycles = [event for event in self.events.ranks[rank] if event.phase == "exchange"]
        if not cycles:
            return []
        widths = [(event.end_us - event.begin_us) / self.span * PLOT for event in cycles]
        room = sorted(widths)[len(widths) // 2]
        step = next((s for s in (1, 2, 5, 10, 20, 50, 100) if s * room >= 22), 0)
        return [
            tag(
                "text",
                str(event.cycle),
                x=GUTTER + (self.x(event.begin_us) + self.x(event.end_us)) / 2 / UNITS * PLOT,
                y=y + self.row * (1 - 0.5 / len(self.lanes)) + 3,
                data_u=round((self.x(event.begin_us) + self.x(event.end_us)) / 2),
            )
            for event, width in zip(cycles, widths, strict=True)
            if step and event.cycle % step == 0 and width >= 9
        ]

    def _end_mark(self) -> Markup:
        at = GUTTER + self.x(self.events.end_us) / UNITS * PLOT
        took = format_seconds(self.events.span_us / 1e6)
        words = f"rank {self.events.last_rank()} is done last, {took}"
        right = at > GUTTER + PLOT / 2
        return tag(
            "g",
            tag("line", x1=at, x2=at, y1=14, y2=self.top + self.body),
            tag("text", words, x=at - 4 if right else at + 4, y=11,
                text_anchor="end" if right else "start"),
            cls="last",
            data_u=round(self.x(self.events.end_us)),
        )  # fmt: skip

    def says(self) -> str:
        """What is shown, and what is not."""
        words = ["◆ marks an aggregator; the numbers in the bars are cycles."]
        if self.lanes is BESIDE:
            words.append("Upper half of a row: the file; lower half: messages at the same time.")
        total = len(self.events.ranks)
        if len(self.ranks) < total:
            nodes = {self.node_of[rank] for rank in self.events.ranks}
            shown = {self.node_of[rank] for rank in self.ranks}
            words.append(
                f"Drawn are {len(self.ranks)} of {total} ranks, on {len(shown)} of {len(nodes)} "
                "nodes: of each node its aggregators, then its lowest ranks; the ranks that were "
                f"done first ({self.events.first_rank()}) and last ({self.events.last_rank()}) are "
                "among them."
            )
        if self.bins:
            pixel = format_seconds(self.span / self.bins / 1e6)
            words.append(
                f"{self.intervals} intervals are drawn at a resolution of {pixel}: of what is "
                "shorter, the phase that takes most of the time is seen."
            )
        dropped = sum(rank.events_dropped for rank in self.report.ranks)
        if dropped:
            words.append(f"{dropped} events of this run were not kept and are missing here.")
        return " ".join(words)


def _area(low: NDArray[np.float64], high: NDArray[np.float64], scale: float, bottom: float) -> str:
    """Path of the steps between two stacked curves, over the whole width."""
    step = UNITS / len(low)
    path = [f"M0 {number(bottom - high[0] * scale)}"]
    for index, value in enumerate(high):
        path.append(f"V{number(bottom - value * scale)}H{round((index + 1) * step)}")
    for index in range(len(low) - 1, -1, -1):
        path.append(f"V{number(bottom - low[index] * scale)}H{round(index * step)}")
    return "".join(path) + "z"


def ticks(span: float, about: int) -> list[float]:
    """Round numbers from 0 to `span`, roughly `about` of them, 1, 2 or 5 times a power of ten."""
    if span <= 0:
        return [0.0]
    raw = span / about
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * 0.999)
    return [float(index * step) for index in range(int(span / step + 1e-9) + 1)]
