"""Advice on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from haichi.advise.check import ADVISED, AS_IT_IS, Checked
from haichi.advise.model import Advice, AdviceList
from haichi.predict.span import Span
from haichi.predict.text import span
from haichi.report.output import say
from haichi.units import format_seconds, plural, printable


def print_advice(console: Console, made: AdviceList) -> None:
    """What gains most first."""
    program = printable(" ".join(made.program))
    where = f" on {printable(made.machine)}" if made.machine else ""
    say(
        console,
        f"{program}: {plural(made.ranks, 'rank')}, {format_seconds(made.recorded_s)}{where}",
    )
    if not made.advice:
        say(console, "nothing to change was found")
    for number, each in enumerate(made.advice, 1):
        say(console, "")
        say(console, f"{number}. {each.title}: {gain_words(each)}")
        say(console, f"   {printable(each.why)}")
        for line in each.paste:
            say(console, f"     {printable(line)}")
    if made.notes:
        say(console, "")
    for note in made.notes:
        say(console, f"note: {printable(note)}")


def print_check(console: Console, found: Checked) -> None:
    """What was predicted of the advised placement, beside what was measured."""
    print_advice(console, found.advice)
    say(console, "")
    if found.advice.placement is None:
        say(console, "nothing was checked, as there is no advice on where ranks belong")
        return
    runs = found.measured
    console.print(_table(found))
    say(
        console,
        f"{plural(len(runs[AS_IT_IS]), 'run')} each, in turns; seconds from MPI_Init to "
        "MPI_Finalize of the slowest rank: median, least to most",
    )
    if found.elsewhere:
        say(console, f"the launcher did not do as told: {found.elsewhere}")
    say(console, found.verdict)


def _table(found: Checked) -> Table:
    table = Table("")
    for heading in ("predicted", "measured"):
        table.add_column(heading, justify="right")
    foreseen = found.foreseen
    for way, predicted in (
        (AS_IT_IS, foreseen.before if foreseen else None),
        (ADVISED, foreseen.after if foreseen else None),
    ):
        times = found.measured[way]
        table.add_row(
            way,
            _span(predicted),
            f"{format_seconds(found.median(way))}, {_span(Span(min(times), max(times)))}",
        )
    gained = f"{_signed(found.gained)}, {_signed(found.spread.low)} to {_signed(found.spread.high)}"
    table.add_row("gain", _span(found.predicted), gained)
    return table


def _span(found: Span | None) -> str:
    return f"{_signed(found.low)} to {_signed(found.high)}" if found else "no figure"


def _signed(seconds: float) -> str:
    return f"-{format_seconds(-seconds)}" if seconds < 0 else format_seconds(seconds)


def gain_words(advice: Advice) -> str:
    """What it gains, or why that is not known."""
    recorded = (
        f" of {format_seconds(advice.recorded_s)} recorded" if advice.recorded_s is not None else ""
    )
    if advice.gain_s is not None:
        return f"gains {span(advice.gain_s)}{recorded}"
    return f"no figure{recorded}, as {advice.unknown}"
