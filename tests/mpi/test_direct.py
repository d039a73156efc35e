"""Large pieces are accessed by their ranks themselves, on several nodes too."""

from __future__ import annotations

import json
from pathlib import Path

import mpis
import pytest

SIZE = 1 << 20

SHAPES = {
    "regions": ["hpio", "--region-size", SIZE, "--region-space", 4096, "--region-count", 2],
    # One piece of the file is many rows of memory.
    "slab": ["block3d", "--nx", 64, "--ny", 64, "--nz", 192, "--px", 4, "--py", 1, "--pz", 1],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("nodes", [1, 2])
def test_large_pieces_need_no_exchange(
    mpi: mpis.Mpi, tmp_path: Path, nodes: int, shape: str
) -> None:
    """The measurement programs themselves check what they read, byte by byte."""
    name, *options = SHAPES[shape]
    program = mpi.bench(name)
    placement = tmp_path / "placement.json"
    placement.write_text(json.dumps({"version": 1, "map": [[0, nodes, 4 // nodes, 1]]}))
    report = tmp_path / "report.json"
    environment = mpi.preload(HAICHI_PLACEMENT=str(placement), HAICHI_REPORT=str(report))
    words = [program, "--file", tmp_path / "x", *options]
    done = mpi.run(4, [str(word) for word in words], environment, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["verified"]
    document = json.loads(report.read_text())
    assert len(document["placement"]["nodes"]) == nodes
    calls = [call for file in document["files"] for call in file["calls"]]
    assert len(calls) == 2
    for call in calls:
        assert call["handled"] and call["bytes_between"] == 0
        assert any("no exchange" in why for why in call["why"])


@pytest.mark.parametrize("buffer", ["1", "3"])
def test_a_collective_buffer_of_a_byte(mpi: mpis.Mpi, tmp_path: Path, buffer: str) -> None:
    """Absurd, but what the user asked for: slow and right."""
    program = mpi.compile(mpis.ROOT / "tests" / "faults" / "probe.c")
    environment = mpi.preload(HAICHI_IO_BUFFER=buffer, HAICHI_IO_AGGREGATORS="2")
    words = [program, str(tmp_path / "x"), "pieces=4", "size=5"]
    done = mpi.run(2, words, environment, timeout=60)
    assert done.stdout.count("SUCCESS") == 6 and done.stdout.count(" right") == 2, done.stdout
