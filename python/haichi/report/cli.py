"""`haichi report`: the command, its outputs and its exit codes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from haichi.report import html, perfetto
from haichi.report.load import ReportError, load
from haichi.report.logs import last_left
from haichi.report.output import console, write_text
from haichi.report.summary import summarize
from haichi.report.text import print_runs
from haichi.samples.health_part import is_health
from haichi.samples.read import is_samples
from haichi.samples.report import report_samples
from haichi.units import printable

BAD_INPUT = 2


def report(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Reports that runs wrote (HAICHI_REPORT=FILE), or samples of haichi measure.",
        ),
    ],
    html_file: Annotated[
        Path | None,
        typer.Option("--html", "-o", metavar="OUT", help="Write one self-contained HTML page."),
    ] = None,
    perfetto_file: Annotated[
        Path | None,
        typer.Option("--perfetto", metavar="OUT", help="Write a trace for ui.perfetto.dev."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the figures as JSON (haichi.summary/1).")
    ] = False,
) -> None:
    """Show what haichi did in a run, why, and what it cost; compare several runs. Of samples, show
    what MPI does on the machine, and what is odd there.

    Prints text unless an output file or --json is asked for.

    Exit code 2: a file could not be read or written.
    """
    try:
        healths = [path for path in files if is_health(path)]
        rest = [path for path in files if path not in healths]
        if healths or any(is_samples(path) for path in rest):
            report_samples(rest, healths, html_file, of_runs=bool(perfetto_file or as_json))
            return
        runs, summary = summarize(files, [load(path) for path in files])
        for path in files:
            tell_of_later_logs(path)
        if html_file:
            write_text(html_file, html.page(runs, summary))
        if perfetto_file:
            write_text(perfetto_file, perfetto.trace(runs))
    except ReportError as error:
        sys.stderr.write(f"haichi report: {error}\n")
        raise typer.Exit(BAD_INPUT) from None
    if as_json:
        sys.stdout.write(summary.model_dump_json(by_alias=True, indent=2) + "\n")
    elif not html_file and not perfetto_file:
        print_runs(console(), runs, summary)


def tell_of_later_logs(path: Path) -> None:
    """One line on standard error if a later run was to write `path`, and did not come to that."""
    logs = last_left(path) if path.is_file() else []
    if logs and logs[0].stat().st_mtime > path.stat().st_mtime:
        sys.stderr.write(
            f"{printable(str(path))} is of an earlier run: a later one that was cut short, or goes "
            f"on, has left {printable(str(logs[0]))}; name that to see it\n"
        )
