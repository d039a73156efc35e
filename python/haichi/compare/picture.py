"""A comparison of samples as one picture: a row for each measurement, a mark for each size, at its
ratio on a logarithmic axis, over the band of the noise."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from html import escape

from haichi import chart
from haichi.compare.model import ComparedPoint, Comparison, Verdict
from haichi.compare.show import headline
from haichi.units import format_bytes, printable, shortened

ROWS = 60
ROW, LEFT, WIDTH, TOP, BOTTOM = 20, 270, 560, 78, 40
COLOURS: dict[Verdict, str] = {
    "slower": "#b3261e",
    "faster": "#1a6b3c",
    "same": "#8a919c",
    "unclear": "#c9ced6",
    "one launch": "#c9ced6",
}
NARROWEST = 1.05  # half of the axis, as a ratio
STEPS = (1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000)


def picture(found: Comparison) -> str:
    """The SVG; of many measurements those that differ most."""
    rows: dict[tuple[str, str], list[ComparedPoint]] = defaultdict(list)
    for point in found.points:
        rows[point.name, point.place].append(point)
    shown = sorted(rows, key=lambda key: -max(map(_weight, rows[key])))[:ROWS]
    farthest = max((abs(math.log(p.ratio)) for key in shown for p in rows[key]), default=0)
    axis = _Axis(max(farthest * 1.08, math.log(NARROWEST)))
    height = TOP + ROW * len(shown) + BOTTOM
    parts = [
        f'<text x="12" y="22" font-size="15" font-weight="bold">{escape(headline(found))}</text>'
    ]
    parts += _legend()
    parts += axis.marks(TOP - 6, height - BOTTOM)
    for index, key in enumerate(shown):
        parts += _row(axis, TOP + ROW * index, key, rows[key])
    if len(rows) > len(shown):
        left = len(rows) - len(shown)
        parts.append(f'<text x="12" y="{height - 10}">and {left} measurements nearer to 1</text>')
    across = "B ÷ A of launches' medians; to the right B takes longer"
    parts.append(chart.below(LEFT + WIDTH / 2, height - 10, across))
    return chart.drawing(LEFT + WIDTH + 30, height, escape(headline(found)), parts)


def _weight(point: ComparedPoint) -> float:
    """What has a verdict comes before what has none."""
    return abs(math.log(point.ratio)) + (1000 if point.verdict in ("slower", "faster") else 0)


class _Axis:
    """Logarithms of ratios up to `half` on both sides of 1."""

    def __init__(self, half: float) -> None:
        self.half = half

    def x(self, ratio: float) -> float:
        """Where a ratio lies."""
        share = max(-1.0, min(1.0, math.log(ratio) / self.half))
        return LEFT + WIDTH / 2 * (1 + share)

    def marks(self, top: int, bottom: int) -> list[str]:
        """Lines at ratios that are easy to read, with their numbers above."""
        inside = [step for step in STEPS if math.log(step) <= self.half]
        ticks = [1.0, *inside[-4:], *(1 / step for step in inside[-4:])]
        parts, taken = [], [-99.0]
        for tick in sorted(ticks, key=lambda each: abs(math.log(each))):
            x = self.x(tick)
            if min(abs(x - each) for each in taken) < 46:
                continue
            taken.append(x)
            ink = "#888" if tick == 1 else "#e3e6ea"
            parts.append(f'<path d="M{x:.1f} {top}V{bottom}" stroke="{ink}"/>')
            parts.append(chart.below(x, top - 4, f"{tick:.3g}×"))
        return parts


def _legend() -> list[str]:
    words: Sequence[tuple[Verdict, str]] = (
        ("slower", "B is slower"),
        ("faster", "B is faster"),
        ("same", "the same within the noise"),
        ("unclear", "can't be told"),
    )
    parts, x = [], 18
    for verdict, text in words:
        parts.append(f'<circle cx="{x}" cy="42" r="5" fill="{COLOURS[verdict]}"/>')
        parts.append(f'<text x="{x + 10}" y="46">{text}</text>')
        x += 40 + 7 * len(text)
    parts.append(f'<rect x="{x}" y="37" width="24" height="10" fill="#eef1f5"/>')
    parts.append(f'<text x="{x + 30}" y="46">noise</text>')
    return parts


def _row(axis: _Axis, y: int, key: tuple[str, str], points: Sequence[ComparedPoint]) -> list[str]:
    name = shortened(printable(f"{key[0]}, {key[1]}"), 40)
    middle = y + ROW / 2
    band = max(point.band for point in points)
    low, high = axis.x(1 / (1 + band)), axis.x(1 + band)
    parts = [
        f'<rect x="{low:.1f}" y="{y}" width="{high - low:.1f}" height="{ROW}" fill="#eef1f5"/>',
        f'<text x="{LEFT - 10}" y="{middle + 4}" text-anchor="end">{escape(name)}</text>',
    ]
    for point in sorted(points, key=_weight):
        parts.append(_mark(axis, middle, point))
    return parts


def _mark(axis: _Axis, y: float, point: ComparedPoint) -> str:
    colour = COLOURS[point.verdict]
    line = ""
    if point.low is not None and point.high is not None and point.verdict in ("slower", "faster"):
        low, high = axis.x(point.low), axis.x(point.high)
        line = f'<path d="M{low:.1f} {y}H{high:.1f}" stroke="{colour}"/>'
    size = f"{format_bytes(point.bytes)}: " if point.bytes else ""
    title = escape(f"{printable(point.name)}, {size}{point.ratio:.3f}, {point.verdict}")
    return (
        f"<g><title>{title}</title>{line}"
        f'<circle cx="{axis.x(point.ratio):.1f}" cy="{y}" r="4.5" fill="{colour}" '
        'stroke="#fff"/></g>'
    )
