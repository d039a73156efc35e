"""Nothing is left of a file that was closed, and many may be open at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpis import Mpi

HERE = Path(__file__).parent


def check_frugal(mpi: Mpi, folder: Path, cycles: int, timeout: float) -> None:
    """Runs the program under haichi."""
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    program = mpi.compile(HERE / "frugal.c")
    env = mpi.preload(HAICHI_LOG="error")
    done = mpi.run(2, [program, folder, str(cycles)], env, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok ") == 2


def test_nothing_is_left_after_close(mpi: Mpi, tmp_path: Path) -> None:
    """No descriptor after 100 opens and closes; 200 files open at once."""
    check_frugal(mpi, tmp_path, 100, timeout=240)


@pytest.mark.slow
def test_nothing_is_left_after_ten_thousand_closes(mpi: Mpi, tmp_path: Path) -> None:
    """No library has that many communicators to lose."""
    check_frugal(mpi, tmp_path, 10_000, timeout=280)
