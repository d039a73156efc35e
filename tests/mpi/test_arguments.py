"""What a program gives to MPI and no library looks at, haichi must not look at either."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mpis import Mpi

HERE = Path(__file__).parent
RANKS = 4


@pytest.fixture
def two_nodes(tmp_path: Path) -> str:
    """A placement of four ranks."""
    placement = tmp_path / "placement.json"
    placement.write_text(json.dumps({"version": 1, "map": [[0, 2, 2, 1]]}))
    return str(placement)


@pytest.mark.parametrize("nonblocking", ["off", "on"])
def test_ignored_arguments_are_not_looked_at(mpi: Mpi, two_nodes: str, nonblocking: str) -> None:
    """Null and garbage as datatypes where MPI_IN_PLACE stands, or, with MPICH, nothing is sent."""
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    program = mpi.compile(HERE / "ignored_arguments.c")
    argv = [program, *(["nothing"] if mpi.abi != "openmpi" else [])]
    stock = mpi.run(RANKS, argv, mpi.stock(), timeout=60)
    assert stock.stdout == "right\n", stock.stderr
    env = mpi.preload(HAICHI_PLACEMENT=two_nodes, HAICHI_COLLECTIVES_NONBLOCKING=nonblocking)
    done = mpi.run(RANKS, argv, env, timeout=60)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


def test_attributes_are_copied_and_deleted_as_the_program_does(
    mpi: Mpi, two_nodes: str, tmp_path: Path
) -> None:
    """haichi's own communicators carry none of them."""
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    argv = [mpi.compile(HERE / "attributes.c"), tmp_path / "file"]
    env = mpi.preload(HAICHI_PLACEMENT=two_nodes)
    said = [
        mpi.run(RANKS, argv, each, timeout=60, check=True).stdout for each in (mpi.stock(), env)
    ]
    assert said[0] == said[1]
    assert "freed twice" not in said[1]
