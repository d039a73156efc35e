"""`haichi record`: the command, its outputs and its exit codes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from haichi.advise.advise import advise
from haichi.advise.section import HEAD
from haichi.advise.section import section as advised
from haichi.mpi import Missing
from haichi.predict import by_table
from haichi.predict.changes import unchanged
from haichi.predict.machine import profile_for
from haichi.predict.section import section as predicted
from haichi.record.page import page
from haichi.record.read import Record, read
from haichi.record.sites import name_sites
from haichi.record.text import print_view
from haichi.record.usage import usage
from haichi.record.view import View
from haichi.report.load import ReportError
from haichi.report.markup import Markup, tag
from haichi.report.output import console, write_text

BAD_INPUT = 2


def record(
    file: Annotated[
        Path, typer.Argument(metavar="RECORD", help="What `haichi run --record` wrote.")
    ],
    html_file: Annotated[
        Path | None,
        typer.Option("--html", "-o", metavar="OUT", help="Write one self-contained HTML page."),
    ] = None,
    machine: Annotated[
        Path | None,
        typer.Option(
            "--machine",
            metavar="PROFILE",
            help="On the page, also what the program would take on that machine, and advice.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the sums as JSON (haichi.usage/1).")
    ] = False,
) -> None:
    """Show what a program did with MPI: where time goes by function, size and place of the program,
    who sends to whom, who waits, and which of its calls haichi can take part in.

    Exit code 2: a file could not be read or written.
    """
    try:
        found = read(file)
        view = View(found, name_sites(found.sites.values()))
        if machine and not html_file:
            raise ReportError("--machine is for the page of -o; haichi predict prints it")
        if html_file:
            further = _further(found, machine) if machine else []
            write_text(html_file, page(view, further))
    except ReportError as error:
        sys.stderr.write(f"haichi record: {error}\n")
        raise typer.Exit(BAD_INPUT) from None
    if as_json:
        sys.stdout.write(usage(view).model_dump_json(by_alias=True, indent=2) + "\n")
    elif not html_file:
        print_view(console(), view)


def _further(record: Record, machine: Path) -> list[Markup]:
    """What is predicted for a machine, and what would make the program faster there."""
    found = profile_for(record, machine)
    sections = [predicted(by_table.predict(unchanged(record), found, sensitivity=True))]
    try:
        made = advise(record, found, Path("haichi-advice")).made
        sections.append(advised(made))
    except Missing as error:
        sections.append(tag("section", tag("h2", HEAD), tag("p", f"No advice: {error}")))
    return sections
