"""What becomes of stores, copies and programs when servers are lost, silent, full or broken."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults import faulty, reads_back, while_writing
from haichi.gasfs.job import set_copies
from whole import Whole, folder_in_memory, needs_gasfs, small_disk, whole

WRITING = 0.6  # seconds of each case


def test_the_store_is_sound_after_all_servers_were_killed() -> None:
    with whole(2) as system:
        folder = system.mount / "d"
        folder.mkdir()

        def fault(_: subprocess.Popen[str]) -> None:
            time.sleep(0.3)
            for each in system.job.servers:
                system.kill(each)
            system.start_servers()

        while_writing(folder, 0, WRITING, fault)
        assert system.job.stop(60) == []
        assert system.job.check(repair=False)["problems"] == []


@contextlib.contextmanager
def with_copies() -> Iterator[Whole]:
    """Two servers that have a copy of all each, and give up soon."""
    with whole(2, *IMPATIENT, stripe=4096) as made:
        set_copies(made.mount, 2)
        yield made


@pytest.fixture
def doubled() -> Iterator[Whole]:
    with with_copies() as made:
        yield made


IMPATIENT = ("--linger-ms", "50", "--sub-buffer", "16384", "--patience-ms", "500")


def lose_a_server(system: Whole, seed: int) -> None:
    """Kills the second server while a program writes; what it closed is there without it, and
    when it has come back."""
    draw = random.Random(f"copies {seed}")
    folder = system.mount / f"copies-{seed}"
    folder.mkdir()

    def fault(_: subprocess.Popen[str]) -> None:
        time.sleep(draw.uniform(0, WRITING))
        system.kill(system.job.servers[1])

    closed = while_writing(folder, 1000 * seed, WRITING, fault)
    assert set(closed.values()) == {0}, "the other server has all"
    with system.another_mount() as other:
        reads_back(folder, closed, other)
    system.start_servers()
    with system.another_mount() as other:
        reads_back(folder, closed, other)


@pytest.mark.slow
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
def test_with_copies_the_loss_of_a_server_costs_time_in_many_cases() -> None:
    for begin in range(100, 160, 15):  # of which each takes seconds where others work beside it
        with with_copies() as doubled:
            for seed in range(begin, begin + 15):
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


def test_a_full_disk_keeps_nobody_waiting() -> None:
    needs_gasfs()
    with folder_in_memory() as folder:
        system = Whole(folder, 1, 65536)
        with small_disk(system.job.folder / "server0", "24m"):
            try:
                system.start()
                told = fill(system.mount, writers=6)
            finally:
                system.end()
    assert len(told) == 6, "each writer is told"
    # Tenths of a second, but for a machine that has other things to do.
    assert max(told.values()) - min(told.values()) < 20


def fill(folder: Path, writers: int) -> dict[int, float]:
    """Has as many write, each its own file, until they are told that the disk is full; when."""
    told: dict[int, float] = {}

    def write(number: int) -> None:
        fd = os.open(folder / f"w{number}", os.O_WRONLY | os.O_CREAT)
        with pytest.raises(OSError, match="No space left"):
            while True:
                os.write(fd, random_bytes(number))
                os.fsync(fd)
        told[number] = time.monotonic()
        with contextlib.suppress(OSError):  # tells it once more where it was a write
            os.close(fd)

    threads = [threading.Thread(target=write, args=(i,)) for i in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return told


def test_a_disk_that_fails_is_told_to_each_who_wrote() -> None:
    with faulty(1) as system:
        (system.mount / "kept").write_bytes(b"before")
        a = os.open(system.mount / "f", os.O_RDWR | os.O_CREAT)
        b = os.open(system.mount / "f", os.O_RDWR)
        system.order(f"e {errno.EIO}")
        os.pwrite(a, b"lost", 0)
        for fd in (a, b):
            with pytest.raises(OSError, match="Input/output error"):
                os.fsync(fd)
            os.fsync(fd)  # each is told once
        system.order("")
        os.pwrite(b, b"kept", 0)
        os.fsync(b)
        os.close(a)
        os.close(b)
        with system.another_mount() as other:
            assert (other / "f").read_bytes() == b"kept"
            assert (other / "kept").read_bytes() == b"before"
