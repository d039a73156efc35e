"""HPIO's pattern as numbers: its regions, the bytes that belong into its file, and what must cross
the network for it. The model of bench/io/hpio.c; sizes in bytes. Source: paper 000, section 4.2.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

CHUNK = 1 << 23


@dataclass(frozen=True)
class Hpio:
    """One shape of the pattern. `count` regions of `size` bytes a rank, `space` bytes between."""

    ranks: int
    count: int = 1500
    size: int = 3744
    space: int = 256
    layout: str = "noncontiguous"  # in the file
    memory: str = "noncontiguous"

    def arguments(self) -> list[str]:
        """The options of bench/io/hpio.c that ask for this shape."""
        return [
            "--region-size",
            str(self.size),
            "--region-space",
            str(self.space),
            "--region-count",
            str(self.count),
            "--layout",
            self.layout,
            "--memory",
            self.memory,
        ]

    def __str__(self) -> str:
        """The paper's notation."""
        return f"HPIO {self.size}/{self.space}/{self.count}"

    @property
    def stride(self) -> int:
        """From the start of a region in the file to that of the next rank's."""
        return self.size + (0 if self.layout == "contiguous" else self.space)

    @property
    def payload(self) -> int:
        """Bytes that all ranks write together."""
        return self.ranks * self.count * self.size

    @property
    def file_bytes(self) -> int:
        """Length of the file: nothing follows the last region."""
        return (self.ranks * self.count - 1) * self.stride + self.size

    def begins(self, rank: int) -> NDArray[np.int64]:
        """Where the rank's regions begin in the file."""
        k = np.arange(self.count, dtype=np.int64)
        if self.layout == "contiguous":
            return (rank * self.count + k) * self.stride
        return (k * self.ranks + rank) * self.stride

    def wrong_bytes(self, path: Path) -> tuple[int, int]:
        """How many bytes of a written file are not what the pattern says, and how many gap bytes
        are not zero. The first must be 0; what lies in gaps that nobody wrote is not defined."""
        size = path.stat().st_size
        if size != self.file_bytes:
            return abs(size - self.file_bytes), 0
        rows = np.zeros((self.ranks * self.count, self.stride), dtype=np.uint8)
        with path.open("rb") as file:
            file.readinto(memoryview(rows).cast("B")[:size])
        expected = _expected(self)
        if np.array_equal(rows, expected):
            return 0, 0
        wrong = np.count_nonzero(rows[:, : self.size] != expected[:, : self.size])
        return int(wrong), int(np.count_nonzero(rows[:, self.size :]))

    def crossing(
        self, node_of_rank: Sequence[int], aggregators: Sequence[int]
    ) -> NDArray[np.int64]:
        """Bytes [from][to] between nodes in writing, if the file is cut evenly over `aggregators`
        (ranks, in the order of their file domains); reading is the transpose."""
        nodes = max(node_of_rank) + 1
        matrix = np.zeros((nodes, nodes), dtype=np.int64)
        domain = -(-self.file_bytes // len(aggregators))
        for rank in range(self.ranks):
            begin = self.begins(rank)
            for index, aggregator in enumerate(aggregators):
                low, high = index * domain, (index + 1) * domain
                inside = np.minimum(begin + self.size, high) - np.maximum(begin, low)
                to = node_of_rank[aggregator]
                matrix[node_of_rank[rank], to] += int(np.clip(inside, 0, None).sum())
        return matrix

    def limit_s(
        self, node_of_rank: Sequence[int], aggregators: Sequence[int], rate: float
    ) -> float:
        """Seconds that the busiest link needs for the payload alone, at `rate` bytes per second."""
        matrix = self.crossing(node_of_rank, aggregators)
        np.fill_diagonal(matrix, 0)
        return float(max(matrix.sum(axis=0).max(), matrix.sum(axis=1).max())) / rate


@functools.lru_cache(maxsize=2)
def _expected(shape: Hpio) -> NDArray[np.uint8]:
    """The bytes of the file, one region and its gap a row, gaps 0: bench_byte() of io_bench.h."""
    total = shape.ranks * shape.count * shape.stride
    content = np.empty(total, dtype=np.uint8)
    of_hash = np.array([1 if h == 255 else h + 1 for h in range(256)], dtype=np.uint8)
    for begin in range(0, total, CHUNK):
        x = np.arange(begin, min(begin + CHUNK, total), dtype=np.int64).astype(np.uint32)
        content[begin : begin + CHUNK] = of_hash[(x * np.uint32(2654435761)) >> np.uint32(24)]
    rows = content.reshape(-1, shape.stride)
    rows[:, shape.size :] = 0
    return rows


def aggregators(node_of_rank: Sequence[int], layout: str, wanted: int) -> list[int]:
    """Ranks that plan::choose_aggregators (src/plan/aggregators.h) takes, in its order."""
    nodes = range(max(node_of_rank) + 1)
    members = [[r for r, n in enumerate(node_of_rank) if n == node] for node in nodes]
    if layout == "packed":
        order = [rank for ranks in members for rank in ranks]
    else:
        deepest = max(len(ranks) for ranks in members)
        order = [ranks[i] for i in range(deepest) for ranks in members if i < len(ranks)]
    return order[: wanted or len(members)]


def bytes_per_second(rate: str) -> float:
    """tc's rate, such as 100mbit, in bytes per second."""
    for unit, factor in (("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)):
        if rate.endswith(unit):
            return float(rate.removesuffix(unit)) * factor / 8
    raise ValueError(f"{rate} is not a rate")
