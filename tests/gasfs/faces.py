"""Mounts of the gather file system for the tests beside this file, and a tmpfs to compare with."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mpis import BUILD


def needs_mount() -> None:
    """Skips the test where nothing can be mounted."""
    if not (BUILD / "bin/gasfs-memory-mount").exists():
        pytest.skip("this build has no mount of the gather file system: install libfuse3-dev")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip(
            "/dev/fuse can't be used here: run as root, in a container with --device /dev/fuse"
        )


@contextmanager
def mounted() -> Iterator[Path]:
    """A mount of files in memory; it ends with this process, whatever becomes of that."""
    needs_mount()
    folder = Path(tempfile.mkdtemp(prefix="haichi-gasfs-"))
    server = subprocess.Popen(
        [BUILD / "bin/gasfs-memory-mount", folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        assert server.stdout.readline() == "mounted\n"
        yield folder
    finally:
        server.stdin.close()
        assert server.wait(30) == 0
        server.stdout.close()
        folder.rmdir()


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
