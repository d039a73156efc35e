"""Error handlers of the program that never return to MPI."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mpis import ROOT, Mpi


@pytest.mark.parametrize("how", ["throw", "jump"])
def test_an_error_handler_may_leave_the_call(mpi: Mpi, how: str, tmp_path: Path) -> None:
    """An exception gets to the program, and after either haichi takes calls as before."""
    flags = ["-x", "c++", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
    flags += ["-Wl,--no-as-needed", "-lstdc++"]
    program = mpi.compile(ROOT / "tests/mpi/error_exits.cpp", *flags)
    stock = mpi.run(2, [program, how, tmp_path / "stock"], timeout=60)
    if "intact" not in stock.stdout:
        pytest.skip(f"{mpi.name} does not stand it without haichi: {stock.stdout.strip()[:80]}")
    report = tmp_path / "report.json"
    env = mpi.preload(HAICHI_REPORT=str(report))
    done = mpi.run(2, [program, how, tmp_path / "data"], env, timeout=60, check=True)
    assert done.stdout == stock.stdout
    assert "failed inside" not in done.stderr
    calls = json.loads(report.read_text())["files"][0]["calls"]
    assert [call["handled"] for call in calls] == [True, True]


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("how", ["throw", "jump"])
def test_an_error_handler_may_leave_a_collective_write(
    mpi: Mpi, how: str, nodes: int, tmp_path: Path
) -> None:
    """haichi's own failures, told by the file's handler on every rank: nothing is left behind of
    the calls, neither of the exchange nor of the file, and the next file is haichi's."""
    flags = ["-x", "c++", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
    flags += ["-Wl,--no-as-needed", "-lstdc++"]
    program = mpi.compile(ROOT / "tests/mpi/error_exits.cpp", *flags)
    fault = mpi.compile(ROOT / "tests/faults/faultio.c", "-shared", "-fPIC", "-ldl")
    placement, report = tmp_path / "placement.json", tmp_path / "report.json"
    placement.write_text(json.dumps({"version": 1, "map": [[0, nodes, 2 // nodes, 1]]}))
    env = mpi.preload(
        fault,
        FAULT_PATH="bad",
        FAULT_WRITE="EIO",
        HAICHI_REPORT=str(report),
        HAICHI_PLACEMENT=str(placement),
        HAICHI_IO_BUFFER="8k",
    )
    words = [program, how, tmp_path / "data", tmp_path / "bad"]
    done = mpi.run(2, words, env, timeout=60, check=True)
    assert done.stdout.split() == ["intact"]
    assert "failed inside" not in done.stderr
    bad, good = json.loads(report.read_text())["files"]
    assert [call["handled"] for call in bad["calls"]] == [True] * 5
    assert [call["handled"] for call in good["calls"]] == [True, True]
