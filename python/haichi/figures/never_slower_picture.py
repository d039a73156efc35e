"""The distribution of stock ÷ haichi, beside stock ÷ stock, as an SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence

from haichi import chart
from haichi.figures.never_slower_figures import NEVER_SLOWER, Distribution, distribution

LEFT, TOP, WIDTH, HEIGHT = 56, 64, 620, 320
LEAST, MOST = 0.05, 20.0  # of a ratio; what is beyond is drawn there
MARKS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)
HAICHI, STOCK = "#1e8449", "#888"


def picture(title: str, ours: Sequence[float], stock: Sequence[float]) -> str:
    """The share of patterns up to each ratio."""
    panel = chart.Panel(LEFT, TOP, WIDTH, HEIGHT, 100)
    bottom = panel.bottom
    parts = [
        f'<text x="{LEFT}" y="22" font-size="14" font-weight="bold">{title}</text>',
        f'<text x="{LEFT}" y="42">Share of patterns whose ratio is at most that</text>',
        *panel.levels(20, " %"),
    ]
    for mark in MARKS:
        x = _across(mark)
        parts.append(f'<path d="M{x:.1f} {TOP}v{HEIGHT}" stroke="#ddd"/>')
        parts.append(chart.below(x, bottom + 16, f"{mark:g}"))
    parts.append(
        f'<path d="M{_across(NEVER_SLOWER):.1f} {TOP}v{HEIGHT}" stroke="#c0392b" '
        'stroke-dasharray="4 3"/>'
    )
    parts.append(
        f'<text x="{LEFT + WIDTH / 2:.0f}" y="{bottom + 34}" text-anchor="middle">'
        f"times faster; dashed: {NEVER_SLOWER}</text>"
    )
    for values, colour, name, y in (
        (stock, STOCK, "stock ÷ stock", bottom + 78),
        (ours, HAICHI, "stock ÷ haichi", bottom + 58),
    ):
        parts.append(_steps(values, colour))
        parts.append(f'<path d="M{LEFT} {y - 4}h24" stroke="{colour}" stroke-width="3"/>')
        parts.append(f'<text x="{LEFT + 32}" y="{y}">{name}: {words(distribution(values))}</text>')
    return chart.drawing(LEFT + WIDTH + 20, TOP + HEIGHT + 96, title, parts)


def words(found: Distribution | None) -> str:
    """The figures in words."""
    if found is None:
        return "none"
    return (
        f"{found.count} ratios, median {found.median:.2f}, geometric mean {found.mean:.2f}, "
        f"worst {found.worst:.2f}, {100 * found.share:.1f} % at least {NEVER_SLOWER}"
    )


def _across(ratio: float) -> float:
    at = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LEFT + at * WIDTH


def _steps(values: Sequence[float], colour: str) -> str:
    path = f"M{LEFT} {TOP + HEIGHT}"
    for number, value in enumerate(sorted(values), 1):
        path += f"H{_across(value):.1f}V{TOP + HEIGHT - number * HEIGHT / len(values):.1f}"
    return f'<path d="{path}H{LEFT + WIDTH}" fill="none" stroke="{colour}" stroke-width="2"/>'
