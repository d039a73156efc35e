"""What the commands of `haichi figures` share: their options, and how they begin and end."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from haichi import mpi, paths
from haichi.figures import comparison, record
from haichi.figures.model import Measurement
from haichi.lab import LabError
from haichi.report.load import ReportError
from haichi.units import NoSize

BAD_INPUT, INVALID = 2, 1

Which = Annotated[
    list[str] | None, typer.Option("--mpi", help="openmpi, mpich5, mpich; repeatable.")
]
Mappings = Annotated[
    list[str] | None, typer.Option("--mapping", help="BK (blocks) or RR (round robin); repeatable.")
]
Rate = Annotated[str, typer.Option(help="Of each link, as tc has it.")]
MPIS = ["openmpi", "mpich5"]
Repetitions = Annotated[int, typer.Option(min=1, help="Interleaved repetitions.")]
Yields = Annotated[
    str,
    typer.Option(
        "--yield", help="How idle MPICH ranks yield, stock and haichi alike: ucx, tick or none."
    ),
]
Out = Annotated[Path | None, typer.Option(help="The JSON file to write (haichi.measure/1).")]


@contextmanager
def one_line() -> Iterator[None]:
    """Turns what a user can put right into one line on standard error and exit code 2."""
    try:
        yield
    except (LabError, mpi.Missing, ReportError, NoSize) as error:
        sys.stderr.write(f"haichi figures: {error}\n")
        raise typer.Exit(BAD_INPUT) from None


def progress_on_errors() -> Callable[[str], None]:
    """Says what runs now, on standard error."""
    console = record.console(stderr=True)
    return lambda text: console.print(f"[dim]{text}[/dim]")


def choose(option: str, asked: Sequence[str] | None, known: Iterable[str]) -> list[str]:
    """What was asked for, or all that is known.

    Raises:
        mpi.Missing: it is not known.
    """
    known = list(known)
    for word in asked or ():
        if word not in known:
            raise mpi.Missing(f"{option} {word}: use one of {', '.join(known)}")
    return list(asked or known)


def default_file(what: str) -> Path:
    """Where the results of a command go unless a file is named."""
    return paths.OUT / "figures" / f"{what}.json"


def finish(measurement: Measurement, out: Path | None, *, compare: bool = False) -> None:
    """Prints and saves a measurement; exit code 1 if a result is not valid. With `compare`, stock,
    haichi and the limit stand side by side too."""
    console = record.console()
    if compare:
        console.print(comparison.table(comparison.rows(measurement.cases)))
    record.print_measurement(console, measurement)
    file = out or default_file(measurement.what)
    measurement.save(file)
    console.print(f"all samples: {file}")
    if not measurement.valid:
        raise typer.Exit(INVALID)


def keep(document: Mapping[str, object], out: Path | None, study: str) -> None:
    """Saves a study's cases and figures, and says where."""
    where = out or default_file(study)
    where.parent.mkdir(parents=True, exist_ok=True)
    where.write_text(json.dumps(document, indent=1) + "\n")
    record.console().print(f"all cases: {where}")
