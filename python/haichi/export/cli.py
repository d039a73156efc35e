"""`haichi export`: the command, its outputs and its exit codes. Choices become rules of an MPI
library, samples tables, and a record what LogGOPSim simulates."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Protocol

import typer

from haichi.export import mpich, openmpi, ucc
from haichi.export.known import Kind, read
from haichi.export.rules import Candidate, Own, Rule, rules
from haichi.record.goal import write_goal
from haichi.report.load import ReportError
from haichi.report.output import write_text
from haichi.samples import read as samples
from haichi.samples.export import csv_text, imb_text, osu_text
from haichi.units import printable

BAD_INPUT = 2


class To(StrEnum):
    """Who shall read the rules."""

    OPENMPI = "openmpi"
    OPENMPI_JSON = "openmpi-json"
    MPICH = "mpich"
    UCC = "ucc"
    CSV = "csv"
    OSU = "osu"
    IMB = "imb"
    GOAL = "goal"


TABLES = {To.CSV: csv_text, To.OSU: osu_text, To.IMB: imb_text}


class Format(Protocol):
    """What is known of one library: which of its algorithms is like a candidate of haichi's, and
    how its rules are written."""

    title: str

    def own(self, kind: Kind, candidate: Candidate) -> Own | None:
        """The library's algorithm; None if it has nothing like it."""

    def text(self, rules: list[Rule]) -> str:
        """The rules, sorted by function, ranks and size, as the library reads them."""


def export(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Reports (HAICHI_REPORT=FILE) or decisions (collectives.decisions) of runs; for "
            "csv, osu and imb samples of haichi measure; for goal a record with sequences.",
        ),
    ],
    to: Annotated[To, typer.Option("--to", help="Who shall read it.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="OUT", help="Write here, not to the screen.")
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option(
            "--base",
            metavar="BASE",
            help="With --to mpich: MPICH's library (libmpich.so or libmpi.so), or a selection "
            "file, which the rules are put into.",
        ),
    ] = None,
) -> None:
    """Write what trials found out as rules that the MPI library reads itself, without haichi; or
    samples as a table: CSV, or the columns of the OSU benchmarks or of IMB; or the calls of a
    record as GOAL.

    Exit code 2: a file could not be read or written, or there is nothing to export.
    """
    try:
        if to is To.GOAL:
            _say(as_goal(files, out, base))
            return
        text, notes = tabled(files, to, base) if to in TABLES else exported(files, to, base)
        _say(notes)
        if out:
            write_text(out, text)
        else:
            sys.stdout.write(text)
    except ReportError as error:
        sys.stderr.write(f"haichi export: {error}\n")
        raise typer.Exit(BAD_INPUT) from None


def _say(notes: list[str]) -> None:
    for note in notes:
        sys.stderr.write(f"haichi export: {note}\n")


def as_goal(files: list[Path], out: Path | None, base: Path | None) -> list[str]:
    """Writes a record as GOAL; what was left out, a line each.

    Raises:
        ReportError: as write_goal(); or there are several files, no --out, or --base.
    """
    if base is not None:
        raise ReportError("--base is for --to mpich, not for goal")
    if out is None or len(files) != 1:
        raise ReportError("--to goal takes one record, and --out: GOAL has no loops and is long")
    return write_goal(files[0], out)


def tabled(files: list[Path], to: To, base: Path | None) -> tuple[str, list[str]]:
    """Samples as a table; what was left out, a line each.

    Raises:
        ReportError: a file can't be read or is of no samples, or --base was given.
    """
    if base is not None:
        raise ReportError(f"--base is for --to mpich, not for {to}")
    found = [samples.read(path) for path in files]
    cut = [printable(str(each.path)) for each in found if each.cut]
    return TABLES[to](found), [f"{name} is cut off: its last line is left out" for name in cut]


def exported(files: list[Path], to: To, base: Path | None) -> tuple[str, list[str]]:
    """The rules as a text, and what was lost on the way, a line each.

    Raises:
        ReportError: as read(); or the files are of another MPI library, or no rule is left.
    """
    if (base is None) == (to is To.MPICH):
        raise ReportError(
            "--to mpich needs --base, the library or a selection file: MPICH reads complete files"
            if base is None
            else f"--base is for --to mpich, not for {to}"
        )
    findings = read(files)
    form = _format(to, findings.library, base)
    if to is not To.UCC and not findings.library.startswith(form.title):
        raise ReportError(
            f"{printable(str(files[0]))} is of {printable(findings.library)}: its times say "
            f"nothing of {form.title}; run the program with that"
        )
    made, notes = rules(findings.all, form.own, form.title)
    notes = findings.notes + notes
    if not made:
        why = "; ".join(notes) or "its own rule was the fastest everywhere"
        raise ReportError(f"nothing to tell {form.title}: {why}")
    return form.text(made), notes


def _format(to: To, library: str, base: Path | None) -> Format:
    if base is not None:
        return mpich.Selection(base)
    if to is To.OPENMPI:
        return openmpi.Classic(library)
    return openmpi.Json() if to is To.OPENMPI_JSON else ucc.Tune()
