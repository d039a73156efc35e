"""The measurement of haichi's overhead runs, keeps its samples, and says when it cannot."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import mpis
import pytest
from haichi.mpi import available
from mpis import BUILD, ROOT

SCRIPT = ROOT / "bench/overhead/run.py"
VARIANTS = {"stock", "haichi", "HAICHI_DISABLE=1"}
# The unit and the variants of each cost.
COSTS = [("ns", VARIANTS)] * 3 + [
    ("s", VARIANTS),
    ("ns", {"stock", "--record"}),
    ("ns", {"stock", "--sequence"}),
]


def measure(*words: str, build: Path = BUILD) -> subprocess.CompletedProcess[str]:
    """Runs the measurement on a build directory."""
    env = {**os.environ, "HAICHI_BUILD": str(build)}
    return mpis.run_bounded([sys.executable, str(SCRIPT), *words], env=env, timeout=280)


@pytest.mark.slow
def test_measures_all_costs(tmp_path: Path) -> None:
    """Every MPI of the distribution gets all costs in all variants, with a verdict each."""
    found = available("mpich", "openmpi")
    if not found:
        pytest.skip("Debian's MPICH and Open MPI are not installed: apt install mpich openmpi-bin")
    done = measure("--repetitions", "2", "--json", str(tmp_path / "samples.json"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("wanted: at most") == len(COSTS) * len(found)
    costs = json.loads((tmp_path / "samples.json").read_text())["costs"]
    assert [(cost["unit"], set(cost["samples"])) for cost in costs] == COSTS * len(found)
    for cost in costs:
        assert all(len(values) == 2 and min(values) > 0 for values in cost["samples"].values())


def test_one_repetition_has_no_spread() -> None:
    """Fewer than two repetitions are refused."""
    done = measure("--repetitions", "1")
    assert done.returncode == 2
    assert "at least 2" in done.stderr


def test_a_missing_build_is_named(tmp_path: Path) -> None:
    """Without the programs: one line that says which and what to type."""
    if not mpis.mpis():
        pytest.skip("no MPI here")
    done = measure(build=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "is not built: ./haichi build" in done.stderr
