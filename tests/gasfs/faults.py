"""What goes wrong under a whole file system while a program writes, and the oracle of all such
tests: what was closed without an error reads back from a dispatcher that has seen nothing of it."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import fault_writer
import pytest
from mpis import run_bounded
from whole import PATIENCE, SECONDS, Whole, folder_in_memory, needs_gasfs

HERE = Path(__file__).parent


def while_writing(
    folder: Path, first: int, seconds: float, fault: Callable[[subprocess.Popen[str]], None]
) -> dict[int, int]:
    """Has a program write files and makes `fault` happen meanwhile; number of file -> errno. The
    program may be killed by it."""
    words = [sys.executable, HERE / "fault_writer.py", folder, str(first), str(seconds)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as writer:
        try:
            fault(writer)
            out, _ = writer.communicate(timeout=60)
        finally:
            writer.kill()
    assert writer.returncode in (0, -signal.SIGKILL)
    lines = [json.loads(line) for line in out.splitlines(keepends=True) if line.endswith("\n")]
    return {line["number"]: line["errno"] for line in lines}


def reads_back(folder: Path, closed: dict[int, int], where: Path) -> None:
    """The oracle: all files of which the program was told no error."""
    for number, wrong in closed.items():
        if wrong == 0:
            got = (where / folder.name / f"f{number}").read_bytes()
            assert got == fault_writer.contents(number), f"file {number}"


def build_library(folder: Path) -> Path:
    """faults.c as a library to preload."""
    library = folder / "faults.so"
    words = ["cc", "-shared", "-fPIC", "-o", library, HERE / "faults.c", "-ldl"]
    assert run_bounded(words, timeout=60).returncode == 0
    return library


class Link:
    """A network of its own for servers, and the one link to it. It goes with its process."""

    def __init__(self) -> None:
        pid = os.getpid()
        network = f"198.{18 + (pid >> 14 & 1)}.{pid >> 6 & 255}"  # which are for tests (RFC 2544)
        first = (pid & 63) * 4
        self.server, self._here = f"{network}.{first + 2}", f"hg{pid}"
        words = ["unshare", "--net", "sleep", str(SECONDS)]
        self._keeper = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        ours = os.readlink("/proc/self/ns/net")
        ends = time.monotonic() + 10
        while self._keeper.poll() is None and os.readlink(self._network) == ours:
            assert time.monotonic() < ends
            time.sleep(0.01)
        within = ["nsenter", "-t", str(self._keeper.pid), "-n", "ip"]
        there = ["netns", str(self._keeper.pid)]
        self._commands = [
            ["ip", "link", "add", self._here, "type", "veth", "peer", "name", "e0", *there],
            ["ip", "address", "add", f"{network}.{first + 1}/30", "dev", self._here],
            ["ip", "link", "set", self._here, "up"],
            [*within, "address", "add", f"{self.server}/30", "dev", "e0"],
            [*within, "link", "set", "e0", "up"],
        ]

    @property
    def _network(self) -> str:
        return f"/proc/{self._keeper.pid}/ns/net"

    def up(self) -> bool:
        """Makes it; False where that is not allowed."""
        return all(run_bounded(words, timeout=30).returncode == 0 for words in self._commands)

    def set(self, state: str) -> None:
        """Cuts it ("down") or mends it ("up")."""
        words = ["ip", "link", "set", self._here, state]
        run_bounded(words, timeout=30, check=True)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What this thread starts is behind the link."""
        libc = ctypes.CDLL(None, use_errno=True)
        with open("/proc/thread-self/ns/net") as ours, open(self._network) as theirs:
            assert libc.setns(theirs.fileno(), 0) == 0, os.strerror(ctypes.get_errno())
            try:
                yield
            finally:
                assert libc.setns(ours.fileno(), 0) == 0

    def end(self) -> None:
        """Takes it away."""
        self._keeper.kill()
        self._keeper.wait()


class Faulty(Whole):
    """A file system whose daemons have the faults that are ordered."""

    def __init__(self, folder: Path, servers: int, stripe: int, link: Link | None = None) -> None:
        super().__init__(folder, servers, stripe)
        self.link = link
        self._orders = folder / "orders"
        self._library = build_library(folder)

    def order(self, what: str) -> None:
        """See faults.c."""
        self._orders.write_text(what)

    @contextmanager
    def _preloaded(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            before = os.environ.get("LD_PRELOAD", "")  # a sanitizer, which comes first
            patch.setenv("LD_PRELOAD", f"{before} {self._library}".strip())
            patch.setenv("HAICHI_TEST_FAULTS", str(self._orders))
            yield

    def start_servers(self) -> None:
        address = self.link.server if self.link else "127.0.0.1"
        behind = self.link.inside() if self.link else contextlib.nullcontext()
        with self._preloaded(), behind:
            self.job.start_servers(address, SECONDS, PATIENCE)

    def start_dispatcher(self, where: Path, *options: str) -> None:
        with self._preloaded():
            super().start_dispatcher(where, *options)


@contextmanager
def faulty(
    servers: int, *options: str, stripe: int = 65536, linked: bool = False
) -> Iterator[Faulty]:
    """One that is up; `linked`: its servers are behind a link, where that can be made."""
    needs_gasfs()
    with folder_in_memory() as folder, contextlib.ExitStack() as stack:
        link = Link() if linked else None
        if link:
            stack.callback(link.end)
        made = Faulty(folder, servers, stripe, link if link and link.up() else None)
        stack.callback(made.end)
        made.start(*options)
        yield made
