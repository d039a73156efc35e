"""A profile on the terminal: its numbers, its pieces, and what it lacks."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from haichi.fit.model import CollectiveCurve, Number, Profile
from haichi.fit.profile import Fit
from haichi.report.output import say
from haichi.units import format_bytes, format_seconds, plural

WIDE = 1.5  # times: ends of an interval that is no figure any more


def print_fit(console: Console, fit: Fit) -> None:
    """Numbers, models and residuals, then a line for each thing that is not there."""
    profile = fit.profile
    console.print(f"[bold]{profile.name}[/bold]", highlight=False, soft_wrap=True)
    console.print(_numbers(profile))
    for line in _models(profile):
        say(console, line)
    for line in _unsure(profile):
        say(console, f"unsure: {line}")
    for line in fit.lacking:
        say(console, f"left out: {line}")


def _numbers(profile: Profile) -> Table:
    table = Table("number")
    table.add_column("value", justify="right")
    table.add_column("interval", justify="right")
    table.add_column("from", overflow="fold")
    for name, number in profile.numbers.items():
        table.add_row(name, f"{number.value:.5g}", _interval(number), number.from_)
    return table


def _interval(number: Number) -> str:
    if number.low is None or number.high is None:
        return ""
    return f"{number.low:.5g} to {number.high:.5g}"


def _unsure(profile: Profile) -> list[str]:
    """Curves that have sizes whose interval is too wide for one figure."""
    lines = []
    if profile.made.launches == 1:
        lines.append(
            "all of it is of one launch, and one in a few is slow as a whole; three tell: "
            "haichi measure --quick --launches 3 --out FILE -- mpiexec ..."
        )
    for curve in profile.curves:
        wide = [
            size
            for size, low, high in zip(curve.bytes, curve.low or [], curve.high or [], strict=False)
            if high > WIDE * low
        ]
        if wide:
            lines.append(
                f"{curve.name} at {curve.place}, {plural(len(wide), 'size')} of "
                f"{len(curve.bytes)} known to {WIDE:g} times only, or its launches "
                "disagree; measure more of them or a quieter machine, or take the least (--least)"
            )
    return lines


def _models(profile: Profile) -> list[str]:
    lines = []
    for curve in profile.curves:
        for piece in curve.pieces:
            bound = f"{format_bytes(piece.from_)} to {format_bytes(piece.to)}"
            # A line that begins far from 0 bytes may well be below 0 there.
            sign = "-" if piece.latency_s < 0 else ""
            rate = f"{1 / piece.s_per_byte / 1e9:.4g} GB/s" if piece.s_per_byte > 0 else "no slope"
            lines.append(
                f"{curve.name} at {curve.place}, {bound}: "
                f"{sign}{format_seconds(abs(piece.latency_s))} and {rate}, "
                f"off by {100 * (piece.residual or 0):.1f} % in the mean"
            )
    for model in profile.loggp:
        lines.append(
            f"LogGP at {model.place}: L {format_seconds(model.latency_s)}, "
            f"o {format_seconds(model.o_send_s)} and {format_seconds(model.o_receive_s)}, "
            f"g {format_seconds(model.gap_s)}, G {model.gap_s_per_byte * 1e9:.4g} ns/B, "
            f"off by {100 * model.residual:.1f} % in the mean"
        )
    shapes = sorted({_shape(each) for each in profile.collectives})
    for ranks, nodes, oversubscribed in shapes:
        shape = (ranks, nodes, oversubscribed)
        names = [each.name for each in profile.collectives if _shape(each) == shape]
        label = " (more ranks than cores: no reference)" if oversubscribed else ""
        lines.append(f"collectives of {ranks} ranks on {nodes} nodes{label}: {', '.join(names)}")
    return lines


def _shape(curve: CollectiveCurve) -> tuple[int, int, bool]:
    return curve.ranks, curve.nodes, bool(curve.oversubscribed)
