"""Calls from threads with stacks of 32 KiB: what the MPI library needs of them, haichi leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mpis import Mpi, not_with_sanitizers

HERE = Path(__file__).parent
RANKS = 4


@pytest.mark.parametrize("nodes", [["0-3"], ["0,1", "2,3"]], ids=["one", "two"])
def test_small_stacks(mpi: Mpi, nodes: list[str], tmp_path: Path) -> None:
    not_with_sanitizers("with sanitizers functions need more than 32 KiB")
    if mpi.name == "mpich-4.0.2":
        pytest.skip("stock MPICH 4.0 needs more than 32 KiB itself")
    argv: list[str | Path] = [mpi.compile(HERE / "small_stacks.c", "-pthread"), tmp_path / "data"]
    placement = tmp_path / "placement.json"
    members = [{"ranks": ranks} for ranks in nodes]
    placement.write_text(json.dumps({"schema": "haichi.placement/1", "nodes": members}))
    env = mpi.preload(
        HAICHI_PLACEMENT=str(placement),
        HAICHI_COLLECTIVES_ENABLE="on",
        HAICHI_COLLECTIVES_DECISIONS=str(tmp_path),
        HAICHI_REPORT=str(tmp_path / "report.json"),
    )
    for _ in range(2):  # the second time with what the first has decided
        done = mpi.run(RANKS, argv, env, timeout=100, check=True)
        assert done.stdout.count("right") == RANKS
