"""The measurement programs: the files that bench/io leaves, against a model written as the patterns
are described."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import mpis
import numpy as np
import pytest

COUNT, SIZE, SPACE = 7, 24, 9


def byte(x: int) -> int:
    """What belongs at offset x of the file."""
    return 1 + ((x * 2654435761 % 2**32) >> 24) % 255


def model(ranks: int, layout: str) -> tuple[np.ndarray, np.ndarray]:
    """The file's bytes, and which of them a rank wrote: one region after the other, in words."""
    stride = SIZE if layout == "contiguous" else SIZE + SPACE
    content = np.zeros(ranks * COUNT * stride, dtype=np.uint8)
    written = np.zeros_like(content, dtype=bool)
    for rank, region in itertools.product(range(ranks), range(COUNT)):
        turn = rank * COUNT + region if layout == "contiguous" else region * ranks + rank
        for x in range(turn * stride, turn * stride + SIZE):
            assert not written[x], "two ranks own one byte"
            written[x] = True
            content[x] = byte(x)
    end = int(np.flatnonzero(written)[-1]) + 1
    return content[:end], written[:end]


def hpio(mpi: mpis.Mpi, ranks: int, file: Path, *options: str) -> dict:
    """The line that hpio prints."""
    shape = ["--region-size", SIZE, "--region-space", SPACE, "--region-count", COUNT]
    words = [mpi.bench("hpio"), "--file", file, *shape, *options]
    done = mpi.run(ranks, words, mpi.stock(), timeout=60, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("layout", ["contiguous", "noncontiguous"])
@pytest.mark.parametrize("memory", ["contiguous", "noncontiguous"])
def test_file_is_as_the_pattern_says(
    mpi: mpis.Mpi, ranks: int, layout: str, memory: str, tmp_path: Path
) -> None:
    file = tmp_path / "hpio.dat"
    line = hpio(mpi, ranks, file, "--layout", layout, "--memory", memory)
    content, written = model(ranks, layout)
    found = np.fromfile(file, dtype=np.uint8)
    assert found.size == content.size == line["file_bytes"]
    assert np.array_equal(found[written], content[written])
    assert line["bytes"] == written.sum()
    assert [(r["op"], r["wrong_bytes"]) for r in line["results"]] == [("write", 0), ("read", 0)]


def test_hpio_sees_a_wrong_byte(mpi: mpis.Mpi, tmp_path: Path) -> None:
    file = tmp_path / "hpio.dat"
    hpio(mpi, 2, file, "--op", "write")
    with file.open("r+b") as open_file:
        open_file.seek(SIZE + SPACE)  # rank 1's first byte
        open_file.write(b"\0")
    words = [mpi.bench("hpio"), "--file", file, "--op", "read", "--region-size", SIZE]
    words += ["--region-space", SPACE, "--region-count", COUNT]
    done = mpi.run(2, words, mpi.stock(), timeout=60)
    assert done.returncode != 0
    assert json.loads(done.stdout.splitlines()[0])["results"][0]["wrong_bytes"] == 1


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--layout", "diagonal"], "--layout diagonal: use one of contiguous|noncontiguous"),
        (["--region-size", "-1"], "--region-size -1: use a whole number, 0 or more"),
        (["--region-count", "0"], "--region-size and --region-count must be at least 1"),
        (["--colour", "red"], "unknown option --colour; --help lists all"),
        (["--hint", "cb_nodes"], "--hint cb_nodes: use KEY=VALUE"),
        (["--op"], "--op needs a value"),
    ],
)
def test_hpio_refuses_bad_options(
    mpi: mpis.Mpi, options: list[str], text: str, tmp_path: Path
) -> None:
    file = tmp_path / "hpio.dat"
    done = mpi.run(2, [mpi.bench("hpio"), "--file", file, *options], timeout=60)
    assert done.returncode != 0
    assert done.stderr.count(text) == 1
    assert not file.exists()


@pytest.mark.parametrize("ranks", [1, 3, 4])
@pytest.mark.parametrize("options", [["--mode", "large", "--block", "5000"], ["--ghost", "1"], []])
def test_block3d_writes_every_byte_of_the_array(
    mpi: mpis.Mpi, ranks: int, options: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "block.dat"
    array = ["--nx", "5", "--ny", "7", "--nz", "6"]
    words = [mpi.bench("block3d"), "--file", file, *array, *options]
    done = mpi.run(ranks, words, mpi.stock(), timeout=60, check=True)
    found = np.fromfile(file, dtype=np.uint8)
    size = 5000 * ranks if "large" in options else 8 * 5 * 7 * 6
    assert found.size == size == json.loads(done.stdout)["file_bytes"]
    assert np.array_equal(found, np.array([byte(x) for x in range(size)], dtype=np.uint8))


@pytest.mark.parametrize(
    ("blocks", "text"),
    [(["--px", "3"], "do not make 2 blocks"), (["--px", "1", "--py", "1", "--pz", "1"], "do not")],
)
def test_block3d_refuses_a_grid_that_does_not_fit(
    mpi: mpis.Mpi, blocks: list[str], text: str, tmp_path: Path
) -> None:
    words = [mpi.bench("block3d"), "--file", tmp_path / "file", *blocks]
    done = mpi.run(2, words, mpi.stock(), timeout=60)
    assert done.returncode != 0
    assert text in done.stderr


def test_contiguous_access_moves_as_many_bytes_without_mpi_io(
    mpi: mpis.Mpi, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    line = hpio(mpi, 3, file, "--access", "contiguous")
    assert (line["access"], line["bytes"]) == ("contiguous", 3 * COUNT * SIZE)
    assert [(r["op"], r["wrong_bytes"]) for r in line["results"]] == [("write", 0), ("read", 0)]
    found = np.fromfile(file, dtype=np.uint8)
    assert found.tolist() == [byte(x) for x in range(3 * COUNT * SIZE)]


def test_contiguous_access_sees_a_wrong_byte(mpi: mpis.Mpi, tmp_path: Path) -> None:
    file = tmp_path / "file"
    hpio(mpi, 2, file, "--access", "contiguous", "--op", "write")
    with file.open("r+b") as open_file:
        open_file.seek(COUNT * SIZE)  # rank 1's first byte
        open_file.write(b"\0")
    shape = ["--region-size", SIZE, "--region-space", SPACE, "--region-count", COUNT]
    words = [mpi.bench("hpio"), "--file", file, "--access", "contiguous", "--op", "read", *shape]
    done = mpi.run(2, words, mpi.stock(), timeout=60)
    assert done.returncode != 0
    assert json.loads(done.stdout.splitlines()[0])["results"][0]["wrong_bytes"] == 1
