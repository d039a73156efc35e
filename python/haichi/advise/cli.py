"""`haichi advise`: the command, its outputs and its exit codes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from haichi.advise.advise import advise as advise_on
from haichi.advise.paste import Notation
from haichi.advise.text import print_advice
from haichi.mpi import Missing
from haichi.predict.machine import FoundProfile, profile_for
from haichi.record.read import Record, read
from haichi.report.load import ReportError
from haichi.report.output import console

BAD_INPUT = 2


def advise(
    file: Annotated[
        Path, typer.Argument(metavar="RECORD", help="What `haichi run --record` wrote.")
    ],
    machine: Annotated[
        Path | None,
        typer.Option(
            "--machine",
            metavar="PROFILE",
            help="What `haichi fit` wrote; without, that of the record's machine as `haichi run` "
            "finds it. Gains in time need it.",
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            "-o",
            "--out",
            metavar="FOLDER",
            help="Where the files of the advised placement go: rank file and lists of hosts.",
        ),
    ] = Path("haichi-advice"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print it as JSON (haichi.advice/1), and write no file.")
    ] = False,
) -> None:
    """Say what would make a recorded program faster, what gains most first: where its ranks belong,
    with the lines to paste, and which of its calls cost more than they need.

    Exit code 2: a file could not be read or written.
    """
    try:
        record = read(file)
        made, files = advise_on(record, _profile(record, machine), out)
        if as_json:
            sys.stdout.write(made.model_dump_json(by_alias=True, indent=2) + "\n")
            return
        _write(out, files)
    except (ReportError, Missing) as error:
        sys.stderr.write(f"haichi advise: {error}\n")
        raise typer.Exit(BAD_INPUT) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        sys.stderr.write(f"haichi advise: {out}: {reason}; name another folder by --out\n")
        raise typer.Exit(BAD_INPUT) from None
    print_advice(console(), made)


def _profile(record: Record, named: Path | None) -> FoundProfile | None:
    """The named one, or one that is found; none is no error, as bytes need no profile."""
    try:
        return profile_for(record, named)
    except ReportError:
        if named is not None:
            raise
        return None


def _write(folder: Path, files: list[Notation]) -> None:
    for each in files:
        if each.file:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / each.file).write_text(each.content)
