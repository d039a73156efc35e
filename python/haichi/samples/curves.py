"""Curves over message sizes: both axes logarithmic, a bound dashed where there is one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from haichi.report.markup import Markup, tag
from haichi.samples.view import Value as Measured
from haichi.units import byte_unit, format_bytes, format_seconds

WIDTH, HEIGHT = 520, 316
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 30, 24
COLOURS = 10
BREAK = 1.5  # over what is in proportion: no line is drawn across a change of protocol


@dataclass(frozen=True)
class Series:
    """One line and its name."""

    name: str
    values: Sequence[Measured]


@dataclass(frozen=True)
class Bound:
    """What can't be passed: bytes per second, and where the figure is from."""

    name: str
    rate: float


def times(title: str, series: Sequence[Series], bound: Bound | None = None) -> Markup | None:
    """Time over bytes."""
    return _figure(title, series, "time", _time_text, lambda v: v.median, bound)


def rates(title: str, series: Sequence[Series], bound: Bound | None = None) -> Markup | None:
    """Bytes per second over bytes."""
    return _figure(title, series, "bytes/s", _rate_text, lambda v: v.rate, bound)


def _time_text(value: float) -> str:
    return _short(format_seconds(value)) if value >= 1e-6 else f"{_plain(value * 1e9)} ns"


def _rate_text(value: float) -> str:
    for size, unit in ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")):
        if value >= size:
            return f"{_plain(value / size)} {unit}"
    return f"{_plain(value)} B/s"


def _short(text: str) -> str:
    number, _, unit = text.partition(" ")
    return f"{_plain(float(number))} {unit}"


def _plain(value: float) -> str:
    return f"{value:.3g}"


@dataclass(frozen=True)
class _Scale:
    """A logarithmic axis from `low` to `high`, drawn from `begin` to `end`."""

    low: float
    high: float
    begin: float
    end: float

    def at(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.begin + share * (self.end - self.begin)


def _figure(
    title: str,
    series: Sequence[Series],
    unit: str,
    text: Callable[[float], str],
    of: Callable[[Measured], float],
    bound: Bound | None,
) -> Markup | None:
    shown = [
        Series(each.name, [v for v in each.values if v.bytes > 0 and of(v) > 0]) for each in series
    ]
    shown = [each for each in shown if len(each.values) > 1][:COLOURS]
    if not shown:
        return None
    sizes = [value.bytes for each in shown for value in each.values]
    heights = [of(value) for each in shown for value in each.values]
    if bound:
        # As far as it helps to see; a bound far away would flatten the curves.
        far = [bound.rate if unit == "bytes/s" else size / bound.rate for size in (max(sizes),)]
        heights += [each for each in far if max(heights) / 30 < each < 30 * max(heights)]
    x = _Scale(min(sizes) / 1.3, max(sizes) * 1.3, LEFT, WIDTH - RIGHT)
    y = _Scale(*_decades(min(heights), max(heights)), HEIGHT - BOTTOM, TOP)
    parts = [*_grid(x, y, sizes, text)]
    if bound:
        parts += _bound(x, y, bound, unit)
    for index, each in enumerate(shown):
        parts += _line(x, y, each, of, text, index)
    svg = tag(
        "svg",
        tag("title", f"{title}: {unit} by bytes of {', '.join(each.name for each in shown)}"),
        tag("text", title, x=LEFT, y=16, cls="caption"),
        parts,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        cls="curves",
    )
    return tag("figure", tag("div", svg, cls="scroll"), _legend([s.name for s in shown], bound))


def _legend(names: Sequence[str], bound: Bound | None) -> Markup:
    """Names beside their colours, and what is dashed."""
    items = [
        tag("li", tag("span", cls=f"swatch s{index % COLOURS}"), name)
        for index, name in enumerate(names)
    ]
    if bound:
        words = f"{bound.name}: {_rate_text(bound.rate)}"
        items.append(tag("li", tag("span", cls="swatch dashed"), words))
    return tag("ul", items, cls="legend small")


def _decades(low: float, high: float) -> tuple[float, float]:
    """A little more than the values need, and never nothing."""
    room = max((high / low) ** 0.06, 1.15)
    return low / room, high * room


def _grid(x: _Scale, y: _Scale, sizes: Sequence[int], text: Callable[[float], str]) -> list[Markup]:
    parts = []
    for value in _round_values(y.low, y.high):
        at = y.at(value)
        parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=at, y2=at, cls="grid"))
        parts.append(tag("text", text(value), x=LEFT - 6, y=at + 4, text_anchor="end"))
    first, last = math.ceil(math.log2(min(sizes))), math.floor(math.log2(max(sizes)))
    step = max(2, 2 * math.ceil((last - first) / 16))
    for power in range(first + first % 2, last + 1, step):
        at = x.at(2.0**power)
        parts.append(tag("line", x1=at, x2=at, y1=TOP, y2=HEIGHT - BOTTOM, cls="grid"))
        size, unit = byte_unit(2.0**power)
        label = f"{2.0**power / size:.0f} {unit}"
        parts.append(tag("text", label, x=at, y=HEIGHT - BOTTOM + 16, text_anchor="middle"))
    parts.append(
        tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=HEIGHT - BOTTOM, y2=HEIGHT - BOTTOM, cls="axis")
    )
    return parts


def _round_values(low: float, high: float) -> list[float]:
    """Powers of ten; with 2 and 5 times these where there are few."""
    for factors in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        found = [
            factor * 10.0**power
            for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            for factor in factors
            if low <= factor * 10.0**power <= high
        ]
        if len(found) >= 3:
            return found
    return found


def _bound(x: _Scale, y: _Scale, bound: Bound, unit: str) -> list[Markup]:
    """The part of the bound that lies in the picture."""
    if unit == "bytes/s":
        if not y.low < bound.rate < y.high:
            return []
        at = y.at(bound.rate)
        return [tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=at, y2=at, cls="bound")]
    low, high = max(x.low, y.low * bound.rate), min(x.high, y.high * bound.rate)
    if low >= high:
        return []
    ends = {"x1": x.at(low), "x2": x.at(high)}
    ends |= {"y1": y.at(low / bound.rate), "y2": y.at(high / bound.rate)}
    return [tag("line", cls="bound", **ends)]


def _line(
    x: _Scale,
    y: _Scale,
    series: Series,
    of: Callable[[Measured], float],
    text: Callable[[float], str],
    index: int,
) -> list[Markup]:
    parts, path, before = [], "", None
    for value in series.values:
        at = f"{x.at(value.bytes):.1f} {y.at(of(value)):.1f}"
        path += ("L" if before and not _jumps(before, value) else "M") + at
        before = value
    parts.append(tag("path", d=path, cls="curve"))
    for value in series.values:
        title = f"{series.name}, {format_bytes(value.bytes)}: {text(of(value))}"
        if value.low and value.high:
            title += f"; median between {format_seconds(value.low)} and "
            title += format_seconds(value.high)
        parts.append(
            tag("circle", tag("title", title), cx=x.at(value.bytes), cy=y.at(of(value)), r=3,
                cls="dot")
        )  # fmt: skip
    return [tag("g", parts, cls=f"s{index % COLOURS}")]


def _jumps(small: Measured, large: Measured) -> bool:
    return large.above(small, BREAK * large.bytes / small.bytes)
