"""`haichi fit`: the command, its output and its exit codes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, get_args

import typer

from haichi.fit.gather import gather
from haichi.fit.model import NumberName
from haichi.fit.profile import fit as make
from haichi.fit.profile import text_of
from haichi.fit.text import print_fit
from haichi.report.load import ReportError
from haichi.report.output import console, write_text
from haichi.samples.read import read

BAD_INPUT = 2
LARGEST = 1e9  # as src/machine/machine.cpp has it


def fit(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="SAMPLES", help="Files that `haichi measure` wrote."),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Where the profile goes.")
    ],
    name: Annotated[
        str | None, typer.Option(help="What people call the machine; its nodes without.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NUMBER=VALUE",
            help="A number that no measurement tells, such as servers=4; repeatable.",
        ),
    ] = None,
    any_launch: Annotated[
        bool,
        typer.Option(
            "--any-launch",
            help="Count launches with more ranks than cores, or with haichi underneath, too.",
        ),
    ] = False,
    least: Annotated[
        bool,
        typer.Option(
            "--least",
            help="Of the launches' medians take the least: for a machine whose launches disagree.",
        ),
    ] = False,
    mixed: Annotated[
        bool, typer.Option("--mixed", help="Take launches of different machines for one.")
    ] = False,
) -> None:
    """Make a machine's profile of what `haichi measure` measured on it (haichi.machine/2).

    Launches count, not samples: a figure is the median of its launches' medians. What the samples
    do not tell is left out of the profile, with a line.

    Exit code 2: a file could not be read or written, or the samples do not do for a profile.
    """
    try:
        given, network = _given(set_ or [])
        found = gather(
            [read(path) for path in files], any_launch=any_launch, mixed=mixed, least=least
        )
        for line in found.left_out:
            sys.stderr.write(f"haichi fit: left out: {line}\n")
        made = make(found, [path.name for path in files], name, given, network)
        write_text(out, text_of(made.profile))
    except ReportError as error:
        sys.stderr.write(f"haichi fit: {error}\n")
        raise typer.Exit(BAD_INPUT) from None
    print_fit(console(), made)


def _given(texts: list[str]) -> tuple[dict[NumberName, float], str]:
    """Numbers of --set, and the network's shape, which may be among them.

    Raises:
        ReportError: a text is none of a machine's numbers, or out of range.
    """
    numbers: dict[NumberName, float] = {}
    network = "crossbar"
    for text in texts:
        key, _, value = text.partition("=")
        known = next((name for name in get_args(NumberName) if name == key), None)
        if key == "network" and value:
            network = value
            continue
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if known is None:
            told = ", ".join([*get_args(NumberName), "network"])
            raise ReportError(f"--set {text}: a machine has no {key!r}; it has {told}")
        if not 0 <= number <= LARGEST:
            raise ReportError(f"--set {text}: use a number from 0 to 10^9")
        numbers[known] = number
    return numbers, network
