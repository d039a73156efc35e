"""`haichi explain`: which algorithms a run's collectives took, what was tried, what it saved."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from haichi.report.load import ReportError, load
from haichi.report.model import Candidate, Collective, Report
from haichi.report.units import format_bytes, format_seconds, plural, printable

BAD_INPUT = 2
WIDTH_OF_FILES = 200  # columns: where nobody sees the edge, no cell of a table is cut
LIBRARY = "library"
OF_FILES = "two-phase "  # what begins so is no MPI function but a kind of collective access


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
    width = None if sys.stdout.isatty() else WIDTH_OF_FILES
    console = Console(highlight=False, width=width)
    try:
        reports = [load(path) for path in files]
    except ReportError as error:
        sys.stderr.write(f"haichi explain: {error}\n")
        raise typer.Exit(BAD_INPUT) from None
    for report in reports:
        print_choices(console, report)


def print_choices(console: Console, report: Report) -> None:
    """Prints every key of every communicator with its candidates."""
    console.print(printable(report.program.command), style="bold")
    if not report.collectives:
        console.print("  no collective was haichi's to choose for (see collectives.enable)")
    for collective in report.collectives:
        console.print()
        console.print(f"{title(collective)}: [bold]{collective.chosen or 'nothing yet'}[/bold]")
        console.print(f"  {verdict(collective)}")
        if any(candidate.trials for candidate in collective.candidates):
            console.print(_table(collective))


def title(collective: Collective) -> str:
    """`MPI_Alltoall, blocks from 1.00 KiB, 16 ranks on 4 nodes`."""
    size = collective.block_at_least
    blocks = "blocks of any size" if size is None else f"blocks from {format_bytes(size)}"
    if size is not None and collective.collective.startswith(OF_FILES):
        blocks = f"{format_bytes(size)} and more a rank"
    return (
        f"{collective.collective}, {blocks}, {plural(collective.ranks, 'rank')} on "
        f"{plural(collective.nodes, 'node')}"
    )


def verdict(collective: Collective) -> str:
    """One line: how often it was called, how it was chosen, what the choice saves a call."""
    text = f"{plural(collective.calls, 'call')}, {collective.why}"
    if not collective.locked:
        text += ", still trying"
    if collective.retries:
        text += f", tried anew {plural(collective.retries, 'time')}"
    return text + _saving(collective)


def _saving(collective: Collective) -> str:
    """Against the first candidate: the library's, or order and window as they are set. By calls
    that were no trials; with none of the first, by trials."""
    steady = [each for each in collective.candidates if each.steady_calls]
    times = {each.name: each.steady_seconds / each.steady_calls for each in steady}
    first = collective.candidates[0].name if collective.candidates else ""
    if collective.candidates and collective.candidates[0].name not in times:
        times = {each.name: _median(each) for each in collective.candidates if each.trials}
    best, usual = times.get(collective.chosen), times.get(first)
    if best is None or usual is None or collective.chosen == first or best <= 0:
        return ""
    whose = "the library's" if first == LIBRARY else first
    return f"; {format_seconds(usual - best)} a call less than {whose}, {usual / best:.2f}x"


def _median(candidate: Candidate) -> float:
    return statistics.median(candidate.trials)


def _table(collective: Collective) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name, side in (
        ("  candidate", "left"),
        ("trials", "right"),
        ("median", "right"),
        ("÷ best", "right"),
        ("predicted", "right"),
        ("", "left"),
    ):
        table.add_column(name, justify=side)
    tried = [each for each in collective.candidates if each.trials]
    best = min(_median(each) for each in tried)
    for each in sorted(tried, key=_median):
        table.add_row(
            f"  {each.name}",
            str(len(each.trials)),
            format_seconds(_median(each)),
            f"{_median(each) / best:.2f}" if best > 0 else "-",
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


def summary_lines(collectives: Sequence[Collective]) -> list[str]:
    """A line for each key, for `haichi report`."""
    return [
        f"{title(each)}: {each.chosen or 'nothing yet'} ({verdict(each)})" for each in collectives
    ]
