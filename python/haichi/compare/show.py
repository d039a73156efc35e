"""A comparison of samples on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from haichi.compare.model import ComparedPoint, Comparison, Side, Verdict
from haichi.report.output import say
from haichi.units import format_bytes, format_seconds, plural

ROWS = 40
COLOURS: dict[Verdict, str] = {"slower": "red", "faster": "green"}
WORDS: dict[Verdict, str] = {
    "slower": "slower",
    "faster": "faster",
    "same": "the same within the noise",
    "unclear": "that can't be told",
    "one launch": "with one launch only",
}


def print_comparison(console: Console, found: Comparison, *, every: bool) -> None:
    """The verdict, the table of what differs (of all points with `every`), and the notes."""
    console.print(f"[bold]{headline(found)}[/bold]")
    for letter, side in (("A", found.a), ("B", found.b)):
        say(console, f"{letter}: {_side(side)}")
    shown = found.points if every else [*found.of("slower"), *found.of("faster")]
    if not every and not shown:
        shown = found.of("one launch")
    if shown:
        console.print(_table(shown if every else shown[:ROWS]))
    if not every and len(shown) > ROWS:
        console.print(f"and {len(shown) - ROWS} more (--all)")
    for note in found.notes:
        say(console, f"- {note}")


def headline(found: Comparison) -> str:
    """How many points B is slower at, and so on, in one line."""
    parts = []
    for verdict, words in WORDS.items():
        points = found.of(verdict)
        if verdict == "slower" or points:
            worst = f" (up to {factor(points[0])})" if verdict in COLOURS and points else ""
            parts.append(f"{len(points)} {words}{worst}")
    return f"B against A at {plural(len(found.points), 'point')}: {', '.join(parts)}"


def factor(point: ComparedPoint) -> str:
    """The ratio as a factor over 1."""
    return f"{max(point.ratio, 1 / point.ratio):.2f}×"


def _side(side: Side) -> str:
    files = side.files[0] if len(side.files) == 1 else f"{side.files[0]} … {side.files[-1]}"
    under = ", haichi on and off" if len(side.under) > 1 else ", under haichi" * side.under[0]
    libraries = " and ".join(library.partition(",")[0] for library in side.libraries)
    launches = plural(side.launches, "launch", "launches")
    return f"{launches} of {libraries}{under}; {files}"


def _table(points: Sequence[ComparedPoint]) -> Table:
    table = Table("measurement", "place")
    for heading in ("bytes", "A", "B", "B ÷ A", "95 %", "B slower in", "p", "noise"):
        table.add_column(heading, justify="right")
    table.add_column("B is")
    for point in points:
        colour = COLOURS.get(point.verdict)
        interval = "" if point.low is None else f"{point.low:.3g}–{point.high:.3g}"
        verdict = f"[{colour}]{point.verdict}[/{colour}]" if colour else point.verdict
        table.add_row(
            point.name,
            point.place,
            format_bytes(point.bytes) if point.bytes else "–",
            format_seconds(point.a),
            format_seconds(point.b),
            f"{point.ratio:.3f}" if 0.1 <= point.ratio < 10 else f"{point.ratio:.2g}",
            interval,
            f"{100 * point.superiority:.0f} %",
            "" if point.p_corrected is None else f"{point.p_corrected:.2g}",
            f"±{100 * point.band:.0f} %",
            verdict,
        )
    return table
