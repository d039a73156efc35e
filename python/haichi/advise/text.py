"""Advice on the terminal."""

from __future__ import annotations

from rich.console import Console

from haichi.advise.model import Advice, AdviceList
from haichi.predict.text import span
from haichi.report.output import say
from haichi.report.units import format_seconds, plural, printable


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


def gain_words(advice: Advice) -> str:
    """What it gains, or why that is not known."""
    recorded = (
        f" of {format_seconds(advice.recorded_s)} recorded" if advice.recorded_s is not None else ""
    )
    if advice.gain_s is not None:
        return f"gains {span(advice.gain_s)}{recorded}"
    return f"no figure{recorded}, as {advice.unknown}"
