"""Preloaded programs: what they leave on the mount is what they leave on tmpfs, and their reads and
small writes came by their arenas."""

from __future__ import annotations

import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import mpis
import pytest
from alike import descriptors, leaves_alike, mpi_files, random_calls, tools, tools_on
from faces import LIBRARY, dying_mount, mounted, needs_preload, preloaded
from mpis import ROOT, run_bounded


@pytest.fixture(scope="module")
def whole() -> Iterator[Path]:
    """One mount for all tests of this file."""
    needs_preload()
    with mounted() as mount:
        yield mount.folder


OFTEN = {"as drawn": (), "writes": ("--writes", "10"), "reads": ("--reads", "10"),
         "stats": ("--stats", "10")}  # fmt: skip


@pytest.mark.parametrize("often", OFTEN)
def test_some_random_calls_answer_alike(mount: Path, tmpfs: Path, often: str) -> None:
    random_calls(mount, tmpfs, "preload", "--seeds", "1", "--operations", "1500", *OFTEN[often])


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["1", "3"])
def test_random_calls_answer_alike(mount: Path, tmpfs: Path, processes: str) -> None:
    often = ("--operations", "3000", "--processes", processes)
    random_calls(mount, tmpfs, "preload", "--seeds", "2", *often)
    random_calls(mount, tmpfs, "preload", "--seeds", "3", "--writes", "10", *often)
    random_calls(mount, tmpfs, "preload", "--seeds", "3", "--reads", "10", *often)
    random_calls(mount, tmpfs, "preload", "--seeds", "3", "--stats", "10", *often)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(0, 200, 10))
def test_many_random_calls_answer_alike(mount: Path, tmpfs: Path, first: int) -> None:
    options = ("--first", str(first), "--seeds", "10", "--operations", "100000", "--writes", "6")
    random_calls(mount, tmpfs, "preload", *options, timeout=3000)


def test_descriptors_copies_and_children(mount: Path, tmpfs: Path) -> None:
    descriptors(mount, tmpfs)


@pytest.mark.parametrize("tool", tools_on("preload"))
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


READS = {
    "read": "data = b''.join(iter(lambda: os.read(fd, 100), b''))",
    "read large": "data = b''.join(iter(lambda: os.read(fd, 1 << 21), b''))",
    "pread": "data = b''.join(os.pread(fd, 100, 100 * i) for i in range(30001))",
    "readv": "parts = [bytearray(70), bytearray(30)]\n"
    "data = bytearray()\n"
    "while os.readv(fd, parts): data += b''.join(parts)",
    "preadv": "parts = [bytearray(70), bytearray(0), bytearray(30)]\n"
    "data = bytearray()\n"
    "for i in range(30000): os.preadv(fd, parts, 100 * i); data += b''.join(parts)",
    "lseek and read": "data = bytearray()\n"
    "for i in range(30000): os.lseek(fd, 100 * i, os.SEEK_SET); data += os.read(fd, 100)",
}


@pytest.mark.parametrize("calls", READS)
def test_one_kind_of_read_is_enough_for_an_arena(calls: str) -> None:
    needs_preload()
    with mounted() as mount:
        content = random.Random(5).randbytes(3_000_000)
        (mount.folder / "file").write_bytes(content)
        begin = "import hashlib, os, sys\nfd = os.open(sys.argv[1], os.O_RDONLY)\n"
        code = f"{begin}{READS[calls]}\nprint(hashlib.sha256(data).hexdigest())"
        words = [sys.executable, "-c", code, mount.folder / "file"]
        done = run_bounded(words, env=preloaded(mount.folder), check=True)
        assert done.stdout.strip() == hashlib.sha256(content).hexdigest()
    assert 1 <= mount.answers <= 40, "little reads are read of what an answer has brought"
    assert 2_800_000 <= mount.answer_bytes <= 6_000_000 if calls != "read large" else True


STREAM = """
#include <stdio.h>
int main(int count, char** words) {
  char record[40];
  long records = 0;
  FILE* const from = fopen(words[1], "r");
  FILE* const to = fopen(words[2], "w");
  if (count != 3 || !from || !to) return 1;
  while (fread(record, 40, 1, from) == 1 && fwrite(record, 40, 1, to) == 1) ++records;
  return fclose(from) || fclose(to) || records != 10000;
}
"""


def test_streams_of_the_c_library_go_by_the_mount(tmpfs: Path) -> None:
    needs_preload()
    (tmpfs / "stream.c").write_text(STREAM)
    run_bounded(["cc", tmpfs / "stream.c", "-o", tmpfs / "stream"], check=True)
    with mounted() as mount:
        content = random.Random(6).randbytes(400_000)
        (mount.folder / "from").write_bytes(content)
        words = [tmpfs / "stream", mount.folder / "from", mount.folder / "to"]
        run_bounded(words, env=preloaded(mount.folder), check=True)
        assert (mount.folder / "to").read_bytes() == content
    assert (mount.records, mount.answers) == (0, 0), "the guide says what that costs"


READ_IN_TURN = """
import os, sys
fd = os.open(sys.argv[1], int(sys.argv[2]))
for line in sys.stdin:
    number = int(line)
    # All that is there, from time to time in large pieces.
    text = os.pread(fd, 20 if number % 3 else 100_000, 0)
    print(text[:8].decode(), len(os.pread(fd, 1 << 20, 0)), flush=True)
"""


@pytest.mark.parametrize("face", ["mount", "preload"])
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_RDWR])
def test_what_is_kept_is_read_again_where_another_process_wrote(
    mount: Path, face: str, flags: int
) -> None:
    path = mount / "shared"
    path.write_bytes(b"%8d" % 0 * 1000)
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READ_IN_TURN, path, str(flags)],
            env=preloaded(mount) if preload else None,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for preload in (True, True, False)
    ]
    changing = writer(mount, IN_TURN) if face == "preload" else None
    size = 8000
    fd = os.open(path, os.O_RDWR)
    for number in range(1, 400):
        if changing:
            assert changing.stdin
            assert changing.stdout
            print(number % 10, file=changing.stdin, flush=True)
            changing.stdout.readline()
            expected = number % 10
        else:
            os.pwrite(fd, b"%8d" % number, 0)
            expected = number
            if number % 5 == 0:
                size = 2000 + number
                os.truncate(path, size)
        for reader in readers:
            assert reader.stdin
            assert reader.stdout
            print(number, file=reader.stdin, flush=True)
            assert reader.stdout.readline() == f"{expected:8} {size}\n"
    os.close(fd)
    for process in [*readers, *([changing] if changing else [])]:
        process.communicate(timeout=60)
        assert process.returncode == 0


def test_no_process_hangs_when_the_dispatcher_dies() -> None:
    needs_preload()
    reads = "import time\nwhile True: os.pread(fd, 20, 0); time.sleep(0.001)\n"
    writes = "text = b'x' * 60000\nwhile True: os.pwrite(fd, text, 0)\n"
    with dying_mount() as (folder, server):
        processes = [writer(folder, code) for code in (reads, writes)]
        time.sleep(0.3)
        server.kill()
        server.wait(30)
        for process in processes:
            assert process.wait(30) == 1, "an OSError ends it"


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
