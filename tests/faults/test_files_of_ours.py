"""The files that haichi reads and writes for itself, where something else stands in their place.

Whatever a FIFO, a folder, a link or another job does there: the program goes on, nobody waits, and
what is not haichi's stays as it is.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mpis
import pytest

HERE = Path(__file__).parent
FOREIGN = 12345  # a user


@pytest.fixture(scope="module")
def mpi() -> mpis.Mpi:
    """One is enough where haichi's own files are tested; Open MPI's ranks yield as they wait."""
    there = [m for m in mpis.all_mpis() if not m.missing and m.shim.exists()]
    if not there:
        pytest.skip("no MPI")
    return next((m for m in there if m.abi == "openmpi"), there[0])


def placement_file(place: Path, ranks: int) -> str:
    """Each rank on a node of its own."""
    path = place / "placement.json"
    path.write_text(json.dumps({"version": 1, "map": [[0, ranks, 1, 1]]}))
    return str(path)


def wait_for(folder: Path, names: list[str], jobs: list) -> None:
    end = time.monotonic() + 60
    while any(not (folder / name).exists() for name in names):
        for job in jobs:
            assert not job.done(), job.result().stdout + job.result().stderr
        assert time.monotonic() < end, f"no {names} in {folder}"
        time.sleep(0.002)


@pytest.mark.slow
def test_jobs_that_end_together_keep_what_all_decided(mpi: mpis.Mpi, tmp_path: Path) -> None:
    jobs, rounds = range(8), 5
    kept, gates = tmp_path / "decisions", tmp_path / "gates"
    kept.mkdir()
    gates.mkdir()
    environment = mpi.preload(
        HAICHI_COLLECTIVES_DECISIONS=str(kept),
        HAICHI_COLLECTIVES_ROUNDS="1",
        HAICHI_PLACEMENT=placement_file(tmp_path, 2),
    )
    program = mpi.compile(HERE / "ending.c")

    def run(job: int):
        return mpi.run(2, [program, gates, str(job), str(rounds), "90"], environment, timeout=150)

    counts = []
    with ThreadPoolExecutor(len(jobs)) as pool:
        running = [pool.submit(run, job) for job in jobs]
        for at in range(rounds):
            wait_for(gates, [f"ready.{at}.{job}" for job in jobs], running)
            (gates / f"free.{at}").touch()
            wait_for(gates, [f"freed.{at}.{job}" for job in jobs], running)
            (file,) = kept.iterdir()  # and nothing half-written beside it
            decided = json.loads(file.read_text())["decisions"]
            counts.append(len({each["size_bin"] for each in decided}))
            file.unlink()
            (gates / f"next.{at}").touch()
        for each in running:
            assert each.result().returncode == 0, each.result().stderr
    assert counts == [len(jobs)] * rounds


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_folder(path: Path) -> None:
    path.mkdir()


def make_huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 2 << 30)


def make_link(path: Path) -> None:
    """To a file that must stay as it is."""
    target = path.with_name("target")
    target.write_text("mine")
    path.symlink_to(target)


ODD = [make_fifo, make_folder, make_huge, make_link]


def decide(mpi: mpis.Mpi, place: Path, folder: Path):
    """A run that decides something, and its report."""
    report = place / "report.json"
    environment = mpi.preload(
        HAICHI_COLLECTIVES_DECISIONS=str(folder),
        HAICHI_COLLECTIVES_ROUNDS="1",
        HAICHI_PLACEMENT=placement_file(place, 3),
        HAICHI_REPORT=str(report),
    )
    program = mpi.compile(HERE.parent / "mpi" / "exchange_repeated.c")
    done = mpi.run(3, [program, "60"], environment, timeout=60)  # waiting is a TimeoutExpired
    assert done.returncode == 0, done.stdout + done.stderr
    assert "60 calls right" in done.stdout
    return json.loads(report.read_text())


@pytest.mark.slow
def test_something_else_in_the_place_of_decisions(mpi: mpis.Mpi, tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.mkdir()
    decide(mpi, tmp_path, first)
    (name,) = (path.name for path in first.iterdir())
    for make in ODD:
        folder = tmp_path / make.__name__
        folder.mkdir()
        make(folder / name)
        before = os.lstat(folder / name)
        notes = decide(mpi, tmp_path, folder)["notes"]
        assert [n for n in notes if "decisions of earlier runs are ignored" in n], make.__name__
        assert [n for n in notes if "decisions are not kept" in n], make.__name__
        after = os.lstat(folder / name)
        assert (after.st_ino, after.st_mode, after.st_size) == (
            *(before.st_ino, before.st_mode, before.st_size),
        )
    assert (tmp_path / "make_link" / "target").read_text() == "mine"


@pytest.mark.slow
def test_a_folder_that_somebody_locks_for_good(mpi: mpis.Mpi, tmp_path: Path) -> None:
    """A job waits for it once, and keeps its decisions all the same."""
    folder = tmp_path / "decisions"
    folder.mkdir()
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        notes = decide(mpi, tmp_path, folder)["notes"]
    finally:
        os.close(held)
    assert not [note for note in notes if "decisions" in note]
    (file,) = folder.iterdir()
    assert json.loads(file.read_text())["decisions"]


@pytest.mark.parametrize("make", [make_fifo, make_folder, make_huge])
def test_something_else_in_the_place_of_a_placement(
    mpi: mpis.Mpi, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    """One line that names it, as for any wrong placement."""
    make(tmp_path / "input")
    environment = mpi.preload(HAICHI_PLACEMENT=str(tmp_path / "input"))
    done = mpi.run(2, [mpi.compile(HERE / "probe.c"), tmp_path / "x"], environment, timeout=60)
    assert done.returncode != 0
    assert done.stderr.count(f"{tmp_path}/input") == 1, done.stderr


@pytest.mark.parametrize("make", [make_fifo, make_folder, make_huge])
def test_something_else_in_the_place_of_a_machine(
    mpi: mpis.Mpi, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    """A note, as for any wrong machine."""
    make(tmp_path / "input")
    report = tmp_path / "report.json"
    write_report(mpi, report, HAICHI_MACHINE=str(tmp_path / "input"))
    notes = json.loads(report.read_text())["notes"]
    assert [note for note in notes if f"{tmp_path}/input" in note]


def write_report(mpi: mpis.Mpi, report: Path, **settings: str):
    """A run that reads and writes rightly, whatever becomes of its report."""
    program = mpi.compile(HERE / "probe.c")
    environment = mpi.preload(HAICHI_REPORT=str(report), **settings)
    done = mpi.run(2, [program, report.parent / "x"], environment, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("right") == 2
    return done


def test_report_into_a_device(mpi: mpis.Mpi, tmp_path: Path) -> None:
    """As /dev/null: it is still one afterwards."""
    report = tmp_path / "null"
    try:
        os.mknod(report, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        report.write_text("")
    except OSError:
        pytest.skip("making a device needs root")
    assert "no report" not in write_report(mpi, report).stderr
    assert stat.S_ISCHR(os.lstat(report).st_mode)


def test_report_into_a_fifo(mpi: mpis.Mpi, tmp_path: Path) -> None:
    report = tmp_path / "fifo"
    os.mkfifo(report)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(report.read_text()), daemon=True)
    reader.start()
    assert "no report" not in write_report(mpi, report).stderr
    reader.join(timeout=30)
    assert json.loads(read[0])["schema"].startswith("haichi.report/")
    assert stat.S_ISFIFO(os.lstat(report).st_mode)
    # Nobody reads any more.
    assert write_report(mpi, report).stderr.count("no report: ") == 1


def test_report_through_a_link(mpi: mpis.Mpi, tmp_path: Path) -> None:
    """The caller's own is followed as a shell would; another user's is not."""
    report = tmp_path / "link"
    make_link(report)
    target = tmp_path / "target"
    write_report(mpi, report)
    assert report.is_symlink()
    assert json.loads(target.read_text())
    if os.geteuid() != 0:
        pytest.skip("a link of another user needs root")
    target.write_text("mine")
    os.chown(report, FOREIGN, FOREIGN, follow_symlinks=False)
    assert write_report(mpi, report).stderr.count("no report: ") == 1
    assert target.read_text() == "mine"
