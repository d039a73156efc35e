"""`haichi gasfs broadcast`: each node holds the file, and nobody asks the servers for it again."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

from mpis import haichi_command, run_bounded
from whole import Whole, whole

TEXT = os.urandom(3 << 20)


def broadcast(*words: str | Path, fails: bool = False) -> str:
    """What the command says."""
    done = haichi_command("gasfs", "broadcast", *words)
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr


def read_by_servers(job: Whole) -> int:
    """Bytes that the servers were asked for."""
    return sum(int(str(one["read_bytes"])) for one in job.job.server_numbers())


def test_all_nodes_hold_it_and_see_what_is_written() -> None:
    with whole(2) as job, job.another_mount() as other:
        file = job.mount / "input"
        file.write_bytes(TEXT)
        assert "1 file, 3.00 MiB, on 2 nodes of 2" in broadcast(file)
        assert read_by_servers(job) == len(TEXT)
        for mount in (job.mount, other, job.mount):
            assert (mount / "input").read_bytes() == TEXT
        assert read_by_servers(job) == len(TEXT)
        held = [int(str(one["pinned_bytes"])) for one in job.job.dispatcher_numbers()]
        assert held == [len(TEXT)] * 2

        with file.open("rb") as reading:
            with (other / "input").open("r+b") as writing:
                writing.write(b"new")
            assert reading.read(4) == b"new" + TEXT[3:4]
        os.truncate(other / "input", 100)
        assert file.read_bytes() == b"new" + TEXT[3:100]
        held = [int(str(one["pinned_bytes"])) for one in job.job.dispatcher_numbers()]
        assert held == [0, 0]


def test_a_folder_stands_for_its_files_and_can_be_let_go() -> None:
    with whole() as job:
        (job.mount / "a/b").mkdir(parents=True)
        for name in ("a/one", "a/b/two", "a/b/none"):
            (job.mount / name).write_bytes(b"" if name.endswith("none") else b"x" * 70_000)
        assert "3 files, 137 KiB, on 1 node of 1" in broadcast(job.mount / "a")
        assert "3 files let go" in broadcast("--let-go", job.mount / "a")
        (numbers,) = job.job.dispatcher_numbers()
        assert numbers["pinned_bytes"] == 0


def test_what_does_not_answer_is_named_and_the_others_go_on() -> None:
    with whole(1, "--pinned", str(4 << 20)) as job:
        (job.mount / "input").write_bytes(TEXT)
        where = Path(tempfile.mkdtemp(dir=job.folder))
        job.start_dispatcher(where)
        stopped = job.dispatcher(where)
        job.kill(stopped, signal.SIGSTOP)
        told = broadcast(job.mount / "input", fails=True)
        name = stopped.name.removeprefix("dispatcher-")
        assert f"{name} does not hold {job.mount / 'input'}: it does not answer" in told
        assert "on 1 node of 2" in told
        job.kill(stopped)
        run_bounded(["umount", "-l", where], timeout=30)
        (job.mount / "large").write_bytes(TEXT)
        assert "larger --pinned" in broadcast(job.mount / "large", fails=True)


def test_what_is_no_file_of_a_mount_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "is on no gather file system" in broadcast(tmp_path / "file", fails=True)
    assert "is no file" in broadcast(tmp_path / "none", fails=True)
