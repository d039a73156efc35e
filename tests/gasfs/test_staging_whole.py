"""`haichi gasfs stage-in` and `stage-out` between a disk and a whole file system."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from mpis import ROOT, run_bounded
from whole import Whole, folder_in_memory, needs_gasfs, small_disk, whole

HAICHI = [sys.executable, "-m", "haichi", "gasfs"]
ENV = {"PYTHONPATH": str(ROOT / "python")}


@pytest.fixture(scope="module")
def system() -> Iterator[Whole]:
    with whole(2, stripe=4096) as made:
        yield made


def haichi(*words: str | Path, code: int = 0) -> str:
    """What it prints."""
    done = run_bounded([*HAICHI, *words], timeout=120, env=ENV)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def tree(folder: Path) -> Path:
    """One with all kinds of things."""
    draw = random.Random(5)
    for i in range(60):
        file = folder / f"d{i % 7}/e{i % 3}/f{i}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(draw.randbytes(draw.choice([0, 1, 40, 5000, 300_000])))
        file.chmod(draw.choice([0o600, 0o644, 0o755, 0o444]))
        os.utime(file, ns=(10**18 + i, 10**18 + 123456789 * i))
    (folder / "empty").mkdir(mode=0o711)
    (folder / "name with spaces and ümläute\n").write_text("x")
    (folder / "second").hardlink_to(folder / "d0/e0/f0")
    (folder / "to").symlink_to("d1/e1")
    (folder / "to nothing").symlink_to("nothing")
    os.mkfifo(folder / "pipe", 0o640)
    with (folder / "sparse").open("wb") as file:
        file.seek(9 << 20)
        file.write(b"behind a hole")
        file.truncate(20 << 20)
    os.utime(folder / "d1", ns=(10**18, 10**18 + 7))
    return folder


def described(folder: Path) -> dict[str, tuple[object, ...]]:
    """All that a copy has to keep."""
    made = {}
    for path in sorted(folder.rglob("*")):
        at = path.lstat()
        contents: object = None
        if path.is_symlink():
            contents = path.readlink()
        elif path.is_file():
            contents = path.read_bytes()
        name = str(path.relative_to(folder))
        links = 0 if path.is_dir() else at.st_nlink
        made[name] = (at.st_mode, links, at.st_uid, at.st_gid, at.st_mtime_ns, contents)
    return made


def test_a_tree_goes_in_and_comes_out_as_it_was(system: Whole, tmp_path: Path) -> None:
    source = tree(tmp_path / "source")
    said = haichi("stage-in", source, system.mount / "in", "--checksum")
    assert "files copied" in said
    assert described(system.mount / "in") == described(source)
    with system.another_mount() as other:
        haichi("stage-out", other / "in", tmp_path / "out")
        assert ", 62 were there already" in haichi("stage-out", other / "in", tmp_path / "out")
    assert described(tmp_path / "out") == described(source)
    assert (tmp_path / "out/sparse").stat().st_blocks * 512 < 1 << 20


def test_a_file_goes_into_a_folder_that_is_there(system: Whole, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"1")
    (system.mount / "folder").mkdir()
    haichi("stage-in", tmp_path / "one", system.mount / "folder")
    assert (system.mount / "folder/one").read_bytes() == b"1"


@pytest.mark.slow
def test_killed_at_any_time_it_goes_on(system: Whole, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for i in range(300):
        (source / f"{i}").write_bytes(random.Random(i).randbytes(50_000))
    target = system.mount / "restarted"
    before = -1
    for wanted in (5, 60, 150):
        words = [*HAICHI, "stage-in", source, target, "--threads", "3"]
        with subprocess.Popen(words, env={**os.environ, **ENV}, stdout=-1, stderr=-1) as process:
            ends = time.monotonic() + 60
            while process.poll() is None and time.monotonic() < ends:
                if target.is_dir() and len(os.listdir(target)) > wanted:
                    break
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
        there = [path for path in target.iterdir() if not path.name.startswith(".")]
        assert len(there) >= before
        before = len(there)
        for path in there:
            assert path.read_bytes() == (source / path.name).read_bytes()
    said = haichi("stage-in", source, target)
    assert f"{300 - before} files copied" in said
    assert sorted(os.listdir(target)) == sorted(os.listdir(source))


def test_a_full_file_system_is_told_in_a_line(tmp_path: Path) -> None:
    needs_gasfs()
    source = tmp_path / "source"
    source.mkdir()
    for i in range(40):
        (source / f"{i}").write_bytes(random.Random(i).randbytes(1 << 20))
    with folder_in_memory() as folder:
        system = Whole(folder, 1, 65536)
        with small_disk(system.job.folder / "server0", "24m"):
            try:
                system.start()
                said = haichi("stage-in", source, system.mount / "t", code=1)
                assert "has room for" in said
                assert "the disk is full: make room and say it again" in said
                there = list((system.mount / "t").iterdir())
                assert 0 < len(there) < 40
                for path in there:
                    assert path.read_bytes() == (source / path.name).read_bytes()
            finally:
                system.end()


def test_other_file_systems_are_told_apart(system: Whole, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"1")
    assert "is on no gather file system" in haichi(
        "stage-in", tmp_path / "one", tmp_path / "two", code=2
    )
    assert "No such file" in haichi("stage-in", tmp_path / "none", system.mount / "x", code=2)
    assert "make it first" in haichi("stage-in", tmp_path / "one", system.mount / "a/b", code=2)
