"""Hints that ranks do not share must not send them different ways, to wait for each other there."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpis import Mpi

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    "hint", ["haichi_holes=separate", "haichi_library=on"], ids=lambda hint: hint
)
def test_ranks_with_other_hints_wait_for_nobody(mpi: Mpi, tmp_path: Path, hint: str) -> None:
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    program = mpi.compile(HERE / "unequal_hints.c")
    done = mpi.run(
        3, [program, tmp_path / "x", *hint.split("=")], mpi.preload(), timeout=40, check=True
    )
    assert done.stdout.count("right") == 3
