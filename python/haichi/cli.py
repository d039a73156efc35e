"""The commands of `haichi` in Python. Each command's modules are loaded when it is called: all
together take a second, and some commands are started on each node of a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

import typer
from typer._click import Command, Context  # typer has no public name for them
from typer.core import TyperCommand, TyperGroup


@dataclass(frozen=True)
class Known:
    """What there is to know of a command without its modules."""

    module: str
    name: str  # there: a function, or a typer.Typer
    help: str  # how its own begins


COMMANDS: Mapping[str, Known] = {
    "demo": Known(
        "haichi.demo",
        "demo",
        "Write and read a file with 16 ranks on 4 nodes, stock and under haichi, and compare.",
    ),
    "compare": Known(
        "haichi.compare.cli",
        "app",
        "Compare two sets of samples, or run a program with the MPI library alone and under "
        "haichi.",
    ),
    "report": Known(
        "haichi.report.cli", "report", "Show what haichi did in a run, why, and what it cost"
    ),
    "explain": Known(
        "haichi.report.explain",
        "explain",
        "Show how the algorithms of a run's collectives were chosen",
    ),
    "export": Known(
        "haichi.export.cli",
        "export",
        "Write what trials found out as rules that the MPI library reads itself, without haichi",
    ),
    "import": Known(
        "haichi.samples.imports.cli",
        "import_",
        "Make a samples file of what another benchmark printed, or a record of GOAL.",
    ),
    "fit": Known(
        "haichi.fit.cli",
        "fit",
        "Make a machine's profile of what `haichi measure` measured on it",
    ),
    "record": Known("haichi.record.cli", "record", "Show what a program did with MPI"),
    "predict": Known(
        "haichi.predict.cli", "predict", "Say what a recorded program would take on a machine"
    ),
    "advise": Known("haichi.advise.cli", "app", "Say what would make a recorded program faster"),
    "measure-for": Known(
        "haichi.predict.measure_for",
        "measure_for",
        "Measure exactly what a recorded program needs to be predicted.",
    ),
    "lab": Known(
        "haichi.lab_cli", "app", "A cluster of network namespaces on this machine, for root"
    ),
    "figures": Known(
        "haichi.figures.cli",
        "app",
        "Measure haichi against the MPI library alone; results go to out/figures/.",
    ),
    "gasfs": Known(
        "haichi.gasfs.cli",
        "app",
        "A file system in user space that gathers what a node's processes write, arranges it",
    ),
}


def load(name: str) -> Command:
    """The command itself, with its modules."""
    known = COMMANDS[name]
    found = getattr(import_module(known.module), known.name)
    if isinstance(found, typer.Typer):
        return typer.main.get_command(found)
    alone = typer.Typer(add_completion=False)
    alone.command(name)(found)
    return typer.main.get_command(alone)


class _NotLoaded(TyperCommand):
    """What stands for a command in lists until it is called."""

    # typer calls it with these four.
    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: Context | None = None,
        **extra: object,
    ) -> Context:
        assert self.name is not None
        return load(self.name).make_context(info_name, args, parent, **extra)


class _Commands(TyperGroup):
    def __init__(self, *args: object, **more: object) -> None:
        super().__init__(*args, **more)  # type: ignore[arg-type]
        for name, known in COMMANDS.items():
            self.add_command(_NotLoaded(name, help=known.help))


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    no_args_is_help=True,
    help="haichi places ranks, and makes reports, profiles, predictions and measurements.",
)


@app.callback()
def _group() -> None:
    """Makes typer take the app for a group, though none of its commands is registered there."""
