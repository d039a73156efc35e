"""Copies of trees: all of it, whole under their names or not there, and begun again."""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from haichi.gasfs import copying, staging
from haichi.gasfs.copying import PART, Changed, FileCopy
from haichi.gasfs.daemons import GasfsError
from haichi.gasfs.staging import TEMPORARY, Outcome, Staging, plan


def stage(source: Path, target: Path, *, checksum: bool = False, threads: int = 4) -> Outcome:
    """Copies, and looks whether as many bytes were told of as there are."""
    told: list[int] = []
    what = plan(source, target)
    outcome = Staging(what, told.append, checksum=checksum).run(threads)
    if not outcome.problems:
        assert sum(told) == what.bytes
    return outcome


def leftovers(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.name.startswith(TEMPORARY)]


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_sparse_file_is_the_same_and_stays_sparse(tmp_path: Path) -> None:
    source = tmp_path / "sparse"
    with source.open("wb") as file:
        for at in (0, 1 << 20, (1 << 20) + 65536, 130 << 20):
            file.seek(at + 5)
            file.write(b"x" * 100)
        file.truncate(150 << 20)
    assert source.stat().st_size > 2 * PART  # by several threads
    target = tmp_path / "copy"
    assert stage(source, target, checksum=True).copied == 1
    assert target.stat().st_size == source.stat().st_size
    assert target.stat().st_blocks * 512 < 1 << 20
    with source.open("rb") as a, target.open("rb") as b:
        while block := a.read(1 << 20):
            assert block == b.read(1 << 20)


def test_zeros_that_were_written_become_holes(tmp_path: Path) -> None:
    source = write(tmp_path / "zeros", bytes(10 << 20) + b"end")
    stage(source, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == source.read_bytes()
    assert (tmp_path / "copy").stat().st_blocks * 512 < 1 << 20


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, (4 << 20) - 1, (4 << 20) + 65537])
def test_sizes_about_the_edges(tmp_path: Path, size: int) -> None:
    source = write(tmp_path / "file", random.Random(size).randbytes(size))
    assert stage(source, tmp_path / "copy", checksum=True).problems == []
    assert (tmp_path / "copy").read_bytes() == source.read_bytes()


def test_what_is_there_is_not_copied_again(tmp_path: Path) -> None:
    for i in range(5):
        write(tmp_path / f"a/d{i}/f", b"%d" % i)
    assert stage(tmp_path / "a", tmp_path / "b").copied == 5
    again = stage(tmp_path / "a", tmp_path / "b")
    assert (again.copied, again.there) == (0, 5)
    write(tmp_path / "a/d3/f", b"longer")
    again = stage(tmp_path / "a", tmp_path / "b")
    assert (again.copied, again.there) == (1, 4)
    assert (tmp_path / "b/d3/f").read_bytes() == b"longer"


def test_a_checksum_sees_what_size_and_time_do_not(tmp_path: Path) -> None:
    source = write(tmp_path / "a", b"right")
    target = tmp_path / "b"
    stage(source, target)
    times = target.stat()
    target.write_bytes(b"wrong")
    os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert stage(source, target).there == 1
    assert stage(source, target, checksum=True).copied == 1
    assert target.read_bytes() == b"right"


def test_bytes_that_arrive_damaged_are_told_and_have_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a/f", b"some bytes")
    real = os.pwrite

    def damaged(fd: int, data: memoryview, at: int) -> int:
        return real(fd, bytes(data).replace(b"y", b"z"), at)

    monkeypatch.setattr(copying.os, "pwrite", damaged)
    outcome = stage(tmp_path / "a", tmp_path / "b", checksum=True)
    assert outcome.problems == [f"{tmp_path}/a/f: what is read back is not what was written"]
    assert list((tmp_path / "b").iterdir()) == []


def test_a_file_that_vanishes_is_told_and_the_others_are_copied(tmp_path: Path) -> None:
    for name in "xyz":
        write(tmp_path / "a" / name, name.encode())
    what = plan(tmp_path / "a", tmp_path / "b")
    (tmp_path / "a/y").unlink()
    outcome = Staging(what, lambda _: None, checksum=False).run(2)
    assert outcome.copied == 2
    assert outcome.problems == [f"{tmp_path}/a/y: it has vanished"]


def test_a_file_that_changes_meanwhile_gets_no_name(tmp_path: Path) -> None:
    source = write(tmp_path / "a", b"first")
    copy = FileCopy(str(source), str(tmp_path / "b"), str(tmp_path / "t"), checksum=False)
    copy.copy(range(5), lambda _: None, lambda: False)
    source.write_bytes(b"second, and longer")
    with pytest.raises(Changed):
        copy.finish(lambda: False)
    copy.abandon()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.ETIMEDOUT])
def test_behind_a_full_disk_nothing_more_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    for i in range(50):
        write(tmp_path / f"a/{i:02}", b"%d" % i)
    real, written = os.pwrite, []

    def full(fd: int, data: memoryview, at: int) -> int:
        written.append(at)
        if len(written) > 10:
            raise OSError(number, os.strerror(number))
        return real(fd, data, at)

    monkeypatch.setattr(copying.os, "pwrite", full)
    outcome = stage(tmp_path / "a", tmp_path / "b", threads=2)
    assert len(outcome.problems) == 1
    assert staging.FATAL[number] in outcome.problems[0]
    assert outcome.copied == len(list((tmp_path / "b").iterdir()))
    assert outcome.copied in (9, 10)  # the other thread gives up what it had not named yet
    assert len(written) <= 12
    monkeypatch.undo()
    again = stage(tmp_path / "a", tmp_path / "b")
    assert (again.copied, again.there) == (50 - outcome.copied, outcome.copied)
    assert again.problems == []


def test_ended_in_the_middle_nothing_is_left_but_what_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i in range(40):
        write(tmp_path / f"a/{i}", random.Random(i).randbytes(100_000))
    write(tmp_path / "a/large", random.Random(99).randbytes(2 * PART + 5))
    real: Callable[..., None] = FileCopy.finish

    def interrupted(self: FileCopy, stopped: Callable[[], bool]) -> None:
        if self.source.endswith("/7"):
            raise KeyboardInterrupt
        real(self, stopped)

    monkeypatch.setattr(FileCopy, "finish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stage(tmp_path / "a", tmp_path / "b", threads=3)
    monkeypatch.undo()
    assert leftovers(tmp_path / "b") == []
    for there in (tmp_path / "b").iterdir():
        assert there.read_bytes() == (tmp_path / "a" / there.name).read_bytes()
    assert stage(tmp_path / "a", tmp_path / "b").problems == []
    assert len(list((tmp_path / "b").iterdir())) == 41


def test_what_a_killed_copy_left_goes_and_that_of_others_stays(tmp_path: Path) -> None:
    write(tmp_path / "a/f", b"f")
    what = plan(tmp_path / "a", tmp_path / "b")
    mine = write(tmp_path / f"b/{TEMPORARY}{what.name}-0-1", b"half")
    others = write(tmp_path / f"b/{TEMPORARY}fedcba987654-0-1", b"half")
    stage(tmp_path / "a", tmp_path / "b")
    assert not mine.exists()
    assert others.exists()


def test_something_else_of_that_name_is_told(tmp_path: Path) -> None:
    write(tmp_path / "a/d/f", b"f")
    write(tmp_path / "a/g", b"g")
    write(tmp_path / "b/d", b"no folder")
    outcome = stage(tmp_path / "a", tmp_path / "b")
    assert f"{tmp_path}/b/d: there is something else of that name" in outcome.problems
    assert (tmp_path / "b/g").read_bytes() == b"g"


def test_a_tree_is_not_copied_into_itself(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(GasfsError, match="lies in"):
        plan(tmp_path / "a", tmp_path / "a/b")
    with pytest.raises(GasfsError, match="No such file"):
        plan(tmp_path / "c", tmp_path / "d")
