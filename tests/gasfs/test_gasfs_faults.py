"""What was closed without an error reads back from a dispatcher that has seen nothing of it,
whatever ended, stopped or failed meanwhile; what did not is told to the program."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import fault_writer
import pytest
from haichi.gasfs.job import set_copies
from mpis import run_bounded
from whole import Whole, folder_in_memory, needs_gasfs, small_disk, whole

HERE = Path(__file__).parent
WRITING = 0.6  # seconds of each case


@pytest.fixture(scope="module")
def system() -> Iterator[Whole]:
    """Two servers and a dispatcher, which the cases end and start again."""
    with whole(2, "--linger-ms", "50", "--sub-buffer", "16384", stripe=4096) as made:
        yield made


def while_writing(folder: Path, first: int, fault: Callable[[], None]) -> dict[int, int]:
    """Has a program write files and makes `fault` happen meanwhile; number of file -> errno."""
    words = [sys.executable, HERE / "fault_writer.py", folder, str(first), str(WRITING)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as writer:
        try:
            fault()
            out, _ = writer.communicate(timeout=60)
        finally:
            writer.kill()
    assert writer.returncode == 0
    lines = [json.loads(line) for line in out.splitlines()]
    return {line["number"]: line["errno"] for line in lines}


def reads_back(folder: Path, closed: dict[int, int], where: Path) -> None:
    """The oracle: all files of which the program was told no error."""
    for number, wrong in closed.items():
        if wrong == 0:
            got = (where / folder.name / f"f{number}").read_bytes()
            assert got == fault_writer.contents(number), f"file {number}"


def after_a_while(draw: random.Random) -> None:
    time.sleep(draw.uniform(0, WRITING))


def case(system: Whole, kind: str, seed: int) -> None:
    """One fault while a program writes."""
    draw = random.Random(f"{kind} {seed}")
    folder = system.mount / f"{kind}-{seed}"
    folder.mkdir()
    server = system.job.servers[draw.randrange(2)]

    def fault() -> None:
        after_a_while(draw)
        if kind == "server killed":
            system.kill(server)
            time.sleep(draw.uniform(0, 0.2))
            system.start_servers()
        elif kind == "all servers killed":
            for each in system.job.servers:
                system.kill(each)
            system.start_servers()
        elif kind == "server stopped":
            system.kill(server, signal.SIGSTOP)
            time.sleep(draw.uniform(0, 0.3))
            system.kill(server, signal.SIGCONT)
        elif kind == "dispatcher killed":
            system.kill(system.dispatcher(system.mount))

    closed = while_writing(folder, 1000 * seed, fault)
    if kind == "dispatcher killed":
        assert set(closed.values()) - {0} <= {errno.ENOTCONN, errno.ECONNABORTED, errno.EIO}
        system.start_dispatcher(system.mount, "--linger-ms", "50", "--sub-buffer", "16384")
    else:
        assert set(closed.values()) == {0}, "a server that comes back in time costs nothing"
    with system.another_mount() as other:
        reads_back(folder, closed, other)


KINDS = ["server killed", "all servers killed", "server stopped", "dispatcher killed"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_closed_reads_back(system: Whole, kind: str) -> None:
    for seed in range(3):
        case(system, kind, seed)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_closed_reads_back_in_many_cases(system: Whole, kind: str) -> None:
    for seed in range(100, 160):
        case(system, kind, seed)


def test_the_store_is_sound_after_all_servers_were_killed() -> None:
    with whole(2) as system:
        folder = system.mount / "d"
        folder.mkdir()

        def fault() -> None:
            time.sleep(0.3)
            for each in system.job.servers:
                system.kill(each)
            system.start_servers()

        while_writing(folder, 0, fault)
        assert system.job.stop(60) == []
        assert system.job.check(repair=False)["problems"] == []


@pytest.fixture
def doubled() -> Iterator[Whole]:
    """Two servers that have a copy of all each, and give up soon."""
    with whole(2, *IMPATIENT, stripe=4096) as made:
        set_copies(made.mount, 2)
        yield made


IMPATIENT = ("--linger-ms", "50", "--sub-buffer", "16384", "--patience-ms", "500")


def lose_a_server(system: Whole, seed: int) -> None:
    """Kills the second server while a program writes; what it closed is there without it, and
    when it has come back."""
    draw = random.Random(f"copies {seed}")
    folder = system.mount / f"copies-{seed}"
    folder.mkdir()

    def fault() -> None:
        after_a_while(draw)
        system.kill(system.job.servers[1])

    closed = while_writing(folder, 1000 * seed, fault)
    assert set(closed.values()) == {0}, "the other server has all"
    with system.another_mount() as other:
        reads_back(folder, closed, other)
    system.start_servers()
    with system.another_mount() as other:
        reads_back(folder, closed, other)


def test_with_copies_the_loss_of_a_server_costs_time(doubled: Whole) -> None:
    for seed in range(2):
        lose_a_server(doubled, seed)
    everything = {path: path.read_bytes() for path in doubled.mount.rglob("f*")}
    assert doubled.job.stop(60) == []
    found = doubled.job.check(repair=True)
    assert found["problems"] == []
    assert found["stale"] > 0
    assert doubled.job.check(repair=True)["stale"] == 0
    # Now the second server alone has to have all of it, and the first has it no more.
    shutil.copytree(
        doubled.job.folder / "server1/objects",
        doubled.job.folder / "server0/objects",
        dirs_exist_ok=True,
    )
    doubled.start(*IMPATIENT)
    for path, data in everything.items():
        assert path.read_bytes() == data


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_with_copies_the_loss_of_a_server_costs_time_in_many_cases(doubled: Whole) -> None:
    for seed in range(100, 160):
        lose_a_server(doubled, seed)


def test_a_silent_server_is_given_up_and_named(tmp_path: Path) -> None:
    with whole(2, "--patience-ms", "1000", stripe=4096) as system:
        server = system.job.servers[1]
        target = system.mount / "f"
        target.touch()
        system.kill(server, signal.SIGSTOP)
        begun = time.monotonic()
        with target.open("wb", buffering=0) as file:
            file.write(bytes(100_000))
            with pytest.raises(OSError, match="Connection timed out"):
                file.close()
        assert time.monotonic() - begun < 20
        said = system.dispatcher(system.mount).log.read_text()
        assert f"server 1 at {server.address()} does not answer" in said
        system.kill(server, signal.SIGCONT)
        target.write_bytes(b"again")
        assert target.read_bytes() == b"again"


def random_bytes(seed: int) -> bytes:
    """A file of 3 MiB."""
    return random.Random(seed).randbytes(3 << 20)


def write_whole(path: Path, data: bytes) -> bool:
    """Whether a file can be written; if not, because the disk is full."""
    try:
        path.write_bytes(data)
    except OSError as error:
        assert error.errno == errno.ENOSPC
        return False
    return True


def test_a_full_disk_is_told_at_close_and_what_fits_stays() -> None:
    needs_gasfs()
    with folder_in_memory() as folder:
        system = Whole(folder, 1, 65536)
        with small_disk(system.job.folder / "server0", "24m"):
            try:
                system.start()
                files = [system.mount / f"f{i}" for i in range(12)]
                stored = [write_whole(file, random_bytes(i)) for i, file in enumerate(files)]
                assert True in stored
                assert False in stored
                with system.another_mount() as other:
                    for i, file in enumerate(files):
                        if stored[i]:
                            assert (other / file.name).read_bytes() == random_bytes(i)
                for file in files:  # names can be removed from a full disk
                    file.unlink(missing_ok=True)
                assert write_whole(system.mount / "again", random_bytes(99))
            finally:
                system.end()


def test_a_disk_that_fails_is_told_to_each_who_wrote(tmp_path: Path) -> None:
    library, flag = tmp_path / "failing_disk.so", tmp_path / "fails"
    words = ["cc", "-shared", "-fPIC", "-o", library, HERE / "failing_disk.c", "-ldl"]
    assert run_bounded(words, timeout=60).returncode == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HAICHI_TEST_FAILING_DISK", str(flag))
        needs_gasfs()
        with folder_in_memory() as folder:
            system = Whole(folder, 1, 65536)
            try:
                patch.setenv("LD_PRELOAD", str(library))
                system.start_servers()
                patch.delenv("LD_PRELOAD")
                system.start_dispatcher(system.mount)
                kept = system.mount / "kept"
                kept.write_bytes(b"before")
                a = os.open(system.mount / "f", os.O_RDWR | os.O_CREAT)
                b = os.open(system.mount / "f", os.O_RDWR)
                flag.touch()
                os.pwrite(a, b"lost", 0)
                for fd in (a, b):
                    with pytest.raises(OSError, match="Input/output error"):
                        os.fsync(fd)
                    os.fsync(fd)  # each is told once
                flag.unlink()
                os.pwrite(b, b"kept", 0)
                os.fsync(b)
                os.close(a)
                os.close(b)
                with system.another_mount() as other:
                    assert (other / "f").read_bytes() == b"kept"
                    assert (other / "kept").read_bytes() == b"before"
            finally:
                system.end()
