"""`haichi advise`: the command, its outputs and its exit codes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from haichi import paths
from haichi.advise.advise import advise as advise_on
from haichi.advise.check import Command, Verdict, check
from haichi.advise.launch import launcher_of
from haichi.advise.paste import write_files
from haichi.advise.text import print_advice, print_check
from haichi.compare.cli import PROGRAM_BEHIND, FilesOrProgram
from haichi.compare.launcher_line import Unclear
from haichi.compare.turns import RunFailed
from haichi.mpi import Missing
from haichi.predict.machine import FoundProfile, profile_for
from haichi.record.read import Record, read
from haichi.report.load import ReportError
from haichi.report.output import console

BAD_INPUT, FAILED = 2, 1


app = typer.Typer(add_completion=False)


@app.command(cls=FilesOrProgram)
def advise(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="RECORD", help="What `haichi run --record` wrote.", show_default=False
        ),
    ] = None,
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
    checks: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Run the program behind -- as it is and at the advised places, in turns.",
        ),
    ] = False,
    repetitions: Annotated[
        int, typer.Option(min=1, help="With --check: how often each way is run.")
    ] = 5,
    timeout: Annotated[
        float, typer.Option(help="With --check: seconds that a run may take.")
    ] = 3600,
) -> None:
    """Say what would make a recorded program faster, what gains most first: where its ranks belong,
    with the lines to paste, and which of its calls cost more than they need.

    haichi advise --check -- mpiexec -n 16 ./app ARGS… records the program as it is, starts it at
    the advised places too, in turns, and prints what was predicted beside what was measured.

    Exit code 1: a run of --check failed, or the gain is not as predicted. Exit code 2: a file could
    not be read or written, or the command is not understood.
    """
    command: list[str] | None = context.meta.get(PROGRAM_BEHIND)
    if checks != (command is not None) or (file is None) != checks:
        context.fail("give a RECORD, or --check and the program behind --")
    if command is not None:
        _check(command, machine, out, repetitions, timeout)
        return
    assert file is not None
    try:
        record = read(file)
        advised = advise_on(record, _profile(record, machine), out)
        if as_json:
            sys.stdout.write(advised.made.model_dump_json(by_alias=True, indent=2) + "\n")
            return
        write_files(out, advised.files)
    except (ReportError, Missing) as error:
        sys.stderr.write(f"haichi advise: {error}\n")
        raise typer.Exit(BAD_INPUT) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        sys.stderr.write(f"haichi advise: {out}: {reason}; name another folder by --out\n")
        raise typer.Exit(BAD_INPUT) from None
    print_advice(console(), advised.made)


def _check(
    command: list[str], machine: Path | None, out: Path, repetitions: int, timeout: float
) -> None:
    try:
        launcher_of(command, "mpich")  # before anything runs
        paths.empty_folder(out)
        found = check(
            Command(command, timeout),
            lambda record: _profile(record, machine),
            out,
            repetitions,
            _progress,
        )
    except (ReportError, Missing, Unclear, OSError) as error:
        sys.stderr.write(f"haichi advise: {error}\n")
        raise typer.Exit(BAD_INPUT) from None
    except RunFailed as error:
        sys.stderr.write(f"haichi advise: {error}\n")
        raise typer.Exit(FAILED) from None
    print_check(console(), found)
    if found.advice.placement and (found.verdict is Verdict.APART or found.elsewhere):
        raise typer.Exit(FAILED)


def _progress(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _profile(record: Record, named: Path | None) -> FoundProfile | None:
    """The named one, or one that is found; none is no error, as bytes need no profile."""
    try:
        return profile_for(record, named)
    except ReportError:
        if named is not None:
            raise
        return None
