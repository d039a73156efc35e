"""`haichi gasfs stage-in` and `stage-out`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from haichi_processes import runner
from rich.console import Console
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from haichi.gasfs.command import FAILED, one_line
from haichi.gasfs.daemons import GasfsError
from haichi.gasfs.job import mount_of
from haichi.gasfs.staging import Outcome, Plan, Staging, plan

SHOWN = 20  # problems

Checksum = Annotated[
    bool,
    typer.Option(
        "--checksum",
        help="Read back what was copied, and compare all bytes of what is there already.",
    ),
]
Threads = Annotated[int, typer.Option("--threads", "-j", min=1, max=256, help="How many copy.")]


def stage_in(
    source: Annotated[Path, typer.Argument(help="A file or folder of any file system.")],
    target: Annotated[
        Path, typer.Argument(metavar="DEST", help="What it is to be, in a gather file system.")
    ],
    checksum: Checksum = False,
    threads: Threads = 8,
) -> None:
    """Copy a file or a tree to the gather file system.

    What is there with the same size and time is not copied again; each file is whole when it has
    its name.
    """
    _stage(source, target, ours=target, checksum=checksum, threads=threads)


def stage_out(
    source: Annotated[Path, typer.Argument(help="A file or folder in a gather file system.")],
    target: Annotated[
        Path, typer.Argument(metavar="DEST", help="What it is to be, in any file system.")
    ],
    checksum: Checksum = False,
    threads: Threads = 8,
) -> None:
    """Copy a file or a tree from the gather file system, and bring it to the disk.

    What is there with the same size and time is not copied again; each file is whole when it has
    its name.
    """
    _stage(source, target, ours=source, checksum=checksum, threads=threads)


def _stage(source: Path, target: Path, *, ours: Path, checksum: bool, threads: int) -> None:
    with one_line():
        mount_of(ours)
        if target.is_dir() and not source.is_dir():
            target = target / source.name
        if not target.parent.is_dir():
            raise GasfsError(f"there is no folder {target.parent}: make it first")
        what = plan(source, target)
        _warn_if_narrow(what, target)
        begun = time.monotonic()
        outcome = _copy(what, checksum=checksum, threads=threads)
        if ours is source and runner.run(["sync", "-f", target.parent], timeout=3600).code:
            outcome.problems.append(f"{target}: not all of it could be brought to the disk")
    _tell(outcome, time.monotonic() - begun)


def _warn_if_narrow(what: Plan, target: Path) -> None:
    """What needs more room than there is may still fit: it can have holes, or be there already."""
    space = os.statvfs(target.parent)
    free = space.f_bavail * space.f_frsize
    if what.bytes > free:
        sys.stderr.write(
            f"haichi gasfs: {decimal(what.bytes)} are to be copied, and {target.parent} has room "
            f"for {decimal(free)}\n"
        )


def _copy(what: Plan, *, checksum: bool, threads: int) -> Outcome:
    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    ) as progress:
        task = progress.add_task(f"{len(what.files):,} files", total=what.bytes)
        staging = Staging(what, lambda size: progress.advance(task, size), checksum=checksum)
        return staging.run(threads)


def _tell(outcome: Outcome, seconds: float) -> None:
    there = f", {outcome.there:,} were there already" if outcome.there else ""
    sys.stdout.write(
        f"{outcome.copied:,} files copied, {decimal(outcome.bytes)} in {seconds:.1f} s{there}\n"
    )
    for problem in outcome.problems[:SHOWN]:
        sys.stderr.write(f"haichi gasfs: {problem}\n")
    if len(outcome.problems) > SHOWN:
        sys.stderr.write(f"haichi gasfs: and {len(outcome.problems) - SHOWN} more of the kind\n")
    if outcome.problems:
        raise typer.Exit(FAILED)
