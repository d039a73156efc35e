"""Jobs that do not come to MPI_Finalize: what was recorded until then is there, and nothing of the
job is changed by it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from haichi.report.load import ReportError, load
from haichi.report.logs import logs_for
from haichi.report.model import Report
from haichi.report.summary import summarize
from mpis import ROOT, Mpi, plain_environment

RANKS = 4
CALLS = 10
BYTES = 16 * 1024  # of a rank in a call
PATIENCE_S = 60


@pytest.fixture
def program(mpi: Mpi) -> Path:
    """The program that is cut short."""
    if mpi.mpicc is None:
        pytest.skip(f"{mpi.name} has no C compiler here")
    return mpi.compile(ROOT / "tests/mpi/cut_short.c")


def wait_until(what: str, seen: Iterator[bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not next(seen):
        assert time.monotonic() < end, f"not within {PATIENCE_S} s: {what}"
        time.sleep(0.01)


def logs_have_them(path: Path) -> Iterator[bool]:
    """Whether they have CALLS calls: they may lag behind, by a bounded share of the time."""
    while True:
        report = load(path)
        assert report.cut is not None
        sent = [call.bytes_inside for file in report.files for call in file.calls[:CALLS]]
        yield (
            report.cut.ranks_without_log == ""
            and min(rank.collective_access.calls for rank in report.ranks) >= CALLS
            and sent == CALLS * [RANKS * BYTES]
        )


def logs_have_exchanges(path: Path) -> Iterator[bool]:
    """Whether they have CALLS calls of each collective of the program."""
    while True:
        calls = {each.collective: each.calls for each in load(path).collectives}
        yield all(calls.get(name, 0) >= CALLS for name in ("MPI_Alltoall", "MPI_Ialltoall"))


@contextmanager
def running(
    mpi: Mpi,
    program: Path,
    folder: Path,
    report: Path,
    how: str = "kill",
    logged: Callable[[Path], Iterator[bool]] = logs_have_them,
    **settings: str,
) -> Iterator[list[int]]:
    """A job of which each rank has made CALLS calls, which its logs have, and goes on; gives the
    ranks' processes."""
    settings |= {"HAICHI_REPORT": str(report), "HAICHI_IO_LIBRARY": "off"}
    job = subprocess.Popen(
        mpi.command(RANKS, [program, folder, str(CALLS), how], mpi.preload(**settings)),
        env={**plain_environment(), **mpi.launcher_env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    reached = [folder / f"reached-{rank}" for rank in range(RANKS)]
    try:

        def all_reached() -> Iterator[bool]:
            while True:
                assert job.poll() is None, f"the job ended by itself with {job.returncode}"
                yield all(path.exists() for path in reached)

        wait_until("all ranks come so far", all_reached())
        wait_until("the logs have all ranks' calls", logged(report))
        yield [int(path.read_text()) for path in reached]
        job.wait(timeout=PATIENCE_S)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
        job.wait()


def kill(processes: list[int], how: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError):  # the launcher ends the others when the first is gone
            os.kill(process, how)


def check_what_is_left(path: Path) -> Report:
    """All ranks were beyond CALLS calls, which the logs had."""
    assert not path.exists()
    report = load(path)
    assert report.cut is not None
    assert (report.cut.ranks_without_log, report.cut.records_damaged) == ("", 0)
    (file,) = report.files
    assert Path(file.path).name == "cut.dat"
    assert len(file.calls) >= CALLS
    for call in file.calls[:CALLS]:
        assert call.call == "MPI_File_write_at_all"
        assert call.handled
        assert call.bytes == RANKS * BYTES
        assert call.bytes_inside == RANKS * BYTES, "what each rank has sent"
        assert call.why
    assert all(rank.collective_access.calls >= CALLS for rank in report.ranks)
    assert report.access_bytes() >= RANKS * CALLS * BYTES
    assert 0 < report.cut.last_s == report.program.wall_s
    (log,) = logs_for(path)
    assert log.stat().st_size <= 1 << 20
    assert load(log) == report
    return report


@pytest.mark.parametrize("who", ["one", "all"])
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_what_was_recorded_outlives_a_killed_job(
    mpi: Mpi, program: Path, tmp_path: Path, who: str, how: signal.Signals
) -> None:
    path = tmp_path / "run.json"
    with running(mpi, program, tmp_path, path) as processes:
        kill(processes[2:3] if who == "one" else processes, how)
    report = check_what_is_left(path)
    assert report.cut is not None and report.cut.by is None
    (run,), _ = summarize([path], [report])
    assert "did not come to MPI_Finalize" in run.facts.cut


def test_collectives_outlive_a_killed_job(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with running(
        mpi,
        program,
        tmp_path,
        path,
        "exchange",
        logs_have_exchanges,
        HAICHI_COLLECTIVES_ENABLE="on",
        HAICHI_COLLECTIVES_NONBLOCKING="on",
    ) as processes:
        kill(processes, signal.SIGKILL)
    report = load(path)
    assert report.cut is not None and report.cut.records_damaged == 0
    (alltoall,) = (each for each in report.collectives if each.collective == "MPI_Alltoall")
    assert (alltoall.ranks, alltoall.nodes, alltoall.block_at_least) == (RANKS, 1, 1024)
    names = [candidate.name for candidate in alltoall.candidates]
    assert names[0] == "library" and "ring" in names, names
    assert alltoall.seconds > 0


def test_it_is_there_while_the_job_runs(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with running(mpi, program, tmp_path, path) as processes:
        check = load(path)
        assert check.access_calls() >= CALLS
        kill(processes, signal.SIGKILL)


def test_mpi_abort_is_told_with_its_code(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    arguments = [program, tmp_path, str(CALLS), "abort"]
    plain = mpi.run(RANKS, arguments, mpi.stock(), timeout=PATIENCE_S)
    for each in tmp_path.glob("reached-*"):
        each.unlink()
    environment = mpi.preload(HAICHI_REPORT=str(path), HAICHI_IO_LIBRARY="off")
    done = mpi.run(RANKS, arguments, environment, timeout=PATIENCE_S)
    assert done.returncode == plain.returncode != 0
    report = load(path)
    assert report.cut is not None
    assert (report.cut.by, report.cut.code, report.cut.rank) == ("MPI_Abort", 7, 1)
    assert report.ranks[1].collective_access.calls >= CALLS
    (run,), _ = summarize([path], [report])
    assert "rank 1 ended the run by MPI_Abort, error code 7" in run.facts.cut


def test_a_run_that_ends_well_leaves_its_report_alone(
    mpi: Mpi, program: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run-%p.json"
    environment = mpi.preload(HAICHI_REPORT=str(path), HAICHI_IO_LIBRARY="off")
    mpi.run(RANKS, [program, tmp_path, "3", "finish"], environment, timeout=PATIENCE_S, check=True)
    (written,) = tmp_path.glob("run-*")
    report = load(written)
    assert report.cut is None
    assert len(report.calls()) == 23


def test_without_a_report_nothing_is_written(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    environment = mpi.preload(HAICHI_IO_LIBRARY="off")
    arguments = [program, tmp_path, "3", "finish"]
    mpi.run(RANKS, arguments, environment, timeout=PATIENCE_S, cwd=tmp_path, check=True)
    reached = [f"reached-{rank}" for rank in range(RANKS)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cut.dat", *reached]


def test_a_descriptor_that_the_program_takes_is_the_programs(
    mpi: Mpi, program: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    environment = mpi.preload(HAICHI_REPORT=str(path), HAICHI_IO_LIBRARY="off")
    arguments = [program, tmp_path, str(CALLS), "close"]
    mpi.run(RANKS, arguments, environment, timeout=PATIENCE_S, check=True)
    assert (tmp_path / "own.dat").read_bytes() == b""
    assert any("the log of the run is given up" in note for note in load(path).notes)


@pytest.mark.parametrize("bound", ["folder", "size"])
def test_where_nothing_can_be_written_the_job_goes_on(
    mpi: Mpi, program: Path, tmp_path: Path, bound: str
) -> None:
    """No report and one line, whether there is no such folder or no file may grow so large."""
    path = tmp_path / ("none/run.json" if bound == "folder" else "run.json")
    environment = mpi.preload(HAICHI_REPORT=str(path), HAICHI_IO_LIBRARY="off")
    words = [program, tmp_path, "100", "limit" if bound == "size" else "finish"]
    done = mpi.run(RANKS, words, environment, timeout=PATIENCE_S, check=True)
    assert (tmp_path / "cut.dat").stat().st_size == RANKS * BYTES
    assert sum("haichi" in line for line in done.stderr.splitlines()) == 1, done.stderr
    with pytest.raises(ReportError):
        load(tmp_path / "none/run.json")


def test_a_disk_that_gets_full_costs_the_log_and_the_report(
    mpi: Mpi, program: Path, tmp_path: Path
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8k", "none", str(small)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip("a file system cannot be mounted here: needs root")
    try:
        environment = mpi.preload(HAICHI_REPORT=str(small / "run.json"), HAICHI_IO_LIBRARY="off")
        arguments = [program, tmp_path, "100", "finish"]
        done = mpi.run(RANKS, arguments, environment, timeout=PATIENCE_S, check=True)
        assert sum("haichi" in line for line in done.stderr.splitlines()) == 1, done.stderr
        assert "No space left on device" in done.stderr
        assert not (small / "run.json").exists()
    finally:
        subprocess.run(["umount", str(small)], check=True)
