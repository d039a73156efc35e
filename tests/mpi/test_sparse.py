"""Pieces that lie far apart: cycles follow the bytes, not the range that they lie in."""

from __future__ import annotations

import json
from pathlib import Path

import mpis
import pytest

MOST_CYCLES = 2  # 40,000 bytes; as a range 1.5 GB
GROUPS, DISTANCE = 500, 3 << 20


def run(mpi: mpis.Mpi, folder: Path, shape: str, nodes: int, **settings: str) -> list[int]:
    """The cycles of the write and of the read; the program itself looks at every byte."""
    placement = folder / "placement.json"
    placement.write_text(json.dumps({"version": 1, "map": [[0, nodes, 4 // nodes, 1]]}))
    report = folder / "report.json"
    environment = mpi.preload(
        HAICHI_PLACEMENT=str(placement), HAICHI_REPORT=str(report), **settings
    )
    program = mpi.compile(mpis.ROOT / "tests" / "mpi" / "sparse.c")
    words = [program, str(folder / "x"), shape, str(GROUPS), str(DISTANCE)]
    done = mpi.run(4, words, environment, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["right"]
    files = json.loads(report.read_text())["files"]
    calls = [call for file in files for call in file["calls"] if call["call"].endswith("_all")]
    assert len(calls) == 2
    assert all(call["handled"] for call in calls)
    return [call["cycles"] for call in calls]


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("shape", ["regular", "irregular"])
def test_few_cycles_have_all_pieces(mpi: mpis.Mpi, tmp_path: Path, shape: str, nodes: int) -> None:
    """Irregular ones are too many for an announcement: the ranks tell where they are."""
    for cycles in run(mpi, tmp_path, shape, nodes):
        assert 0 < cycles <= MOST_CYCLES


def test_stripes_without_bytes_are_no_cycles(mpi: mpis.Mpi, tmp_path: Path) -> None:
    """Two of three stripes are empty: each aggregator has half of the others."""
    for cycles in run(mpi, tmp_path, "regular", 2, HAICHI_IO_STRIPE_UNIT=str(1 << 20)):
        assert 0 < cycles <= GROUPS / 2


@pytest.mark.parametrize("shape", ["regular", "irregular"])
def test_holes_are_filled_within_a_group_only(mpi: mpis.Mpi, tmp_path: Path, shape: str) -> None:
    run(mpi, tmp_path, shape, 2, HAICHI_IO_HOLES="rmw")
    # What no rank has written takes no room: a group is in one block of the file or in two.
    assert (tmp_path / "x").stat().st_blocks * 512 < GROUPS * 4 * 4096
