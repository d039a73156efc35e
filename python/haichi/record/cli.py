"""`haichi record`: the command, its outputs and its exit codes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from haichi.record.page import page
from haichi.record.read import read
from haichi.record.sites import name_sites
from haichi.record.text import print_view
from haichi.record.usage import usage
from haichi.record.view import View
from haichi.report.load import ReportError
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
        if html_file:
            write_text(html_file, page(view))
    except ReportError as error:
        sys.stderr.write(f"haichi record: {error}\n")
        raise typer.Exit(BAD_INPUT) from None
    if as_json:
        sys.stdout.write(usage(view).model_dump_json(by_alias=True, indent=2) + "\n")
    elif not html_file:
        print_view(console(), view)
