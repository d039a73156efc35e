"""`haichi measure`: the commands, where their results go, and their exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from haichi import mpi, paths
from haichi.lab import LabError
from haichi.measure import network, one_node, record
from haichi.measure.model import Measurement
from haichi.measure.places import temporary_lab, temporary_machine

BAD_INPUT, INVALID = 2, 1

app = typer.Typer(
    no_args_is_help=True,
    help="Measure haichi against the MPI library alone; results go to out/measure/.",
)

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
    except (LabError, mpi.Missing) as error:
        sys.stderr.write(f"haichi measure: {error}\n")
        raise typer.Exit(BAD_INPUT) from None


def progress_on(console: Console) -> Callable[[str], None]:
    """Says what runs now, on standard error."""
    return lambda text: console.print(f"[dim]{text}[/dim]")


def finish(measurement: Measurement, out: Path) -> None:
    """Prints and saves a measurement; exit code 1 if a result is not valid."""
    console = record.console()
    record.print_measurement(console, measurement)
    measurement.save(out)
    console.print(f"all samples: {out}")
    if not measurement.valid:
        raise typer.Exit(INVALID)


@app.command("hpio-network")
def hpio_network(
    repetitions: Repetitions = 7,
    which: Annotated[
        list[str] | None, typer.Option("--mpi", help="openmpi, mpich5, mpich; repeatable.")
    ] = None,
    rate: Annotated[str, typer.Option(help="Of each link, as tc has it.")] = "100mbit",
    yields: Yields = "ucx",
    out: Out = None,
) -> None:
    """HPIO 3744/256 on 4 nodes x 4 ranks in the lab (root): stock, haichi, haichi's settings."""
    with one_line(), temporary_lab(network.NODES, rate) as place:
        measurement = network.measure(
            place,
            repetitions,
            which or ["openmpi", "mpich5"],
            yields,
            progress_on(record.console(stderr=True)),
        )
    finish(measurement, out or paths.OUT / "measure" / "hpio-network.json")


@app.command("one-node")
def one_node_command(
    repetitions: Repetitions = 7,
    which: Annotated[
        list[str] | None, typer.Option("--mpi", help="openmpi, mpich5, mpich; repeatable.")
    ] = None,
    ranks: Annotated[list[int] | None, typer.Option(help="How many; repeatable.")] = None,
    yields: Yields = "ucx",
    out: Out = None,
) -> None:
    """HPIO, a 3-D array in blocks and large blocks on this machine: haichi against stock."""
    with one_line(), temporary_machine() as place:
        measurement = one_node.measure(
            place,
            repetitions,
            which or ["openmpi", "mpich5"],
            ranks or [2, 4],
            yields,
            progress_on(record.console(stderr=True)),
        )
    finish(measurement, out or paths.OUT / "measure" / "one-node.json")


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
def overhead(context: typer.Context) -> None:
    """What MPI_Init and a call that is passed through cost more under haichi (bench/overhead)."""
    script = paths.ROOT / "bench" / "overhead" / "run.py"
    if not script.exists():
        sys.stderr.write(f"haichi measure: {script} is not here\n")
        raise typer.Exit(BAD_INPUT)
    os.execv(sys.executable, [sys.executable, str(script), *context.args])
