"""`haichi lab`: the commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from haichi_processes import runner
from rich.console import Console
from rich.table import Table
from typer.core import TyperCommand

from haichi import lab, mpi
from haichi.guest.cli import numa

BAD_INPUT = 2

app = typer.Typer(
    no_args_is_help=True,
    help="A cluster of network namespaces on this machine, for root, and a machine of several NUMA "
    "nodes in QEMU (docs/guide/lab.md).",
)
app.command(context_settings={"allow_interspersed_args": False})(numa)

Name = Annotated[str, typer.Option("--name", help="Which lab, if there are several.")]


@contextmanager
def one_line() -> Iterator[None]:
    """Turns what a user can put right into one line on standard error and exit code 2."""
    try:
        yield
    except (lab.LabError, mpi.Missing) as error:
        sys.stderr.write(f"haichi lab: {error}\n")
        raise typer.Exit(BAD_INPUT) from None


@app.command()
def up(
    nodes: Annotated[int, typer.Argument(help="How many nodes (1 to 64).")] = 4,
    rate: Annotated[
        str, typer.Argument(help="Rate of each link, as tc has it; 0: none.")
    ] = "100mbit",
    name: Name = "default",
) -> None:
    """Make NODES nodes whose links carry RATE each way."""
    with one_line():
        made = lab.Lab.up(nodes, rate, name)
        sys.stdout.write(
            f"{nodes} nodes at {rate if rate != '0' else 'full speed'}: node0 to node{nodes - 1}, "
            f"and login\nshared directory (in memory, seen by all of them): {made.shared}\n"
        )


@app.command()
def rate(
    rate: Annotated[str, typer.Argument(help="Such as 25mbit; 0: none.")],
    node: Annotated[str, typer.Option(help="Of this node's link alone, both ways.")] = "",
    name: Name = "default",
) -> None:
    """Change the rate of every link, or of one."""
    with one_line():
        lab.Lab.load(name).set_rate(rate, node)


class OptionsBeforeProgram(TyperCommand):
    """Lets the options of `lab run` stand before, between or after MPI and NP, but takes nothing of
    what follows the program's name. Every option here has a value."""

    # typer calls it with its own context, which has more than the one that it takes over.
    def parse_args(  # type: ignore[override]
        self, ctx: typer.Context, args: list[str]
    ) -> list[str]:
        """Moves the options to the front, where click looks for them."""
        options: list[str] = []
        words: list[str] = []
        rest = list(args)
        while rest and (rest[0].startswith("--") or len(words) < 2):
            word = rest.pop(0)
            (options if word.startswith("--") else words).append(word)
            if word.startswith("--") and "=" not in word and word != "--help" and rest:
                options.append(rest.pop(0))
        return super().parse_args(ctx, [*options, *words, *rest])


@app.command(cls=OptionsBeforeProgram, context_settings={"allow_interspersed_args": False})
def run(
    which: Annotated[str, typer.Argument(metavar="|".join(mpi.NAMES), help="Which MPI.")],
    ranks: Annotated[int, typer.Argument(metavar="NP", help="How many ranks.")],
    program: Annotated[list[str], typer.Argument(help="The program and its arguments.")],
    ppn: Annotated[
        str, typer.Option(help="Ranks per node, as 4 or 1,3,5,7; spread evenly without.")
    ] = "",
    map_: Annotated[str, typer.Option("--map", help="BK fills nodes, RR deals ranks out.")] = "BK",
    hosts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The node of each rank, a line each, in the place of --ppn and --map.",
        ),
    ] = None,
    env: Annotated[list[str] | None, typer.Option(metavar="K=V", help="For the ranks.")] = None,
    yields: Annotated[
        str, typer.Option("--yield", help="How idle MPICH ranks yield: ucx, tick or none.")
    ] = "ucx",
    timeout: Annotated[float, typer.Option(help="Seconds until the job is ended.")] = 600,
    name: Name = "default",
) -> None:
    """Run an MPI program on the nodes: haichi lab run openmpi 16 ./haichi run ./app.

    The exit code is the launcher's; 124 if the time was over.
    """
    with one_line():
        room = numbers(ppn)
        here, which_mpi = lab.Lab.load(name), mpi.find(which)
        variables = dict(map(lab.variable, env or ()))
        preload = mpi.yield_preload(which_mpi, yields)
        if own := variables.get("LD_PRELOAD"):
            preload.insert(0, own)
        if preload:
            variables["LD_PRELOAD"] = ":".join(preload)
        outcome = here.run(
            which_mpi,
            ranks,
            program,
            variables,
            timeout=timeout,
            per_node=room,
            mapping=map_,
            hosts=hosts_of(hosts) if hosts else (),
            capture=False,
        )
    if outcome.timed_out:
        sys.stderr.write(f"haichi lab: the job was ended after {timeout:g} s (--timeout)\n")
        raise typer.Exit(runner.TIMED_OUT)
    raise typer.Exit(outcome.status)


def hosts_of(file: Path) -> list[str]:
    """The lines of a file; `node0:4` is four of node0."""
    try:
        lines = file.read_text().split()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise lab.LabError(f"--hosts {file}: {reason}") from None
    return [host for line in lines for host in _repeated(line)]


def _repeated(line: str) -> list[str]:
    name, colon, many = line.partition(":")
    if colon and not many.isdecimal():
        raise lab.LabError(f"--hosts: {line}: use NODE or NODE:RANKS")
    return [name] * (int(many) if colon else 1)


def numbers(text: str) -> list[int]:
    """Whole numbers between commas."""
    try:
        return [int(word) for word in text.split(",")] if text else []
    except ValueError:
        raise lab.LabError(
            f"--ppn {text}: use a number, or one for each node, as 1,3,5,7"
        ) from None


@app.command("exec", context_settings={"allow_interspersed_args": False})
def exec_(
    node: Annotated[str, typer.Argument(help="node0, node1, ... or login; a number will do.")],
    command: Annotated[list[str], typer.Argument(help="The command and its arguments.")],
    name: Name = "default",
) -> None:
    """Run a command inside one node."""
    with one_line():
        words = [*lab.Lab.load(name).node(node).enter(), *command]
        sys.stdout.flush()
        os.execvp(words[0], words)


@app.command()
def stat(name: Name = "default") -> None:
    """Show what crossed each link, and what was dropped."""
    with one_line():
        rows = lab.Lab.load(name).counters()
    table = Table("node", "direction")
    for heading in ("bytes", "packets", "drops", "backlog"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console().print(table)


@app.command()
def down(name: Name = "default") -> None:
    """End the lab and everything that runs in it."""
    with one_line():
        lab.Lab.load(name).down()
