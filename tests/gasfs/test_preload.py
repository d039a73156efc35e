"""Preloaded programs: what they leave on the mount is what they leave on tmpfs, and their small
writes came by their arenas."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import mpis
import pytest
from alike import descriptors, leaves_alike, mpi_files, random_calls, tools
from faces import LIBRARY, mounted, needs_preload, preloaded
from mpis import ROOT, run_bounded


@pytest.fixture(scope="module")
def whole() -> Iterator[Path]:
    """One mount for all tests of this file."""
    needs_preload()
    with mounted() as mount:
        yield mount.folder


@pytest.mark.parametrize("processes", ["1", "3"])
def test_random_calls_answer_alike(mount: Path, tmpfs: Path, processes: str) -> None:
    often = ("--operations", "3000", "--processes", processes)
    random_calls(mount, tmpfs, "preload", "--seeds", "2", *often)
    random_calls(mount, tmpfs, "preload", "--seeds", "3", "--writes", "10", *often)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(0, 200, 10))
def test_many_random_calls_answer_alike(mount: Path, tmpfs: Path, first: int) -> None:
    options = ("--first", str(first), "--seeds", "10", "--operations", "100000", "--writes", "6")
    random_calls(mount, tmpfs, "preload", *options, timeout=3000)


def test_descriptors_copies_and_children(mount: Path, tmpfs: Path) -> None:
    descriptors(mount, tmpfs)


@pytest.mark.parametrize("tool", tools())
def test_tools_leave_what_they_leave_on_tmpfs(mount: Path, tmpfs: Path, tool: str) -> None:
    leaves_alike(tool, "src/gasfs/files", mount, tmpfs, preloaded(mount))


WRITER = """
import os, sys
fd = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR, 0o644)
for i in range(20):
    os.pwrite(fd, b"warm", 1000 + i)
    os.lseek(fd, 0, os.SEEK_SET); os.write(fd, b"....")
print("ready", flush=True)
"""

IN_TURN = """
for line in sys.stdin:
    number = int(line)
    os.pwrite(fd, f"{number:8}".encode(), 8 * (number // 10))
    print(line, end="", flush=True)
os.close(fd)
"""


def writer(mount: Path, code: str, *words: str) -> subprocess.Popen[str]:
    """A preloaded process whose descriptor `fd` of the file "shared" is attached."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER + code, mount / "shared", *words],
        env=preloaded(mount),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_write_that_another_process_knew_of_is_overwritten(mount: Path) -> None:
    writers = [writer(mount, IN_TURN) for _ in range(2)]
    for number in range(2000):
        process = writers[number * 7 % 3 % 2]
        assert process.stdin is not None
        assert process.stdout is not None
        print(number, file=process.stdin, flush=True)
        assert process.stdout.readline() == f"{number}\n"
    for process in writers:
        process.communicate(timeout=60)
        assert process.returncode == 0
    text = (mount / "shared").read_bytes()[: 8 * 200]
    assert text == b"".join(b"%8d" % (10 * i + 9) for i in range(200))


COUNTING = """
number = 0
while True:
    os.pwrite(fd, b"%8d" % number, 8 * number)
    if number % 100 == 0: print(number, flush=True)
    number += 1
"""


def test_what_was_written_before_a_process_was_killed_is_there(mount: Path) -> None:
    process = writer(mount, COUNTING)
    assert process.stdout is not None
    time.sleep(0.2)
    for _ in range(20):
        last = process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    rest = process.communicate(timeout=60)[0].splitlines()
    written = int([last.strip(), *rest][-2 if len(rest) > 1 else -1])
    text = (mount / "shared").read_bytes()
    assert len(text) >= 8 * (written + 1)
    assert text == b"".join(b"%8d" % i for i in range(len(text) // 8))


def test_a_file_that_somebody_maps_is_coherent(mount: Path) -> None:
    code = """
import mmap
other = os.open(sys.argv[1], os.O_RDWR)
m = mmap.mmap(other, 1020)
for i in range(1000):
    os.pwrite(fd, b"%4d" % i, 40)
    assert m[40:44] == b"%4d" % i, i
    m[80:84] = b"%4d" % i
    assert os.pread(fd, 4, 80) == b"%4d" % i, i
"""
    process = writer(mount, code)
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_without_a_mount_nothing_is_different(mount: Path, tmpfs: Path) -> None:
    script = tools()["bash"] + tools()["dd"]
    (tmpfs / "numbers").write_text("1\n2\n")
    env = {**preloaded(mount), "HAICHI_GASFS": "/nobody/has/this"}
    run_bounded(["bash", "-ec", script], cwd=tmpfs, env=env, check=True)
    assert (tmpfs / "loop").read_text() == "1\n2\n3\na\nb\n"


def test_most_small_writes_came_by_arenas() -> None:
    needs_preload()
    with mounted() as mount:
        folder = mount.folder
        code = "for i in range(5000): os.pwrite(fd, b'x' * 40, 40 * i)\nos.close(fd)\n"
        process = writer(folder, code)
        process.communicate(timeout=60)
        assert process.returncode == 0
        assert (folder / "shared").read_bytes() == b"x" * 200000
    assert mount.records >= 5000
    assert mount.bytes >= 200000
    assert mount.cut_off == 0


@pytest.mark.parametrize("call", ["os.pwrite(fd, b'x' * 40, 40 * i)", "os.write(fd, b'x' * 40)"])
def test_one_kind_of_call_is_enough_for_an_arena(call: str) -> None:
    needs_preload()
    with mounted() as mount:
        begin = "import os, sys\nfd = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)\n"
        code = f"{begin}for i in range(1000): {call}"
        words = [sys.executable, "-c", code, mount.folder / "file"]
        run_bounded(words, env=preloaded(mount.folder), check=True)
        assert (mount.folder / "file").read_bytes() == b"x" * 40 * 1000
    assert mount.records >= 990


def library() -> Path:
    """The preload object."""
    needs_preload()
    return LIBRARY


def test_exports_what_the_table_lists_and_needs_libc_alone() -> None:
    listed = set()
    text = (ROOT / "src/preload/libc/functions.txt").read_text()
    text = re.sub(r"\n[ \t]+", " ", re.sub(r"#.*", "", text))
    for line in re.findall(r"^hook .*", text, re.MULTILINE):
        found = re.match(r"hook [^(]*?(\w+)\([^)]*\)(?: as ((?:\w+ )*?\w+)(?= like| by|$))?", line)
        assert found, line
        listed |= {found[1], *(found[2] or "").split()}
    done = run_bounded(["nm", "-D", "--defined-only", "--format=posix", library()], check=True)
    assert {line.split()[0] for line in done.stdout.splitlines()} == listed
    done = run_bounded(["readelf", "-d", library()], check=True)
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", done.stdout))
    assert needed <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


@pytest.mark.parametrize("order", ["alone", "first", "last", "without haichi's MPI shim"])
def test_beside_mpi(mpi: mpis.Mpi, mount: Path, tmpfs: Path, order: str) -> None:
    objects = {
        "alone": [f"haichi-{mpi.abi}"],
        "first": ["haichi-posix", f"haichi-{mpi.abi}"],
        "last": [f"haichi-{mpi.abi}", "haichi-posix"],
    }.get(order, ["haichi-posix"])
    env = mpi.stock(
        *(mpis.BUILD / f"lib/lib{name}.so" for name in objects), HAICHI_GASFS=str(mount)
    )
    mpi_files(mpi, mount, tmpfs, env)
