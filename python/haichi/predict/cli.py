"""`haichi predict`: the command, its outputs and its exit codes."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from haichi.mpi import Missing
from haichi.predict import by_sequence, by_table
from haichi.predict.changes import ORDERS, Wish, change
from haichi.predict.machine import profile_for
from haichi.predict.text import print_prediction
from haichi.record.read import read
from haichi.report.load import ReportError
from haichi.report.output import console

BAD_INPUT = 2


class Way(StrEnum):
    """How a prediction is made."""

    TABLE = "table"
    SEQUENCE = "sequence"


def predict(
    file: Annotated[
        Path, typer.Argument(metavar="RECORD", help="What `haichi run --record` wrote.")
    ],
    machine: Annotated[
        Path | None,
        typer.Option(
            "--machine",
            metavar="PROFILE",
            help="What `haichi fit` wrote; without, that of the record's machine as `haichi run` "
            "finds it.",
        ),
    ] = None,
    own: Annotated[
        Path | None,
        typer.Option(
            "--own",
            metavar="PROFILE",
            help="Of the record's machine, where --machine is another: what it errs by of the "
            "recorded run is allowed for.",
        ),
    ] = None,
    by: Annotated[
        Way, typer.Option("--by", help="Counts times curves, or the order of events.")
    ] = Way.TABLE,
    placement: Annotated[
        str,
        typer.Option(
            metavar="FILE|BK|RR",
            help="Where ranks are to be: haichi.placement/1, a task map or a PMI mapping, or the "
            "record's nodes filled one after the other (BK) or dealt out to (RR).",
        ),
    ] = "",
    ranks: Annotated[
        int | None,
        typer.Option(min=1, help="So many ranks, each with what one has now, if that scales."),
    ] = None,
    algorithm: Annotated[
        str,
        typer.Option(help="Of all-to-alls, as haichi simulate names it: ring, bruck(4), …"),
    ] = "",
    order: Annotated[
        str, typer.Option(help=f"In which ranks send to all others: {', '.join(ORDERS)}.")
    ] = "",
    without: Annotated[
        str, typer.Option(metavar="haichi", help="The MPI library alone, as it was measured.")
    ] = "",
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity", help="By how much the time changes with latency and bandwidth."
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print it as JSON (haichi.prediction/1).")
    ] = False,
) -> None:
    """Say what a recorded program would take on a machine: always from a least to a most, and a
    line in its place where nothing can be said.

    Exit code 2: a file could not be read, or there is no profile.
    """
    try:
        record = read(file)
        found = profile_for(record, machine)
        changed = change(record, Wish(placement, ranks, algorithm, order, without))
        way = by_sequence if by is Way.SEQUENCE else by_table
        home = profile_for(record, own) if own else None
        made = way.predict(changed, found, own=home, sensitivity=sensitivity)
    except (ReportError, Missing) as error:
        sys.stderr.write(f"haichi predict: {error}\n")
        raise typer.Exit(BAD_INPUT) from None
    if as_json:
        sys.stdout.write(made.model_dump_json(by_alias=True, indent=2) + "\n")
    else:
        print_prediction(console(), made)
