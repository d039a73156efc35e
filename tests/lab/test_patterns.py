"""The patterns of the measurements as numbers, against the programs and slices of arrays."""

from __future__ import annotations

import json
from pathlib import Path

import mpis
import numpy as np
import pytest
from haichi.figures import network, one_node
from haichi.figures.content import wrong_bytes
from haichi.figures.patterns import (
    Block3d,
    Contiguous,
    Gapped,
    Hpio,
    Lattice,
    Pattern,
    cells,
    grid_of,
)

SMALL: list[Pattern] = [
    Hpio(4, 7, 24, 9),
    Hpio(4, 7, 24, 9, layout="contiguous"),
    Hpio(4, 50, 64, 0, memory="contiguous"),
    Block3d((5, 7, 6), (2, 2, 1), ghost=1),
    Lattice(4, (4, 6, 3, 5), 10),
    Gapped(4, 3, 5, 7, 9),
    Block3d((4, 7, 6), (1, 2, 2), cell=40, ghost=0),
    cells(4, (3, 4, 6)),
    Contiguous(4, 5000),
]


def written_by(pattern: Pattern, rank: int) -> set[int]:
    """The offsets of all bytes of a rank."""
    return {int(b) + i for b in pattern.begins(rank) for i in range(pattern.piece)}


@pytest.mark.parametrize("pattern", SMALL, ids=str)
def test_the_program_writes_what_the_model_says(
    mpi: mpis.Mpi, pattern: Pattern, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    words = [mpi.bench(pattern.program), "--file", file, *pattern.arguments()]
    line = json.loads(mpi.run(4, words, mpi.stock(), timeout=60, check=True).stdout)
    offsets = [written_by(pattern, rank) for rank in range(4)]
    assert line["bytes"] == sum(map(len, offsets)) == len(set().union(*offsets))
    assert line["file_bytes"] == pattern.file_bytes == max(map(max, offsets)) + 1
    assert wrong_bytes(pattern, file)[0] == 0


def test_the_lattice_by_hand_is_the_same_file(mpi: mpis.Mpi, tmp_path: Path) -> None:
    """Parts that end in the middle of a block, and blocks that do not fill a line."""
    pattern = Lattice(4, (6, 2, 5, 3), 10)
    words = [mpi.bench("lattice"), "--file", tmp_path / "file", *pattern.arguments()]
    mpi.run(4, [*words, "--access", "by-hand"], mpi.stock(), timeout=60, check=True)
    assert wrong_bytes(pattern, tmp_path / "file") == (0, 0)


@pytest.mark.parametrize("pattern", [Lattice(4), Gapped(4)], ids=str)
def test_what_users_complain_of_is_haichis_and_right(
    mpi: mpis.Mpi, pattern: Pattern, tmp_path: Path
) -> None:
    """pmodels/mpich#7935 and #6985 at the size of the demo, on two nodes as haichi is told."""
    report = tmp_path / "report.json"
    placement = mpis.ROOT / "machines" / "placements" / "two-nodes.taskmap"
    env = mpi.preload(HAICHI_REPORT=str(report), HAICHI_PLACEMENT=str(placement))
    words = [mpi.bench(pattern.program), "--file", tmp_path / "file", *pattern.arguments()]
    mpi.run(4, words, env, timeout=120, check=True)
    assert wrong_bytes(pattern, tmp_path / "file") == (0, 0)
    calls = json.loads(report.read_text())["files"][0]["calls"]
    assert [call["handled"] for call in calls] == [True, True]


@pytest.mark.parametrize("pattern", [p for p in SMALL if isinstance(p, Block3d)], ids=str)
def test_blocks_are_slices_of_the_array(pattern: Block3d) -> None:
    offsets = np.arange(pattern.file_bytes).reshape(*pattern.array, pattern.cell)
    rank = 0
    for x in np.array_split(offsets, pattern.grid[0], axis=0):
        for y in np.array_split(x, pattern.grid[1], axis=1):
            for z in np.array_split(y, pattern.grid[2], axis=2):
                if all(n % g == 0 for n, g in zip(pattern.array, pattern.grid, strict=True)):
                    assert written_by(pattern, rank) == set(z.ravel().tolist())
                rank += 1
    assert rank == pattern.ranks


def test_grids() -> None:
    assert [grid_of(n) for n in (1, 2, 4, 6, 8, 12, 16)] == [
        (1, 1, 1),
        (2, 1, 1),
        (2, 2, 1),
        (3, 2, 1),
        (2, 2, 2),
        (3, 2, 2),
        (4, 2, 2),
    ]


def test_the_measured_patterns_are_those_that_were_to_be_measured() -> None:
    pieces = {name: make(4).piece for name, make in one_node.PATTERNS.items()}
    assert pieces == {
        "segments": 8192,
        "hpio": 3744,
        "cells": 32 * 40,
        "cyclic": 64,
        "ghost": 192 * 8,
        "contiguous": 16 << 20,
    }
    assert all(p.ranks == network.RANKS for p in network.PATTERNS.values())


@pytest.mark.parametrize("layout", ["contiguous", "noncontiguous"])
def test_wrong_bytes_are_counted(layout: str, tmp_path: Path) -> None:
    pattern = Hpio(3, 7, 24, 9, layout)
    given = sorted(set().union(*(written_by(pattern, rank) for rank in range(3))))
    data = np.zeros(pattern.file_bytes, dtype=np.uint8)
    data[given] = [1 + ((x * 2654435761 % 2**32) >> 24) % 255 for x in given]
    file = tmp_path / "file"
    data.tofile(file)
    assert wrong_bytes(pattern, file) == (0, 0)
    gaps = np.setdiff1d(np.arange(data.size), given)
    data[[given[0], given[-1]]] ^= 1
    data[gaps] = 7
    data.tofile(file)
    assert wrong_bytes(pattern, file) == (2, len(gaps))
    data[:-1].tofile(file)
    assert wrong_bytes(pattern, file) == (1, 0)
