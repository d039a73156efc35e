"""A whole gather file system: started, used by ordinary programs, stopped, asked and checked."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import differential
import pytest
from faces import on_tmpfs
from haichi.gasfs.job import Job
from mpis import ROOT, run_bounded
from whole import Whole, folder_in_memory, needs_gasfs, whole

HAICHI = [sys.executable, "-m", "haichi", "gasfs"]


@pytest.fixture(scope="module")
def system() -> Iterator[Whole]:
    """Three servers with small stripes, so that most files are on all of them."""
    with whole(3, stripe=4096) as made:
        yield made


def haichi(*words: str | Path, code: int = 0) -> str:
    """What `haichi gasfs` prints."""
    done = run_bounded([*HAICHI, *words], timeout=120, env={"PYTHONPATH": str(ROOT / "python")})
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_state_is_shown_again_and_again(system: Whole) -> None:
    words = [*HAICHI, "status", system.job.folder, "--watch", "0.2"]
    env = {"PYTHONPATH": str(ROOT / "python"), "COLUMNS": "120"}
    with subprocess.Popen(
        words, env={**os.environ, **env}, stdout=subprocess.PIPE, text=True
    ) as shown:
        assert shown.stdout is not None
        lines: list[str] = []
        while sum("written / s" in line for line in lines) < 4:
            (system.mount / "watched").write_bytes(bytes(100_000))
            lines.append(shown.stdout.readline())
        shown.send_signal(signal.SIGINT)
        shown.communicate(timeout=60)
    assert shown.returncode == 0
    rows = [line for line in lines if str(system.mount)[:20] in line]
    assert len(rows) >= 3
    both = haichi("status", system.job.folder, "--watch", "1", "--json", code=2)
    assert "leave out --json" in both


def test_a_node_keeps_no_more_than_it_is_told() -> None:
    needs_gasfs()
    with folder_in_memory() as folder:
        job = folder / "job"
        try:
            haichi("start", job, "--cache", "1M", "--for", "300")
            (job / "mnt/file").write_bytes(bytes(8 << 20))
            assert (job / "mnt/file").read_bytes() == bytes(8 << 20)
            kept = json.loads(haichi("status", job, "--json"))["dispatchers"][0]["kept_bytes"]
            assert 0 < kept <= 1 << 20
        finally:
            haichi("stop", job)


def test_one_line_starts_it_and_one_ends_it() -> None:
    needs_gasfs()
    with folder_in_memory() as folder:
        job = folder / "job"
        try:
            said = haichi("start", job, "--servers", "2", "--for", "300")
            assert re.search(r"up in \d+\.\d s", said)
            (job / "mnt/file").write_text("hello\n")
            assert "already" in haichi("start", job, code=2)
            told = json.loads(haichi("status", job, "--json"))
            assert [one["index"] for one in told["servers"]] == [0, 1]
            assert told["dispatchers"][0]["written_bytes"] == 6
            assert 'haichi_gasfs_server_written_bytes{server="' in haichi(
                "status", job, "--prometheus"
            )
            haichi("stop", job)
            assert not (job / "mnt").is_mount()
            assert "0 problems" in haichi("check", job)
            haichi("start", job, "--for", "300")
            assert (job / "mnt/file").read_text() == "hello\n"
            haichi("stop", job)
        finally:
            if (job / "job.json").exists():
                Job.load(job).stop(30)


@pytest.mark.slow
def test_what_a_user_asks_wrongly_is_one_line(tmp_path: Path) -> None:
    for words, said in (
        (("stop", tmp_path), "no gather file system"),
        (("status", tmp_path / "none"), "no gather file system"),
        (("start", tmp_path / "a", "--stripe", "5000"), "multiple of 4096"),
        (("start", tmp_path / "a", "--memory", "much"), "is no size"),
        (("set", tmp_path), "say what to set"),
        (("set", tmp_path, "--stripe", "1M"), "is on no gather file system"),
    ):
        text = haichi(*words, code=2)
        assert said in text
        assert len(text.splitlines()) == 1


def test_random_calls_answer_as_on_tmpfs(system: Whole) -> None:
    folder = system.mount / "random"
    folder.mkdir()
    with on_tmpfs() as other:
        for seed in range(2):
            options = differential.Options(operations=700, processes=2)
            found = differential.run(folder, other, seed, options)
            assert not found, found


def test_another_node_sees_what_is_closed_here(system: Whole) -> None:
    with system.another_mount() as other:
        (system.mount / "a").write_bytes(b"x" * 50_000)
        assert (other / "a").read_bytes() == b"x" * 50_000
        (other / "a").write_bytes(b"shorter")
        assert (system.mount / "a").read_bytes() == b"shorter"
        os.rename(other / "a", other / "b")
        assert not (system.mount / "a").exists()
        assert (system.mount / "b").stat().st_size == 7


def test_records_of_two_nodes_that_alternate_are_all_there(system: Whole) -> None:
    with system.another_mount() as other:
        (system.mount / "records").touch()
        fds = [os.open(at / "records", os.O_WRONLY) for at in (system.mount, other)]
        for i in range(2000):
            os.pwrite(fds[i % 2], f"{i:039}\n".encode(), 40 * i)
        for fd in fds:
            os.close(fd)
        lines = (system.mount / "records").read_text().split()
        assert [int(line) for line in lines] == list(range(2000))


def test_a_folder_says_how_files_in_it_are_dealt_out(system: Whole) -> None:
    folder = system.mount / "large"
    folder.mkdir()
    haichi("set", folder, "--stripe", "1M")
    before = system.job.server_numbers()
    (folder / "f").write_bytes(bytes(900_000))
    after = system.job.server_numbers()
    wrote = [
        int(str(a["written_bytes"])) - int(str(b["written_bytes"]))
        for a, b in zip(after, before, strict=True)
    ]
    assert sorted(wrote) == [0, 0, 900_000]


def test_a_name_that_goes_while_it_is_open(system: Whole) -> None:
    with (system.mount / "gone").open("w+b", buffering=0) as file:
        file.write(b"still here")
        (system.mount / "gone").unlink()
        file.seek(0)
        assert file.read() == b"still here"


@pytest.mark.slow
@pytest.mark.parametrize("by", ["SIGTERM", "stop"])
def test_a_start_that_stays_returns_when_all_has_ended(by: str) -> None:
    needs_gasfs()
    with folder_in_memory() as folder:
        job, env = folder / "job", {**os.environ, "PYTHONPATH": str(ROOT / "python")}
        words = [*HAICHI, "start", job, "--for", "300", "--stay"]
        with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, text=True) as staying:
            assert staying.stdout is not None
            assert "up in" in staying.stdout.readline()
            (job / "mnt" / "f").write_text("here")
            assert staying.poll() is None
            if by == "stop":
                haichi("stop", job)
            else:
                staying.send_signal(signal.SIGTERM)
            assert staying.wait(60) == 0
        assert not (job / "mnt").is_mount() and not Job.load(job).lives
        haichi("start", job, "--for", "300")
        assert (job / "mnt" / "f").read_text() == "here"
        haichi("stop", job)


@pytest.mark.slow
def test_idle_daemons_take_no_processor(system: Whole) -> None:
    def ticks() -> int:
        total = 0
        for daemon in (*system.job.servers, *system.job.dispatchers):
            process = daemon.process()
            assert process
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
        return total

    time.sleep(3)  # what was gathered has gone
    before = ticks()
    time.sleep(5)
    assert ticks() - before <= 1


def test_stop_says_what_is_not_stored() -> None:
    with whole(1, "--patience-ms", "1000", "--linger-ms", "60000") as system:
        fd = os.open(system.mount / "f", os.O_WRONLY | os.O_CREAT)
        os.write(fd, b"never")
        system.kill(system.job.servers[0])
        (said,) = system.job.stop(60)
        assert re.search(r"dispatcher-.*: of 1 files not all", said)
        with contextlib.suppress(OSError):  # the mount is gone
            os.close(fd)


def test_a_stranger_is_not_let_in(system: Whole, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("ab" * 32 + "\n")
    secret.chmod(0o600)
    program = Path(os.environ.get("HAICHI_BUILD", ROOT / "build/current")) / "bin/haichi-gasfs"
    address = system.job.servers[0].address()
    words = [program, "ask", "--server", address, "--secret", secret]
    done = run_bounded(words, timeout=30)
    assert done.returncode == 1
    assert "secret" in done.stderr
    secret.chmod(0o644)
    assert "others may read" in run_bounded(words, timeout=30).stderr
