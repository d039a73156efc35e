"""Nothing is left of a file that was closed, many may be open at once, and a collective access
takes two collective buffers of memory on each aggregator at most."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import mpis
import pytest
from haichi.report.load import load
from mpis import Mpi

HERE = Path(__file__).parent
KIB, MIB = 1 << 10, 1 << 20

# What may be left resident by some opens and closes: bounded records for the report, which some
# hundred opens fill, and events. Behind these only events, and what the MPI library itself loses
# (MPICH 4.0.2: 80 bytes an open), with a quarter for how far that varies.
LEFT, LEFT_OF_MANY, VARIES = MIB, 300 * KIB, 1.25
# More than the 2,048 communicators that MPICH has.
MANY, MORE, STOCK = 2500, 10_000, 1000

RANKS = 4
DATA = 24  # MiB of each rank
BUFFER = 8 * MIB
# Of each rank, beside the collective buffers: packed messages, and the MPI library's own.
OWN = MIB
NODES = {"four-nodes": ["0", "1", "2", "3"], "two-nodes": ["0-1", "2-3"]}
QUICK = ("regular", "four-nodes")  # most has to be packed
FIGURES = re.compile(r"rank (\d+) write (-?\d+) read (-?\d+) blocks (\d+)")


@pytest.fixture(autouse=True)
def plain_memory() -> None:
    mpis.not_with_sanitizers("sanitizers keep memory that was given back")


@pytest.fixture
def fast_folder() -> Iterator[Path]:
    """A folder in memory, where there is one: opens and closes wait for no disk."""
    shm = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="haichi-", dir=shm if shm.is_dir() else None))
    yield folder
    shutil.rmtree(folder)


def grown(mpi: Mpi, folder: Path, cycles: int, env: dict[str, str], timeout: float) -> int:
    """Runs the program; returns by how many bytes a rank grew over so many opens and closes."""
    done = mpi.run(2, [mpi.compile(HERE / "frugal.c"), folder, str(cycles)], env, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok ") == 2
    found = re.search(r"^grown (-?\d+)$", done.stdout, re.MULTILINE)
    assert found, done.stdout
    return int(found[1])


def test_nothing_is_left_after_close(mpi: Mpi, fast_folder: Path) -> None:
    """No descriptor, communicator or window after 100 opens and closes; 200 files open at once."""
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    assert grown(mpi, fast_folder, 100, mpi.preload(HAICHI_LOG="error"), timeout=240) <= LEFT


@pytest.mark.timeout(2400)
@pytest.mark.parametrize(
    "cycles",
    [pytest.param(MANY, marks=pytest.mark.slow), pytest.param(MORE, marks=pytest.mark.long)],
)
@pytest.mark.parametrize("abi", ["mpich", "openmpi"])
def test_nothing_is_left_after_many_closes(abi: str, cycles: int, fast_folder: Path) -> None:
    """One library of each kind: what is left of a file does not depend on its release."""
    known = mpis.mpis(abi)
    if not known:
        pytest.skip(f"no {abi} here: ./haichi build")
    mpi = known[0]
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    # From run to run it varies tenfold; what a library may lose is the most that it does.
    runs = [grown(mpi, fast_folder, STOCK, mpi.stock(), timeout=200) for _ in range(3)]
    own = max(runs) * cycles / STOCK
    allowed = LEFT_OF_MANY + max(own, 0) * VARIES
    left = []
    while len(left) < 3 and min(left, default=allowed + 1) > allowed:  # a leak is in every run
        env = mpi.preload(HAICHI_LOG="error")
        left.append(grown(mpi, fast_folder, cycles, env, timeout=600))
    assert min(left) <= allowed, f"{left}, without haichi {own:.0f}"


class Peaks:
    """One run of memory.c under haichi: by how much each rank grew in a write and in a read."""

    def __init__(self, mpi: Mpi, folder: Path, shape: str, nodes: list[str]) -> None:
        if not mpi.shim.exists():
            pytest.skip(f"no {mpi.shim.name} in this build")
        placement = folder / "placement.json"
        placement.write_text(
            json.dumps({"schema": "haichi.placement/1", "nodes": [{"ranks": n} for n in nodes]})
        )
        self.report = folder / "report.json"
        env = mpi.preload(HAICHI_PLACEMENT=str(placement), HAICHI_REPORT=str(self.report))
        words = [mpi.compile(HERE / "memory.c"), folder, shape, str(DATA), str(RANKS), str(BUFFER)]
        done = mpi.run(RANKS, words, env, timeout=120, check=True)
        found = [list(map(int, line)) for line in FIGURES.findall(done.stdout)]
        assert [line[0] for line in found] == list(range(RANKS)), done.stdout
        self.blocks = found[0][3]
        # Resident pages that the ranks of a node have in common are counted by each of them.
        members = RANKS // len(nodes)
        common = members * BUFFER if members > 1 else 0
        twice = (members - 1) * common * len(nodes)
        self.write = sum(line[1] for line in found) - twice
        self.read = sum(line[2] for line in found) - twice


def check_memory(mpi: Mpi, folder: Path, shape: str, nodes: str) -> None:
    """Every rank is an aggregator, so that each may have to stage what it sends and receives."""
    peaks = Peaks(mpi, folder, shape, NODES[nodes])
    most = RANKS * (2 * BUFFER * 1.05 + OWN)
    # Each has one collective buffer: were it not used, the figures would not be what they say.
    assert RANKS * BUFFER * 0.9 < peaks.write <= most, f"{peaks.write / RANKS / MIB:.1f} MiB a rank"
    assert peaks.read <= most, f"{peaks.read / RANKS / MIB:.1f} MiB a rank"
    (file,) = load(peaks.report).files
    assert [call.handled for call in file.calls] == [True, True]
    kept = file.flattening
    assert kept.view_blocks == peaks.blocks
    if shape == "irregular":
        # Offset and size of each piece, of this rank and of the four in an aggregator's part.
        assert 16 * peaks.blocks <= kept.view_bytes < 17 * peaks.blocks
        assert kept.others_bytes < 2 * 17 * peaks.blocks
    else:
        assert kept.view_bytes < KIB
        assert kept.memory_bytes < KIB
        assert kept.others_bytes < RANKS * KIB


CASES = [
    pytest.param(shape, nodes, marks=[] if (shape, nodes) == QUICK else pytest.mark.slow)
    for nodes in NODES
    for shape in ("contiguous", "regular", "irregular")
]


@pytest.mark.parametrize(("shape", "nodes"), CASES)
def test_an_access_takes_two_buffers_at_most(
    mpi: Mpi, fast_folder: Path, shape: str, nodes: str
) -> None:
    check_memory(mpi, fast_folder, shape, nodes)
