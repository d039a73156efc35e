"""What the drawn charts have in common: SVG by hand, sizes in pixels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


def drawing(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    """A whole SVG with a white ground."""
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="12" fill="#222">',
        f"<title>{title}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    return "\n".join([*head, *parts, "</svg>", ""])


def below(x: float, y: float, text: object) -> str:
    """A mark of the axis across."""
    return f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{text}</text>'


def stroke(colour: str, dashes: str = "") -> str:
    """How a line looks."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'fill="none" stroke="{colour}" stroke-width="1.6"{dashed}'


def legend(strokes: Mapping[str, str], left: int, apart: int, y: int) -> list[str]:
    """Names with a piece of their lines, side by side."""
    parts = []
    for place, (name, look) in enumerate(strokes.items()):
        x = left + place * apart
        parts.append(f'<path d="M{x} {y - 4}h28" {look}/>')
        parts.append(f'<text x="{x + 34}" y="{y}">{name}</text>')
    return parts


@dataclass(frozen=True)
class Panel:
    """The ground of one chart."""

    left: int
    top: int
    width: int
    height: int
    most: int  # the value at its top; 0 is at the bottom

    @property
    def bottom(self) -> int:
        """Where the axis across lies."""
        return self.top + self.height

    def up(self, value: float) -> float:
        """Where a value lies."""
        return self.bottom - value * self.height / self.most

    def levels(self, step: int = 1, unit: str = "") -> list[str]:
        """A line across at every `step`, with its value."""
        parts = []
        for value in range(0, self.most + 1, step):
            y = self.up(value)
            parts.append(f'<path d="M{self.left} {y:.1f}h{self.width}" stroke="#ddd"/>')
            text = f"{value}{unit}"
            parts.append(
                f'<text x="{self.left - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
            )
        return parts

    def heading(self, text: str) -> str:
        """Above it."""
        return f'<text x="{self.left + 6}" y="{self.top - 8}" font-weight="bold">{text}</text>'

    def across(self, text: str) -> str:
        """What the axis across counts."""
        return f'<text x="{self.left + self.width / 2:.0f}" y="{self.bottom + 34}">{text}</text>'

    def line(self, points: Iterable[tuple[float, float]], look: str) -> str:
        """A line through (pixels across, value)."""
        at = " ".join(f"{x:.1f},{self.up(value):.1f}" for x, value in points)
        return f'<polyline points="{at}" {look}/>'
