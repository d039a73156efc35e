"""Several threads in collective accesses or exchanges at once: they share haichi's tables, records
and file of decisions.

Under `./haichi test --sanitize thread` this is the test that looks for data races.
"""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest
from exchange_support import placement_file
from haichi.export.model import Decisions
from haichi.report.load import load, load_form

HERE = Path(__file__).parent
# Locks inside the MPI library put most accesses of haichi's in order by chance: without the lock of
# haichi's table of files, 5 rounds showed nothing to ThreadSanitizer, and 60 the race.
ROUNDS = 60 if mpis.sanitizers() == "thread" else 5
THREADS = 3  # of each program
EXCHANGES = {"MPI_Alltoall", "MPI_Alltoallv", "MPI_Allgather"}


def check(mpi: mpis.Mpi, ranks: int, program: str, *words: str | Path, **settings: str) -> None:
    """The program with threads under haichi; every byte must be right, and no access race."""
    argv = [mpi.compile(HERE / program, *mpis.thread_flags()), *words]
    environment = mpi.preload(HAICHI_COLLECTIVES_AFTER="1", HAICHI_LOG="error", **settings)
    done = mpi.run(ranks, argv, environment, timeout=240)
    if "no MPI_THREAD_MULTIPLE" in done.stdout:
        pytest.skip(f"{mpi.name} does not give MPI_THREAD_MULTIPLE")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "threads: right" in done.stdout
    assert "data race" not in done.stderr


def check_files(mpi: mpis.Mpi, folder: Path, ranks: int, **settings: str) -> None:
    """The same for collective accesses."""
    if mpi.abi != "openmpi":
        pytest.skip("stock MPICH does not finish this itself: its threads spin under one lock")
    check(mpi, ranks, "threads.c", str(ROUNDS), folder, **settings)


@pytest.mark.parametrize(
    ("cb_nodes", "when"),
    [("0", "now"), ("2", "now"), ("0", "thread")],
    ids=["direct", "exchange", "behind"],
)
def test_threads_with_files_of_their_own(
    mpi: mpis.Mpi, tmp_path: Path, cb_nodes: str, when: str
) -> None:
    check_files(mpi, tmp_path, 2, HAICHI_IO_AGGREGATORS=cb_nodes, HAICHI_IO_NONBLOCKING=when)


def test_threads_whose_files_share_their_trials(mpi: mpis.Mpi, tmp_path: Path) -> None:
    """All files are of the same ranks, which see the threads' accesses in different orders; what
    counts as a trial must not depend on that."""
    placement, report = tmp_path / "placement.json", tmp_path / "report.json"
    placement.write_text('{"version": 1, "map": [[0, 2, 2, 1]]}')
    check_files(
        mpi,
        tmp_path,
        4,
        HAICHI_IO_AGGREGATORS="4",
        HAICHI_IO_TUNE="on",
        HAICHI_PLACEMENT=str(placement),
        HAICHI_REPORT=str(report),
    )
    found = load(report)
    assert found.collectives
    assert not [note for note in found.notes if "trials differ" in note]


@pytest.mark.parametrize("kept", [False, True], ids=["by trial", "decisions kept"])
def test_threads_in_exchanges_on_communicators_of_their_own(
    mpi: mpis.Mpi, tmp_path: Path, kept: bool
) -> None:
    """Each makes and frees communicators, on which calls are trials. If decisions are kept, all
    threads write to one file, each what it has decided, and none of it may get lost."""
    report, folder = tmp_path / "report.json", tmp_path / "decisions"
    folder.mkdir()
    ranks = 3 if mpi.abi == "openmpi" else 2  # a waiting thread of MPICH spins
    settings = {"HAICHI_COLLECTIVES_DECISIONS": str(folder)} if kept else {}
    check(
        mpi,
        ranks,
        "exchange_threads.c",
        str(min(ROUNDS, 20)),  # of 120 calls each
        HAICHI_COLLECTIVES_ROUNDS="1",
        HAICHI_PLACEMENT=placement_file(tmp_path, ranks),
        HAICHI_REPORT=str(report),
        **settings,
    )
    found = load(report)
    assert all(each.locked for each in found.collectives)
    assert {each.collective for each in found.collectives} == EXCHANGES
    assert not [note for note in found.notes if "decisions" in note]
    if kept:
        (file,) = folder.iterdir()
        decided = {
            (each.collective, each.size_bin) for each in load_form(file, Decisions).decisions
        }
        assert len(decided) == 2 * THREADS + 1  # blocks of MPI_Alltoallv have no size
