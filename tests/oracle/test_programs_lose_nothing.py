"""Random programs that write one file by calls of many kinds, and lose nothing.

`oracle_programs` draws programs from a seed: collective, independent, nonblocking, split and shared
accesses, through several handles, by several threads, ranks early and late. No byte is written by
two calls of a phase, so MPI forbids that any is lost (MPI 4.1, 14.6.1). What a library loses by
itself, without haichi, is left out, with the reason, in AVOID_PROGRAMS of oracle_support.py;
docs/guide/testing.md says how to read and repeat a failure. Times are in seconds.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import mpis
import pytest
from oracle_support import STOCK_LOSES, SUMMARY, Job, calls_of, fast_folder, mpi_named, program

__all__ = ["fast_folder"]

NAMES = ["mpich-4.0.2", "openmpi-4.1.4", "mpich-5.0.2", "openmpi-5.0.11"]
QUICK = [
    Job("", 2, 25, "one", options=("--single",), what="programs"),
    Job("", 2, 20, "each", what="programs"),
    Job("", 4, 15, "block2", what="programs"),
]
# Several handles of one file, and threads beside each other's library calls, are for `./haichi test
# --programs`: there some phases have library calls alone, of which ROMIO loses bytes by itself.
ONE_HANDLE = ("--only", "collective,split,strided,contiguous,ordered,world,holes,slow,views")
SLOW = [
    Job("", 2, 300, "each", first=1000, options=ONE_HANDLE, what="programs"),
    Job("", 3, 200, "one", first=2000, options=("--single", *ONE_HANDLE), what="programs"),
    Job("", 4, 200, "deal2", first=3000, options=ONE_HANDLE, what="programs"),
    Job("", 8, 30, "block4", first=4000, options=ONE_HANDLE, what="programs"),
]


def usable(name: str) -> mpis.Mpi:
    """The MPI of a name, or a skip."""
    mpi = mpi_named(name)
    if mpi.missing:
        pytest.skip(mpi.missing)
    return mpi


def run(job: Job, mpi: mpis.Mpi, folder: Path, haichi: bool, **settings: str) -> str:
    """Runs a job's programs; a failure shows what the program found."""
    job = dataclasses.replace(job, abi=mpi.abi)
    environment = {**job.environment(mpi, folder), **settings} if haichi else mpi.stock()
    words = [*job.words(mpi, folder), "--keep-going", *([] if haichi else ["--stock"])]
    if not haichi and mpi.name in STOCK_LOSES:
        words += ["--avoid", STOCK_LOSES[mpi.name]]
    done = mpi.run(job.ranks, words, environment, timeout=250)
    if done.returncode != 0:
        again = " ".join(mpi.command(job.ranks, words, environment))
        pytest.fail(f"exit code {done.returncode}\n{again}\n{done.stdout}{done.stderr[:12000]}")
    programs, failed, calls = map(int, SUMMARY.search(done.stdout).groups())
    assert (programs, failed) == (job.cases, 0) and calls > programs / 2
    if haichi:
        assert any(call["handled"] for call in calls_of(job.report(folder)))
    return done.stdout


@pytest.mark.parametrize("job", QUICK, ids=str)
@pytest.mark.parametrize("name", mpis.slow_but(NAMES[:2], NAMES))
def test_programs_lose_nothing(name: str, job: Job, fast_folder: Path) -> None:
    run(job, usable(name), fast_folder, haichi=True)


@pytest.mark.parametrize("name", mpis.slow_but(NAMES[:2], NAMES[1::2]))
def test_split_accesses_that_nobody_was_asked_about(name: str, fast_folder: Path) -> None:
    """By default ranks on several nodes access their parts of a split access alone, and after the
    first ones without a word to the others."""
    options = ("--only", "split,strided,contiguous,world,views,slow")
    job = Job("", 4, 60, "block2", first=6000, options=options, what="programs")
    run(job, usable(name), fast_folder, haichi=True, HAICHI_IO_LIBRARY="on")
    calls = [call for call in calls_of(job.report(fast_folder)) if "_begin" in call["call"]]
    assert any(call["handled"] and not call["why"] for call in calls)


@pytest.mark.slow
@pytest.mark.parametrize("job", SLOW, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_many_programs_lose_nothing(name: str, job: Job, fast_folder: Path) -> None:
    run(job, usable(name), fast_folder, haichi=True)


@pytest.mark.slow
def test_requests_of_a_second_thread_beside_an_exchange(fast_folder: Path) -> None:
    """Program 6888 of seed 7 crashed in Open MPI's progress, in two of three such jobs: a rank
    polled for its messages while its second thread completed requests of the file."""
    again = ("--repeat", "400")
    job = Job("", 2, 1, "deal3", seed=7, first=6888, options=again, what="programs")
    run(job, usable("openmpi-4.1.4"), fast_folder, haichi=True)


# A nonblocking collective write, and one rank's strided write through another handle, which the
# library carries out by sieving. Without the guard it lost bytes in one of its first 12 runs, in
# each of ten jobs. Its number stands for it only until programs are drawn otherwise.
RACE = Job(
    "",
    2,
    1,
    "one",
    seed=1,
    first=164,
    options=("--single", "--repeat", "300"),
    what="programs",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", mpis.slow_but(NAMES[:2], NAMES[::2]))
def test_without_the_guard_bytes_are_lost(name: str, fast_folder: Path) -> None:
    """The same program, repeated: with haichi it loses nothing, and with haichi whose locks nobody
    sees ("Who may fill holes" in docs/notes.md) it does: it is the guard that keeps the bytes."""
    mpi = usable(name)
    run(RACE, mpi, fast_folder, haichi=True)
    no_locks = mpi.compile(Path(__file__).parent / "no_locks.c", "-shared", "-fPIC")
    job = dataclasses.replace(RACE, abi=mpi.abi)
    environment = job.environment(mpi, fast_folder)
    environment["LD_PRELOAD"] = f"{no_locks}:{environment['LD_PRELOAD']}"
    done = mpi.run(job.ranks, job.words(mpi, fast_folder), environment, timeout=250)
    assert done.returncode == 1, done.stdout + done.stderr[:4000]
    assert "instead: what was there before the phase" in done.stderr


@pytest.mark.parametrize("name", mpis.slow_but(NAMES[:2], NAMES[1::2]))
def test_the_libraries_by_themselves_lose_nothing(name: str, fast_folder: Path) -> None:
    """Without haichi: the generator and what it avoids are under test. Not with ROMIO, which loses
    bytes of collective writes beside independent ones, by data sieving (program 5 of 4 ranks)."""
    run(QUICK[0], usable(name), fast_folder, haichi=False)
    run(QUICK[2], usable(name), fast_folder, haichi=False)


def test_a_lost_byte_is_seen_and_named(fast_folder: Path) -> None:
    """A test that can't fail proves nothing: here a write is lost on purpose."""
    mpi = usable("mpich-4.0.2")
    lossy = mpi.compile(Path(__file__).parent / "lost_write.c", "-shared", "-fPIC")
    words = [program(mpi, "oracle_programs"), "--programs", "10", "--dir", fast_folder]
    done = mpi.run(2, [*words, "--stock", "--single"], mpi.stock(lossy), timeout=120)
    assert done.returncode == 1
    assert "instead: what was there before the phase" in done.stderr
