"""A whole gather file system on this machine, for the tests beside this file: servers, dispatcher
and mount as `haichi gasfs` starts them, in memory, and ended whatever becomes of the test."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from haichi.gasfs.daemons import Daemon
from haichi.gasfs.job import Job
from mpis import BUILD, run_bounded

SECONDS = 900  # after which daemons end by themselves
PATIENCE = 60.0


def needs_gasfs() -> None:
    """Skips the test where the file system is not built, or nothing can be mounted."""
    if not (BUILD / "bin/haichi-gasfs").exists():
        pytest.skip(
            "this build has no gather file system: install libfuse3-dev, libsodium-dev, "
            "liblmdb-dev and libxxhash-dev"
        )
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip(
            "/dev/fuse can't be used here: run as root, in a container with --device /dev/fuse"
        )


@contextmanager
def folder_in_memory() -> Iterator[Path]:
    """A folder that goes afterwards."""
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="haichi-gasfs-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


class Whole:
    """A job with its daemons. `mount` is the first dispatcher's."""

    def __init__(self, folder: Path, servers: int, stripe: int) -> None:
        self.job = Job.make(folder / "job", servers, stripe)
        self.mount = folder / "mnt"
        self.folder = folder

    def start(self, *options: str) -> None:
        """Starts what does not run."""
        self.start_servers()
        self.start_dispatcher(self.mount, *options)

    def start_servers(self) -> None:
        """Starts the servers that do not run, where they were before."""
        self.job.start_servers("127.0.0.1", SECONDS, PATIENCE)

    def start_dispatcher(self, where: Path, *options: str) -> None:
        """Another dispatcher of this node."""
        self.job.mount(where, ["--for", str(SECONDS), *options], PATIENCE)

    def dispatcher(self, where: Path) -> Daemon:
        """The one that is mounted there."""
        (found,) = (d for d in self.job.dispatchers if (p := d.process()) and p.mount == str(where))
        return found

    def kill(self, daemon: Daemon, number: int = signal.SIGKILL) -> None:
        """Sends a signal to a daemon; behind SIGKILL it is gone."""
        process = daemon.process()
        assert process
        os.kill(process.pid, number)
        ends = time.monotonic() + PATIENCE
        while number == signal.SIGKILL and daemon.process():
            assert time.monotonic() < ends
            time.sleep(0.005)

    @contextmanager
    def another_mount(self) -> Iterator[Path]:
        """A dispatcher that has seen nothing of what was done before, as on another node."""
        where = Path(tempfile.mkdtemp(prefix="other-", dir=self.folder))
        self.start_dispatcher(where)
        try:
            yield where
        finally:
            daemon = self.dispatcher(where)
            process = daemon.ask_to_end()
            assert process
            assert daemon.wait(process, PATIENCE) == ""
            where.rmdir()

    def end(self) -> None:
        """Ends all that runs, in no good order where it must be."""
        for daemon in (*self.job.dispatchers, *self.job.servers):
            process = daemon.process()
            if process:
                os.kill(process.pid, signal.SIGCONT)
        self.job.stop(20)
        for daemon in (*self.job.dispatchers, *self.job.servers):
            if daemon.process():
                self.kill(daemon)
        # What a dispatcher that was killed has left.
        while str(self.mount) in Path("/proc/self/mounts").read_text():
            subprocess.run(["umount", "-l", self.mount], check=True, timeout=30)


@contextmanager
def whole(servers: int = 1, *options: str, stripe: int = 65536) -> Iterator[Whole]:
    """A file system that is up."""
    needs_gasfs()
    with folder_in_memory() as folder:
        made = Whole(folder, servers, stripe)
        try:
            made.start(*options)
            yield made
        finally:
            made.end()


@contextmanager
def small_disk(where: Path, size: str) -> Iterator[None]:
    """Mounts a file system there that is soon full."""
    where.mkdir()
    done = run_bounded(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", where], timeout=30)
    if done.returncode != 0:
        pytest.skip("no tmpfs can be mounted here: run as root")
    try:
        yield
    finally:
        run_bounded(["umount", "-l", where], timeout=30)
