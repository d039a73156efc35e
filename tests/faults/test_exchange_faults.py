"""Faults in an exchange of haichi's: a rank that does not come, blocks that do not fit."""

from __future__ import annotations

import json
import re
from pathlib import Path

import mpis
import pytest
from test_faults import mpi

__all__ = ["mpi"]  # a fixture

HERE = Path(__file__).parent
ALGORITHMS = ["auto", "ring", "pair", "bruck(2)", "node_aware(1)", "spread(nd_rank_shift,1)"]


@pytest.fixture
def two_nodes(tmp_path: Path) -> str:
    """A placement of four ranks."""
    placement = tmp_path / "placement.json"
    placement.write_text(json.dumps({"version": 1, "map": [[0, 2, 2, 1]]}))
    return str(placement)


@pytest.mark.parametrize("calls", mpis.slow_but([40], [4, 40]), ids=["while trying", "decided"])
def test_a_rank_that_never_comes_ends_the_job_as_without_haichi(
    mpi: mpis.Mpi, two_nodes: str, calls: int
) -> None:
    """The others wait in an all-to-all, haichi's or the library's."""
    program = mpi.compile(HERE / "absent.c")
    environment = mpi.preload(
        HAICHI_COLLECTIVES_AFTER="1", HAICHI_PLACEMENT=two_nodes, HAICHI_COLLECTIVES_ROUNDS="2"
    )
    stock = mpi.run(4, [program, str(calls)], mpi.stock(), timeout=50)
    done = mpi.run(4, [program, str(calls)], environment, timeout=50)
    if mpis.sanitizers() and min(stock.returncode, done.returncode) < 0:
        pytest.skip("the MPI's own launcher ends by a signal where sanitizers are loaded into it")
    assert done.returncode == stock.returncode != 0
    assert "RETURNED" not in done.stdout


@pytest.mark.parametrize("algorithm", mpis.slow_but(["auto", "bruck(2)"], ALGORITHMS))
def test_blocks_that_are_too_long_are_an_error_where_they_come_and_nobody_waits(
    mpi: mpis.Mpi, two_nodes: str, algorithm: str
) -> None:
    """As the libraries have it, under MPI_ERRORS_RETURN."""
    program = mpi.compile(HERE / "truncated.c")
    environment = mpi.preload(
        HAICHI_COLLECTIVES_AFTER="1",
        HAICHI_PLACEMENT=two_nodes,
        HAICHI_COLLECTIVES_ALGORITHM=algorithm,
    )
    done = mpi.run(4, [program, "5"], environment, timeout=50)
    told = dict(re.findall(r"rank (\d+): (\w+)", done.stdout))
    assert told == {"0": "truncated", "1": "success", "2": "success", "3": "success"}
