"""As many files and communicators as without haichi, or nearly: under a limit of descriptors, and
near MPICH's number of communicators for all, 2,048."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mpis import Mpi

HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.parametrize(("files", "limit"), [(600, 1024), (900, 1024), (1100, 4096)])
def test_many_files(mpi: Mpi, files: int, limit: int, tmp_path: Path) -> None:
    program = mpi.compile(HERE / "many_files.c")
    argv: list[str | Path] = ["sh", "-c", f'ulimit -n {limit}; exec "$@"', "limited", program]
    env = mpi.preload(HAICHI_REPORT=str(tmp_path / "report.json"))
    done = mpi.run(2, [*argv, tmp_path, str(files)], env, timeout=100, check=True)
    assert done.stdout.count("right") == 2, done.stdout
    listed = json.loads((tmp_path / "report.json").read_text())["files"]
    handled = [all(call["handled"] for call in file["calls"]) for file in listed if file["calls"]]
    # Beyond three quarters of the descriptors haichi keeps none.
    assert handled[0] == (files < 3 * limit // 4)


@pytest.mark.long
def test_many_communicators(mpi: Mpi, tmp_path: Path) -> None:
    """haichi takes 64 at most, and one of all ranks."""
    program = mpi.compile(HERE / "many_communicators.c")
    env = mpi.preload(HAICHI_COLLECTIVES_ENABLE="on", HAICHI_REPORT=str(tmp_path / "report.json"))
    done = mpi.run(2, [program, "1975"], env, timeout=100, check=True)
    assert done.stdout.count("right") == 2, done.stdout
