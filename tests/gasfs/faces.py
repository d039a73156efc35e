"""Mounts of the gather file system for the tests beside this file, and a tmpfs to compare with."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from mpis import BUILD, haichi_command, not_with_sanitizers, plain_environment

LIBRARY = BUILD / "lib/libhaichi-posix.so"


def needs_mount() -> None:
    """Skips the test where nothing can be mounted."""
    if not (BUILD / "bin/gasfs-memory-mount").exists():
        pytest.skip("this build has no mount of the gather file system: install libfuse3-dev")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("/dev/fuse can't be used here: run as root, in a container with that device")


def needs_preload() -> None:
    """The same, and where programs that know no sanitizer can't be preloaded with one."""
    needs_mount()
    not_with_sanitizers("a sanitizer's library would have to be loaded first")


def preloaded(mount: Path) -> dict[str, str]:
    """The environment of a program that reads and writes the mount by its arena."""
    return {**plain_environment(), "LD_PRELOAD": str(LIBRARY), "HAICHI_GASFS": str(mount)}


@dataclass
class Mounted:
    """A mount; when it has ended, what came by arenas."""

    folder: Path
    records: int = 0
    bytes: int = 0
    answers: int = 0
    """To what programs asked to read."""
    answer_bytes: int = 0
    watches: int = 0
    """To what they asked to keep of paths."""
    cut_off: int = 0
    """Programs whose arena held what can't be."""


@contextmanager
def mounted() -> Iterator[Mounted]:
    """A mount of files in memory; it ends with this process, whatever becomes of that."""
    needs_mount()
    room = Path(tempfile.mkdtemp(prefix="haichi-gasfs-"))
    room.chmod(0o755)  # for tests that are two users
    mount = Mounted(room / "mount")
    mount.folder.mkdir()
    server = subprocess.Popen(
        [BUILD / "bin/gasfs-memory-mount", mount.folder, room / "socket"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    try:
        assert server.stdout.readline() == "mounted\n"
        yield mount
    finally:
        out = server.communicate(timeout=60)[0]
        shutil.rmtree(room)
    assert server.returncode == 0
    said = (
        r"(\d+) records of (\d+) bytes, (\d+) answers of (\d+) bytes, (\d+) watches, "
        r"(\d+) cut off\n"
    )
    found = re.fullmatch(said, out)
    assert found, out
    numbers = tuple(map(int, found.groups()))
    mount.records, mount.bytes, mount.answers, mount.answer_bytes = numbers[:4]
    mount.watches, mount.cut_off = numbers[4:]


@contextmanager
def dying_mount() -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """A mount, and its process, which the test kills."""
    needs_mount()
    room = Path(tempfile.mkdtemp(prefix="haichi-gasfs-"))
    (room / "mount").mkdir()
    words = [BUILD / "bin/gasfs-memory-mount", room / "mount", room / "socket"]
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        assert server.stdout.readline() == "mounted\n"
        yield room / "mount", server
    finally:
        server.kill()
        server.communicate(timeout=60)
        subprocess.run(["umount", "-l", room / "mount"], check=False, timeout=30)
        shutil.rmtree(room)


@contextmanager
def served(seconds: int = 280) -> Iterator[Path]:
    """A mount with a server behind it, as a user starts it on one machine."""
    needs_mount()
    if not (BUILD / "bin/haichi-gasfs").exists():
        pytest.skip("this build has no servers of the gather file system: see ./haichi doctor")
    room = Path(tempfile.mkdtemp(prefix="haichi-gasfs-"))
    room.chmod(0o755)  # for tests that are two users
    try:
        words = ("--mount", room / "mount", "--for", str(seconds))
        started = haichi_command("gasfs", "start", room / "store", *words)
        assert started.returncode == 0, started.stderr
        yield room / "mount"
        stopped = haichi_command("gasfs", "stop", room / "store")
        assert stopped.returncode == 0, stopped.stdout + stopped.stderr
    finally:
        haichi_command("gasfs", "stop", room / "store")  # also behind a test that failed
        shutil.rmtree(room)


@contextmanager
def behind(what: str, seconds: int) -> Iterator[Path]:
    """A mount of files in "memory", or of "servers" that are there for so long; programs can be
    preloaded for it."""
    needs_preload()
    if what == "servers":
        with served(seconds) as folder:
            yield folder
    else:
        with mounted() as mount:
            yield mount.folder


@contextmanager
def on_tmpfs() -> Iterator[Path]:
    """A folder of a file system that is known to be right."""
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("no tmpfs on /dev/shm to compare with")
    folder = Path(tempfile.mkdtemp(prefix="haichi-gasfs-", dir="/dev/shm"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
