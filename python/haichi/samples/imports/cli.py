"""`haichi import`: output of other benchmarks as samples, and GOAL as a record."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from haichi.record.goal import is_goal, record_of_goal
from haichi.report.load import ReportError
from haichi.report.output import write_text
from haichi.samples.imports import imb, ior, osu
from haichi.samples.imports.table import Output, records
from haichi.units import printable

BAD_INPUT = 2
BENCHMARKS: tuple[tuple[Callable[[str], bool], Callable[[str], Output]], ...] = (
    (ior.is_output, ior.read),
    (imb.is_output, imb.read),
    (osu.is_output, osu.read),
)


def import_(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="What an OSU micro-benchmark, the Intel MPI Benchmarks, or IOR in JSON printed; "
            "or GOAL, which LogGOPSim simulates.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="OUT", help="The samples file; of GOAL the record."),
    ],
    ranks: Annotated[
        int | None, typer.Option(min=1, help="Of the job, where the output does not tell.")
    ] = None,
    library: Annotated[
        str | None, typer.Option(metavar="NAME", help="The MPI library that it ran with.")
    ] = None,
) -> None:
    """Make a samples file of what another benchmark printed, or a record of GOAL.

    Such figures are means, except IOR's repetitions, and are marked so; `haichi compare` holds
    files of one benchmark against each other, a launch each.

    Exit code 2: the file can't be read, is of no benchmark that is known, or OUT can't be written.
    """
    try:
        if begins_as_goal(file):
            write_text(out, record_of_goal(file))
            return
        output = read(file)
        output = replace(output, ranks=ranks or output.ranks, library=library or output.library)
        lines = [each.model_dump_json(by_alias=True) for each in records(output)]
        write_text(out, "".join(f"{line}\n" for line in lines))
    except ReportError as error:
        sys.stderr.write(f"haichi import: {error}\n")
        raise typer.Exit(BAD_INPUT) from None


def begins_as_goal(file: Path) -> bool:
    """Whether the file is GOAL; false, too, of one that can't be read."""
    try:
        with file.open("rb") as opened:
            return is_goal(opened.read(64).decode("utf-8", "replace"))
    except OSError:
        return False


def read(file: Path) -> Output:
    """What a benchmark printed.

    Raises:
        ReportError: it can't be read, is of no known benchmark, or has no figures.
    """
    name = printable(str(file))
    try:
        text = file.read_text("utf-8", "replace")
    except OSError as error:
        raise ReportError(f"{name}: {(error.strerror or str(error)).lower()}") from None
    if ior.is_text(text):
        raise ReportError(
            f"{name}: is IOR's text; run it with -O summaryFormat=JSON, which has each repetition"
        )
    for is_output, read_text in BENCHMARKS:
        if is_output(text):
            try:
                output = read_text(text)
            except (ReportError, ValueError, IndexError) as error:
                raise ReportError(f"{name}: {error}") from None
            if any(table.rows for table in output.tables):
                return output
            raise ReportError(f"{name}: has no figures; did the benchmark come to its end?")
    raise ReportError(
        f"{name}: is no output of an OSU micro-benchmark, of the Intel MPI Benchmarks or of IOR in "
        "JSON; give what one of them printed, its header too"
    )
