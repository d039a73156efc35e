"""Programs that start further ranks: nothing waits for a rank that may have no haichi."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from mpis import ROOT, Mpi, run_bounded


def spawned(mpi: Mpi) -> Path:
    """The test program; a skip where MPI_Comm_spawn does not work."""
    if mpi.name == "mpich-4.0.2":
        pytest.skip("Debian's MPICH 4.0.2, where MPI_Comm_spawn fails in any program")
    return mpi.compile(ROOT / "tests/mpi/spawned.c")


@pytest.mark.parametrize("how", [[], ["multiple"]], ids=["one", "multiple"])
@pytest.mark.parametrize("scale", ["1025", "2"], ids=["small", "large"])
def test_children_have_haichi_too(mpi: Mpi, how: list[str], scale: str, tmp_path: Path) -> None:
    """Over a communicator of two worlds every call is the library's; each world has its own. In
    large jobs ranks that were in no call that brings others do not look."""
    report = tmp_path / "report.json"
    env = mpi.preload(
        HAICHI_COLLECTIVES_ENABLE="on", HAICHI_REPORT=str(report), HAICHI_SCALE_RANKS=scale
    )
    done = mpi.run(2, [spawned(mpi), tmp_path / "data", *how], env, timeout=60, check=True)
    assert done.stdout == "intact, 2 of 2 children have a shim\n"
    # The children's collectives are not in it, nor do they write over it.
    written = json.loads(report.read_text())
    assert written["program"]["ranks"] == 2
    assert written["files"] == []
    assert [path.name for path in tmp_path.iterdir() if "report" in path.name] == ["report.json"]


@pytest.mark.parametrize("scale", ["1025", "2"], ids=["small", "large"])
def test_children_without_haichi_hang_nobody(mpi: Mpi, scale: str, tmp_path: Path) -> None:
    """What only the launcher can find, by an info, is started as it is, without haichi."""
    env = mpi.preload(HAICHI_COLLECTIVES_ENABLE="on", HAICHI_SCALE_RANKS=scale)
    words = [spawned(mpi), tmp_path / "data", "wdir"]
    done = mpi.run(2, words, env, timeout=60, check=True)
    assert done.stdout == "intact, 0 of 2 children have a shim\n"


def test_a_report_of_the_launcher_is_not_written_over(mpi: Mpi, tmp_path: Path) -> None:
    """Where all ranks get the launcher's environment, the children's report has its own name."""
    report = tmp_path / "report.json"
    env = mpi.preload(HAICHI_REPORT=str(report), HAICHI_PLACEMENT="")
    words = mpi.command(2, [spawned(mpi), tmp_path / "data"])
    done = run_bounded(words, env={**os.environ, **mpi.launcher_env, **env}, timeout=60, check=True)
    assert "intact, 2 of 2" in done.stdout
    names = sorted(path.name for path in tmp_path.iterdir() if "report" in path.name)
    assert names[0] == "report.json"
    assert [name.startswith("report.json.spawned-") for name in names[1:]] == [True]
    assert json.loads(report.read_text())["program"]["ranks"] == 2
