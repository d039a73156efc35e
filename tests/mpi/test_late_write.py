"""A nonblocking write of the MPI library that reaches the file in the middle of a collective one.

The library may write for an outstanding request at any time. A read-modify-write of haichi's over
those bytes would undo it, so there must be none while one may be under way, and one afterwards.
"""

from __future__ import annotations

import json
from pathlib import Path

import mpis
import pytest
from mpis import Mpi

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def late_aio(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The preload that holds asynchronous writes back."""
    library = tmp_path_factory.mktemp("late_aio") / "liblate_aio.so"
    source = HERE / "late_aio.c"
    mpis.run_bounded(["cc", "-O2", "-fPIC", "-shared", "-o", library, source, "-ldl"], check=True)
    return library


def test_no_byte_of_it_is_lost(mpi: Mpi, late_aio: Path, tmp_path: Path) -> None:
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    report = tmp_path / "report.json"
    env = mpi.preload(late_aio, HAICHI_REPORT=str(report), HAICHI_LOG="error")
    done = mpi.run(3, [mpi.compile(HERE / "late_write.c"), tmp_path], env, timeout=60)
    assert done.returncode == 0 and "FAILED" not in done.stdout, done.stdout + done.stderr
    # Two writes on rank 0, one of each kind: otherwise this library writes in another way, and the
    # test would show nothing.
    assert "late_aio: 2 writes held, 0 let go in a read" in done.stderr
    calls = [c for file in json.loads(report.read_text())["files"] for c in file["calls"]]
    assert [call["holes"] for call in calls] == ["rmw", "separate", "rmw"] * 2
    assert "may be under way" in "".join(calls[1]["why"])
