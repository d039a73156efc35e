"""`haichi explain`: which algorithms a run's collectives took, what was tried, what it saved."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, JustifyMethod
from rich.table import Table

from haichi.report.choices import chosen, median_of, title, verdict
from haichi.report.load import ReportError, load
from haichi.report.model import Candidate, Collective, Report
from haichi.report.output import console
from haichi.units import format_seconds, printable

BAD_INPUT = 2


def explain(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Reports that runs wrote (HAICHI_REPORT=FILE)."),
    ],
) -> None:
    """Show how the algorithms of a run's collectives were chosen, and order and window of its
    exchanges.

    Exit code 2: a file could not be read.
    """
    try:
        reports = [load(path) for path in files]
    except ReportError as error:
        sys.stderr.write(f"haichi explain: {error}\n")
        raise typer.Exit(BAD_INPUT) from None
    out = console()
    for report in reports:
        print_choices(out, report)


def print_choices(out: Console, report: Report) -> None:
    """Prints every key of every communicator with its candidates."""
    out.print(printable(report.program.command), style="bold")
    if not report.collectives:
        out.print("  no collective was haichi's to choose for (see collectives.enable)")
    for collective in report.collectives:
        out.print()
        out.print(f"{title(collective)}: [bold]{chosen(collective)}[/bold]")
        out.print(f"  {verdict(collective)}")
        if any(candidate.trials for candidate in collective.candidates):
            out.print(_table(collective))


def _table(collective: Collective) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    columns: tuple[tuple[str, JustifyMethod], ...] = (
        ("  candidate", "left"),
        ("trials", "right"),
        ("median", "right"),
        ("÷ best", "right"),
        ("predicted", "right"),
        ("", "left"),
    )
    for name, side in columns:
        table.add_column(name, justify=side)
    tried = [each for each in collective.candidates if each.trials]
    best = min(median_of(each) for each in tried)
    for each in sorted(tried, key=median_of):
        table.add_row(
            f"  {each.name}",
            str(len(each.trials)),
            format_seconds(median_of(each)),
            f"{median_of(each) / best:.2f}" if best > 0 else "-",
            _predicted(each),
            _fate(each, collective),
        )
    for each in collective.candidates:
        if not each.trials:
            table.add_row(f"  {each.name}", "0", "-", "-", _predicted(each), _untried(each))
    return table


def _predicted(candidate: Candidate) -> str:
    seconds = candidate.predicted_seconds
    return "" if seconds is None else format_seconds(seconds)


def _untried(candidate: Candidate) -> str:
    return f"not tried: {candidate.reason}" if candidate.reason else "not tried"


def _fate(candidate: Candidate, collective: Collective) -> str:
    if candidate.name == collective.chosen:
        return "chosen" if collective.locked else "best so far"
    return "dropped" if candidate.dropped else ""
