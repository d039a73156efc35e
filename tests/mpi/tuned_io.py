"""The program tuned_io.c: interleaved writes and reads of a file that is opened anew each time."""

from __future__ import annotations

from pathlib import Path

import pytest
from haichi.report.load import load
from haichi.report.model import Report
from mpis import Mpi

HERE = Path(__file__).parent
RANKS = 4


def run(mpi: Mpi, folder: Path, *words: str, rounds: int, nodes: int = 2, **env: str) -> Report:
    """On so many pretended nodes; every byte must be right."""
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    placement, report = folder / "placement.json", folder / "report.json"
    placement.write_text(f'{{"version": 1, "map": [[0, {nodes}, {RANKS // nodes}, 1]]}}')
    preloaded = mpi.preload(HAICHI_PLACEMENT=str(placement), HAICHI_REPORT=str(report), **env)
    program = mpi.compile(HERE / "tuned_io.c")
    done = mpi.run(RANKS, [program, str(folder / "x"), str(rounds), *words], preloaded, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{rounds} rounds right" in done.stdout
    return load(report)
