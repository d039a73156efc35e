"""What is kept with a datatype belongs to it alone: a handle may be used again for another type, a
duplicate outlives what it was made of, threads use one for the first time at once.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from mpis import Mpi, sanitizers, thread_flags

HERE = Path(__file__).parent
NOTHING_KEPT_BACK = "quarantine_size_mb=0:thread_local_quarantine_size_kb=0"


@pytest.mark.parametrize("cb_nodes", ["0", "1"], ids=["direct", "exchange"])
def test_a_type_is_never_taken_for_another(mpi: Mpi, tmp_path: Path, cb_nodes: str) -> None:
    env = mpi.preload(HAICHI_LOG="error", HAICHI_IO_AGGREGATORS=cb_nodes)
    if sanitizers():  # which keep back what is freed: no handle would be seen again
        env["ASAN_OPTIONS"] = f"{os.environ.get('ASAN_OPTIONS', '')}:{NOTHING_KEPT_BACK}"
    done = mpi.run(2, [mpi.compile(HERE / "kept_types.c"), tmp_path], env, timeout=120)
    assert done.returncode == 0 and "FAILED" not in done.stdout, done.stdout + done.stderr
    again = re.search(r"handles seen again: (\d+)", done.stdout)
    # Otherwise a table by handle would pass too.
    assert again and int(again[1]) > 10


def test_threads_that_use_a_type_for_the_first_time(mpi: Mpi) -> None:
    env = mpi.preload(HAICHI_LOG="error")
    argv = [mpi.compile(HERE / "type_threads.c", *thread_flags()), "20"]
    done = mpi.run(2, argv, env, timeout=240)
    if "no MPI_THREAD_MULTIPLE" in done.stdout:
        pytest.skip(f"{mpi.name} does not give MPI_THREAD_MULTIPLE")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "threads: right" in done.stdout
    assert "data race" not in done.stderr
