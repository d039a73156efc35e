"""Accesses of a device's memory are the MPI library's, on all ranks if one rank's memory is it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from mpis import Mpi

HERE = Path(__file__).parent


@pytest.mark.parametrize("device_rank", ["1", "none"])
def test_files(mpi: Mpi, device_rank: str, tmp_path: Path) -> None:
    program = mpi.compile(HERE / "many_files.c")
    fake = tmp_path / "libcuda.so.1"
    shutil.copy(mpi.compile(HERE / "fake_cuda.c", "-shared", "-fPIC"), fake)
    report = tmp_path / "report.json"
    env = mpi.preload(fake, HAICHI_REPORT=str(report), DEVICE_RANK=device_rank)
    done = mpi.run(2, [program, tmp_path, "3"], env, timeout=60, check=True)
    assert done.stdout.count("right") == 2
    calls = [call for file in json.loads(report.read_text())["files"] for call in file["calls"]]
    assert calls
    assert {call["handled"] for call in calls} == {device_rank == "none"}
    if device_rank == "1":
        assert "its memory is a device's" in report.read_text()


def test_no_driver_is_looked_for_in_files(mpi: Mpi, tmp_path: Path) -> None:
    """A driver that isn't loaded owns no memory: the loader searches for none."""
    program = mpi.compile(HERE / "many_files.c")
    done = mpi.run(
        2, [program, tmp_path, "1"], mpi.preload(LD_DEBUG="libs"), timeout=60, check=True
    )
    assert "find library=" in done.stderr
    searches = [line for line in done.stderr.splitlines() if "find library=" in line]
    assert not [line for line in searches if "libcuda" in line or "libamdhip" in line]
