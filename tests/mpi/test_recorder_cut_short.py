"""What is left of a record when the job is killed or the disk is full."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import mpis
import pytest
from mpis import HAICHI, ROOT, Mpi
from record_support import counted, of_kind, read, under


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system that has room for little."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    place = tmp_path / "small"
    place.mkdir()
    mpis.run_bounded(["mount", "-t", "tmpfs", "-o", "size=300k", "none", place], check=True)
    yield place
    mpis.run_bounded(["umount", place], check=True)


def parts_beside(path: Path) -> list[Path]:
    """The folders that keep what ranks have recorded."""
    return sorted(path.parent.glob(f"{path.name}.parts-*"))


@pytest.mark.slow
def test_a_killed_job_leaves_its_record(mpi: Mpi, tmp_path: Path) -> None:
    """kill -9 of a rank: a record is made of what all ranks have left."""
    program = mpi.compile(ROOT / "tests/mpi/record_files.c", *mpis.thread_flags())
    path = tmp_path / "record.jsonl"
    done = mpi.run(2, [program, tmp_path / "data", "killed"], under(mpi, path), timeout=60)
    assert done.returncode != 0
    assert not path.exists()
    (folder,) = parts_beside(path)
    merged = mpis.run_bounded([HAICHI, "merge-records", folder], check=True)
    lines = [json.loads(line) for line in merged.stdout.splitlines()]
    assert lines[0]["schema"] == "haichi.record/1"
    assert lines[0]["placement"]["nodes"]
    assert not of_kind(lines, "end"), "it is not whole"
    assert [line["finalized"] for line in of_kind(lines, "rank")] == [False, False]
    for rank in range(2):
        calls = counted(lines, rank)
        assert calls["MPI_Put", None, 32, "0-1"] == 5
        assert calls["MPI_File_write_all", None, 32, "0-1"] == 1
    shown = mpis.haichi_command("record", path, timeout=60)
    assert shown.returncode == 0, shown.stderr
    assert "the record is cut off" in shown.stdout
    assert "File_write_all" in shown.stdout
    assert calls["MPI_Barrier", None, None, "0-1"] == 1, "and the one that it died in is not over"


def unfolded(program: list[Any]) -> Iterator[int]:
    """The numbers of the events that a program makes, one after the other."""
    for item in program:
        if isinstance(item, int):
            yield item
        else:
            times, body = item
            for _ in range(times):
                yield from unfolded(body)


def steps_of_killed() -> Iterator[tuple[str, int]]:
    """Function and tag of each call of tests/mpi/killed.c."""
    yield "MPI_Barrier", 0
    for step in itertools.count():
        yield "MPI_Sendrecv", step % 5
        if step % 7 == 0:
            yield "MPI_Allreduce", 0


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["1", "-1"])
def test_a_killed_job_leaves_the_order_of_its_calls(mpi: Mpi, victim: str, tmp_path: Path) -> None:
    """kill -9 of one rank or all at any time: of each rank there are its calls from the first on,
    as many as are counted, but for the one that it may have been in."""
    program = mpi.compile(ROOT / "tests/mpi/killed.c", "-pthread")
    random = Random(victim)
    for trial in range(3):
        path = tmp_path / f"{trial}.jsonl"
        settings = under(mpi, path, HAICHI_RECORD_SEQUENCE="on")
        done = mpi.run(2, [program, f"{random.uniform(0, 0.3)}", victim], settings, timeout=60)
        assert done.returncode != 0
        (folder,) = parts_beside(path)
        merged = mpis.run_bounded([HAICHI, "merge-records", folder], check=True)
        lines = [json.loads(line) for line in merged.stdout.splitlines()]
        sequences = of_kind(lines, "sequence")
        assert [line["rank"] for line in sequences] == [0, 1]
        for line, rank in zip(sequences, of_kind(lines, "rank"), strict=True):
            events = [(each["call"], each.get("tag", 0)) for each in line["events"]]
            made = [events[number] for number in unfolded(line["program"])]
            assert made == list(itertools.islice(steps_of_killed(), len(made)))
            assert rank["calls"] - 1 <= len(made) <= rank["calls"]
            assert line["cut"] is False
            assert len(json.dumps(line)) < 20_000, "loops are folded"


def test_merging_says_what_is_no_part(tmp_path: Path) -> None:
    """A folder without parts, and a file that is none."""
    for prepare, why in [
        (lambda: None, "there are no parts"),
        (lambda: (tmp_path / "0").write_text("no part" * 1000), "is no part of a record"),
    ]:
        prepare()
        done = mpis.run_bounded([HAICHI, "merge-records", tmp_path])
        assert done.returncode == 78
        assert why in done.stderr


def test_a_full_disk_costs_the_record_and_not_the_job(mpi: Mpi, small: Path) -> None:
    """Neither the parts nor the record have room: one line, and the program's own end."""
    program = mpi.compile(ROOT / "tests/mpi/record_calls.c")
    (small / "filler").write_bytes(bytes(290 * 1024))
    path = small / "record.jsonl"
    done = mpi.run(2, [program, "10"], under(mpi, path), check=True)
    assert "intact" in done.stdout
    lines = [line for line in done.stderr.splitlines() if "haichi" in line]
    assert len(lines) == 1, done.stderr
    assert "no record" in lines[0]
    assert str(path) in lines[0]
    assert not path.exists()
    assert not list(small.glob(".haichi*"))


def test_parts_without_room_do_not_cost_the_record(mpi: Mpi, small: Path, tmp_path: Path) -> None:
    """The disk fills while the program runs and has room again at its end: the record is whole."""
    program = mpi.compile(ROOT / "tests/mpi/record_calls.c")
    link = tmp_path / "link"
    link.symlink_to(small)
    path = link / "record.jsonl"
    done = mpi.run(2, [program, "10"], under(mpi, path), check=True)
    assert "intact" in done.stdout
    lines = read(path)
    assert counted(lines, 0)["MPI_Isend", None, 4096, "0-1"] == 10
    assert parts_beside(path) == []
