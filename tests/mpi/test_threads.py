"""Several threads in collective accesses at once: haichi's tables and records are shared by them.

Under `./haichi test --sanitize thread` this is the test that looks for data races.
"""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize("cb_nodes", ["0", "2"], ids=["direct", "exchange"])
def test_threads_with_files_of_their_own(mpi: mpis.Mpi, tmp_path: Path, cb_nodes: str) -> None:
    if mpi.abi != "openmpi":
        pytest.skip("stock MPICH does not finish this itself: its threads spin under one lock")
    program = mpi.compile(HERE / "threads.c", "-pthread")
    environment = mpi.preload(HAICHI_IO_AGGREGATORS=cb_nodes, HAICHI_LOG="error")
    done = mpi.run(2, [program, tmp_path, "5"], environment, timeout=90)
    if "no MPI_THREAD_MULTIPLE" in done.stdout:
        pytest.skip(f"{mpi.name} does not give MPI_THREAD_MULTIPLE")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "threads: right" in done.stdout
    assert "data race" not in done.stderr
