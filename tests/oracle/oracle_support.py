"""What the tests of this folder share: pretended nodes, preloads and a folder in memory."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import mpis
import pytest


def node_of(how: str, ranks: int) -> list[int]:
    """Node of each rank: "one", "each", "block<n>", "deal<n>" (round robin) or "uneven"."""
    if how == "one":
        return [0] * ranks
    if how == "each":
        return list(range(ranks))
    if how == "uneven":
        return [0 if rank < (ranks + 1) // 2 else 1 + rank % 3 for rank in range(ranks)]
    nodes = int(re.sub(r"\D", "", how))
    if how.startswith("deal"):
        return [rank % nodes for rank in range(ranks)]
    return [rank * nodes // ranks for rank in range(ranks)]


def placement(how: str, ranks: int, folder: Path) -> Path:
    """A haichi.placement/1 file for pretended nodes."""
    where = node_of(how, ranks)
    nodes = [
        {"name": f"n{node}", "ranks": ",".join(str(r) for r in range(ranks) if where[r] == node)}
        for node in sorted(set(where), key=where.index)
    ]
    path = folder / "placement.json"
    path.write_text(json.dumps({"schema": "haichi.placement/1", "nodes": nodes}))
    return path


def yielding(mpi: mpis.Mpi) -> str:
    """What lets more ranks than cores share the cores while they wait."""
    library = mpis.BUILD / "lib" / "libucxyield.so"
    return str(library) if mpi.abi == "mpich" and library.exists() else ""


@pytest.fixture
def fast_folder() -> Iterator[Path]:
    """A folder in memory, where a sync costs nothing."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="oracle-", dir=base))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def preloads(*libraries: str) -> dict[str, str]:
    """LD_PRELOAD of those that there are."""
    named = [library for library in libraries if library]
    return {"LD_PRELOAD": ":".join(named)} if named else {}
