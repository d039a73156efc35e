"""`haichi compare -- PROGRAM…`: the runs, in turns, and what is said of them."""

from __future__ import annotations

import os
import shlex
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from haichi import jobs, paths
from haichi.compare.launcher_line import Unclear, with_haichi
from haichi.compare.result import Runs, headline
from haichi.compare.turns import RunFailed, failure, in_turns
from haichi.figures import record
from haichi.report import html
from haichi.report.findings import findings
from haichi.report.load import ReportError, load
from haichi.report.output import say, write_text
from haichi.report.summary import Run, summarize
from haichi.units import format_bytes, format_seconds, plural

BAD_INPUT, FAILED = 2, 1
STOCK, HAICHI = "stock", "haichi"
OPTIONS = {STOCK: ["--observe"], HAICHI: []}


def compare_ways(command: Sequence[str], repetitions: int, out: Path, timeout: float) -> None:
    """Runs the command `repetitions` times each way, in turns, prints what was gained, and leaves
    reports, outputs and the page in `out`.

    Raises:
        typer.Exit: a run failed, or the command is not understood; a line says why.
    """
    console = record.console()
    runs = {STOCK: Runs(), HAICHI: Runs()}
    try:
        paths.empty_folder(out)
        for number, way in in_turns((STOCK, HAICHI), repetitions):
            console.print(f"[dim]{number}/{repetitions}  {way}[/dim]")
            _run(command, way, number, out, timeout, runs[way])
        shown, page = _page(runs, out)
    except (Unclear, ReportError, OSError) as error:
        sys.stderr.write(f"haichi compare: {error}\n")
        raise typer.Exit(BAD_INPUT) from None
    except RunFailed as error:
        sys.stderr.write(f"haichi compare: {error}\n")
        raise typer.Exit(FAILED) from None
    _print(console, command, runs)
    for finding in findings(shown[0].report, shown[0].facts):  # of the program as it is
        say(console, f"- {finding}")
    console.print(f"both beside each other, and why:  {page}")


def _run(
    command: Sequence[str], way: str, number: int, out: Path, timeout: float, runs: Runs
) -> None:
    report = (out / f"{way}-{number}.json").absolute()
    options = [*OPTIONS[way], "--report", str(report)]
    words = with_haichi(command, str(paths.program("haichi")), options)
    done = jobs.run(words, os.environ, timeout=timeout)
    (out / f"{way}-{number}.out").write_text(done.out)
    (out / f"{way}-{number}.err").write_text(done.err)
    if done.code:
        raise RunFailed(f"run {number}, {way}: {failure(done, words, timeout)}")
    if not report.exists():
        raise RunFailed(
            f"run {number}, {way}: no report: is {command[-1]!r} part of an MPI program that calls "
            "MPI_Finalize, dynamically linked?"
        )
    runs.add(done.seconds, load(report))


def _page(runs: dict[str, Runs], out: Path) -> tuple[list[Run], Path]:
    """The run of each way that stands for its others, and their page."""
    numbers = {way: each.median_run() for way, each in runs.items()}
    files = [out / f"{way}-{number + 1}.json" for way, number in numbers.items()]
    reports = [runs[way].reports[number] for way, number in numbers.items()]
    summarized, summary = summarize(files, reports)
    page = out / "compare.html"
    write_text(page, html.page(summarized, summary))
    return summarized, page


def _print(console: Console, command: Sequence[str], runs: dict[str, Runs]) -> None:
    stock, haichi = runs[STOCK], runs[HAICHI]
    console.print(f"\n[bold]{headline(stock, haichi)}[/bold]")
    say(console, shlex.join(command))
    first = stock.reports[0]
    console.print(
        f"{plural(first.program.ranks, 'rank')} on "
        f"{plural(len(first.placement.nodes), 'node')}; "
        f"{plural(first.access_calls(), 'collective file call')} of a rank, "
        f"{format_bytes(first.access_bytes())} in all; {record.what_figures_are(len(stock.whole))}"
    )
    table = Table()
    table.add_column("")
    for way in runs:
        table.add_column(way, justify="right")
    for what, name in (("as a whole", "whole"), ("collective file access", "access")):
        table.add_row(what, *(_times(getattr(each, name)) for each in runs.values()))
    console.print(table)
    if listed := haichi.reports[0].calls():
        console.print(
            f"of {plural(len(listed), 'listed call')} haichi carried out "
            f"{sum(call.handled for call in listed)}, and left the others to the MPI library"
        )


def _times(seconds: Sequence[float]) -> str:
    middle = statistics.median(seconds)
    if len(seconds) == 1:
        return format_seconds(middle)
    least, most = format_seconds(min(seconds)), format_seconds(max(seconds))
    return f"{format_seconds(middle)} \\[{least}–{most}]"
