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
