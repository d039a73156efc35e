"""What the tests of collectives have in common: jobs on several nodes that this machine plays."""

from __future__ import annotations

import json
from pathlib import Path

import mpis
import pytest
from haichi.report.load import load
from haichi.report.model import Report
from mpis import Mpi

# More ranks than cores: few where a waiting rank spins (MPICH), the rest where it yields.
RANKS = {"mpich": (1, 3, 5, 8), "mpiabi": (4,), "openmpi": (1, 2, 7, 16)}
# How the ranks are dealt out, by number of ranks: unequal nodes.
NODES = {
    1: ["0"],
    2: ["0", "1"],
    3: ["0,2", "1"],
    4: ["0", "1-3"],
    5: ["0", "1,3", "2,4"],
    7: ["0,3,6", "1,4", "2,5"],
    8: ["0", "1-2", "3-7"],
    16: ["0", "1-3", "4-8", "9-15"],
}


def placement_file(folder: Path, ranks: int) -> str:
    """A placement that plays several nodes on this machine."""
    path = folder / "placement.json"
    nodes = [{"ranks": each} for each in NODES[ranks]]
    path.write_text(json.dumps({"schema": "haichi.placement/1", "nodes": nodes}))
    return str(path)


def run_on_nodes(
    mpi: Mpi, folder: Path, ranks: int, argv: list[str | Path], **settings: str
) -> tuple[str, Report]:
    """Output and report of a program that ends well, on several nodes."""
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    report = folder / "report.json"
    if "HAICHI_PLACEMENT" not in settings:
        settings["HAICHI_PLACEMENT"] = placement_file(folder, ranks)
    env = mpi.preload(HAICHI_REPORT=str(report), **settings)
    done = mpi.run(ranks, argv, env, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, load(report)


def first_mpi() -> Mpi:
    """One MPI is enough where haichi's own files are tested."""
    mpi = next((each for each in mpis.mpis() if not each.missing and each.shim.exists()), None)
    if mpi is None:
        pytest.skip("no MPI")
    return mpi
