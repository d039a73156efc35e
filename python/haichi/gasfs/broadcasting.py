"""`haichi gasfs broadcast`: files that every node holds whole before its programs read them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypedDict, cast

import typer

from haichi import paths, programs
from haichi.gasfs.command import FAILED, one_line
from haichi.gasfs.daemons import PROGRAM, Announcement, Daemon, GasfsError, Process, host, read
from haichi.gasfs.job import STATUS_ATTRIBUTE, mount_of
from haichi.mpi import Missing
from haichi.units import format_bytes, plural

AT_ONCE = 64  # files of one run of the native program
LONGEST = 7 * 24 * 3600  # seconds; each node's patience ends it before


class OnNode(TypedDict):
    """One file on one node."""

    node: str
    state: str  # none, coming, held, failed
    bytes: int
    by_node: int  # of these, those that another node gave
    trouble: str


class OfFile(TypedDict):
    """One file on all of them."""

    inode: int
    nodes: list[OnNode]


def broadcast(
    files: Annotated[list[Path], typer.Argument(help="Files of the mount, or folders of them.")],
    let_go: Annotated[
        bool, typer.Option("--let-go", help="Nodes need not hold them more.")
    ] = False,
    patience: Annotated[
        float, typer.Option(min=0.1, help="Seconds that a node may wait for its next byte.")
    ] = 60,
) -> None:
    """Have every node with a mount hold these files whole, so that reading them there is local.

    The nodes pass them on in a row: each byte leaves the servers once. A write to the file or a
    truncate ends it, on all nodes before it returns. The exit code is 1 if a node holds not all.
    """
    with one_line():
        found = {each: each.stat() for path in files for each in _files_of(path)}
        if not found:
            raise GasfsError(f"no file is in {', '.join(map(str, files))}")
        job = _job_of(files)
        nodes = _nodes(job)
        names = {about.st_ino: path for path, about in found.items()}
        inodes = [about.st_ino for about in found.values()]
        told: list[OfFile] = []
        for first in range(0, len(inodes), AT_ONCE):
            told += _ask(job, nodes, inodes[first : first + AT_ONCE], patience, let_go=let_go)
    bad = [
        (names[each["inode"]], node)
        for each in told
        for node in each["nodes"]
        if node["state"] == "failed" or (not let_go and node["state"] != "held")
    ]
    for path, node in bad:
        why = node["trouble"] or "it was changed meanwhile"
        sys.stderr.write(f"haichi gasfs: {node['node']} does not hold {path}: {why}\n")
    if let_go:
        sys.stdout.write(f"{plural(len(found), 'file')} let go\n")
    else:
        size = format_bytes(sum(about.st_size for about in found.values()))
        sys.stdout.write(
            f"{plural(len(found), 'file')}, {size}, on "
            f"{plural(len(nodes) - len({node['node'] for _, node in bad}), 'node')}"
            f" of {len(nodes)}\n"
        )
    if bad:
        raise typer.Exit(FAILED)


def _files_of(path: Path) -> list[Path]:
    """A file, or all regular files of a folder and below."""
    if path.is_dir():
        below = (Path(top) / name for top, _, names in os.walk(path) for name in sorted(names))
        return [each for each in below if each.is_file() and not each.is_symlink()]
    if not path.is_file():
        raise GasfsError(f"{path} is no file: name files or folders of a mount")
    return [path]


def _job_of(files: Sequence[Path]) -> Path:
    """The folder of the job whose files these are."""
    mounts = {mount_of(path) for path in files}
    if len(mounts) != 1:
        raise GasfsError(f"these are files of {len(mounts)} mounts: name those of one")
    status = json.loads(os.getxattr(mounts.pop(), STATUS_ATTRIBUTE))
    return Path(status["job"])


def _nodes(job: Path) -> dict[str, str]:
    """Where the dispatcher of each node is asked, as their files in the job's folder tell, by
    node."""
    found: dict[str, str] = {}
    for file in sorted((job / "run").glob("dispatcher-*.json")):
        process, told = read(file, Process), read(file.with_suffix(".address"), Announcement)
        here = process and process.host == host()
        if here and not Daemon(file.parent, file.stem).process():
            continue  # it has ended, and nobody reads there
        if told and told.node:
            found[file.stem.removeprefix("dispatcher-")] = told.node
    return found


def _ask(
    job: Path, nodes: dict[str, str], inodes: Sequence[int], patience: float, *, let_go: bool
) -> list[OfFile]:
    words = ["broadcast", "--secret", str(job / "secret"), "--patience", str(patience)]
    words += [word for name, at in nodes.items() for word in ("--node", f"{name}={at}")]
    words += [word for inode in inodes for word in ("--inode", str(inode))]
    try:
        text = programs.output(
            paths.program(PROGRAM), *words, *(["--let-go"] if let_go else []), timeout=LONGEST
        )
    except Missing as error:
        raise GasfsError(str(error)) from None
    return cast(list[OfFile], json.loads(text)["files"])
