"""Several threads in collective accesses at once: haichi's tables and records are shared by them.

Under `./haichi test --sanitize thread` this is the test that looks for data races.
"""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest
from haichi.report.load import load

HERE = Path(__file__).parent
# Locks inside the MPI library put most accesses of haichi's in order by chance: without the lock of
# haichi's table of files, 5 rounds showed nothing to ThreadSanitizer, and 60 the race.
ROUNDS = 60 if mpis.sanitizers() == "thread" else 5
# The program's own accesses are watched too, and the sanitizer has to be there before it starts.
FLAGS = ["-pthread", *(["-fsanitize=thread"] if mpis.sanitizers() == "thread" else [])]


def run(mpi: mpis.Mpi, folder: Path, ranks: int, **settings: str) -> None:
    """The program with threads under haichi; every byte must be right, and no access race."""
    if mpi.abi != "openmpi":
        pytest.skip("stock MPICH does not finish this itself: its threads spin under one lock")
    program = mpi.compile(HERE / "threads.c", *FLAGS)
    environment = mpi.preload(HAICHI_LOG="error", **settings)
    done = mpi.run(ranks, [program, str(ROUNDS), folder], environment, timeout=240)
    if "no MPI_THREAD_MULTIPLE" in done.stdout:
        pytest.skip(f"{mpi.name} does not give MPI_THREAD_MULTIPLE")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "threads: right" in done.stdout
    assert "data race" not in done.stderr


@pytest.mark.threaded
@pytest.mark.parametrize(
    ("cb_nodes", "when"),
    [("0", "now"), ("2", "now"), ("0", "thread")],
    ids=["direct", "exchange", "behind"],
)
def test_threads_with_files_of_their_own(
    mpi: mpis.Mpi, tmp_path: Path, cb_nodes: str, when: str
) -> None:
    run(mpi, tmp_path, 2, HAICHI_IO_AGGREGATORS=cb_nodes, HAICHI_IO_NONBLOCKING=when)


@pytest.mark.threaded
def test_threads_whose_files_share_their_trials(mpi: mpis.Mpi, tmp_path: Path) -> None:
    """All files are of the same ranks, which see the threads' accesses in different orders; what
    counts as a trial must not depend on that."""
    placement, report = tmp_path / "placement.json", tmp_path / "report.json"
    placement.write_text('{"version": 1, "map": [[0, 2, 2, 1]]}')
    run(
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
