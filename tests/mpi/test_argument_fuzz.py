"""Legal and illegal arguments: each rank's errors and bytes are those without haichi."""

from __future__ import annotations

import json
from pathlib import Path

import mpis
import pytest
from mpis import Mpi

HERE = Path(__file__).parent
RANKS = 4
CASES = 150


def logs(mpi: Mpi, folder: Path, seed: int, env: dict[str, str]) -> list[list[str]]:
    """What each rank writes, line by line."""
    folder.mkdir()
    program = mpi.compile(HERE / "argument_fuzz.c")
    mpi.run(RANKS, [program, folder, str(seed), str(CASES)], env, timeout=150, check=True)
    return [(folder / f"log.{rank}").read_text().splitlines() for rank in range(RANKS)]


@pytest.mark.parametrize("seed", mpis.slow_but([1], range(1, 9)))
def test_errors_and_bytes_are_those_of_the_library(mpi: Mpi, tmp_path: Path, seed: int) -> None:
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    placement = tmp_path / "placement.json"
    placement.write_text(json.dumps({"version": 1, "map": [[0, 2, 2, 1]]}))
    env = mpi.preload(
        HAICHI_PLACEMENT=str(placement),
        HAICHI_COLLECTIVES_NONBLOCKING="on" if seed % 2 else "off",
        HAICHI_COLLECTIVES_AFTER="1",
    )
    stock = logs(mpi, tmp_path / "stock", seed, mpi.stock())
    found = logs(mpi, tmp_path / "haichi", seed, env)
    wrong = [
        f"rank {rank}: {theirs} | {ours}"
        for rank in range(RANKS)
        for theirs, ours in zip(stock[rank], found[rank], strict=True)
        if theirs != ours
    ]
    assert not wrong, "\n".join(wrong[:20])
