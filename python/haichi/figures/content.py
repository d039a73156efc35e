"""What belongs into the file that a measurement program leaves: bench_byte() of bench/io/io_bench.h
wherever a rank has a byte."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from haichi.figures.patterns import Pattern

CHUNK = 1 << 23


def wrong_bytes(pattern: Pattern, path: Path) -> tuple[int, int]:
    """How many bytes of a written file are not what the pattern says, and how many of those that no
    rank gave are not zero. The first must be 0; the second is not defined by the standard."""
    size = path.stat().st_size
    if size != pattern.file_bytes:
        return abs(size - pattern.file_bytes), 0
    data = np.fromfile(path, dtype=np.uint8)
    given = _given(pattern)
    wrong = (data != _stream(-(-size // CHUNK) * CHUNK)[:size]) & given
    return int(np.count_nonzero(wrong)), int(np.count_nonzero(data[~given]))


@functools.lru_cache(maxsize=2)
def _given(pattern: Pattern) -> NDArray[np.bool_]:
    """Which bytes of the file a rank gives."""
    edges = np.zeros(pattern.file_bytes + 1, dtype=np.int8)
    for rank in range(pattern.ranks):
        begins = pattern.begins(rank)
        edges[begins] += 1
        edges[begins + pattern.piece] -= 1
    return np.cumsum(edges[:-1], dtype=np.int8).astype(bool)


@functools.lru_cache(maxsize=1)
def _stream(length: int) -> NDArray[np.uint8]:
    """The bytes that belong at offsets 0 to length - 1."""
    of_hash = np.array([1 if h == 255 else h + 1 for h in range(256)], dtype=np.uint8)
    content = np.empty(length, dtype=np.uint8)
    for begin in range(0, length, CHUNK):
        x = np.arange(begin, min(begin + CHUNK, length), dtype=np.int64).astype(np.uint32)
        content[begin : begin + CHUNK] = of_hash[(x * np.uint32(2654435761)) >> np.uint32(24)]
    return content
