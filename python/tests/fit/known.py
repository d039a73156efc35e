"""Samples files of a machine that is known: what a fit of them has to find again."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import synthetic_samples
from synthetic_samples import Record

Time = Callable[[int], float]  # seconds of a size

FEW = 3  # sizes of a short curve
POWERS = [4**k for k in range(1, 12)]  # as the suite has them: 4 B to 4 MiB


@dataclass(frozen=True)
class Piece:
    """A line of the known machine: for sizes up to `to`."""

    to: int
    latency: float
    per_byte: float


# Paper 001, Table 2 (local memory, between nodes) has about these jumps.
PROTOCOLS = (
    Piece(1024, 5.5e-6, 0.65e-9),
    Piece(204796, 11.4e-6, 0.14e-9),
    Piece(1 << 26, 47e-6, 0.0855e-9),
)


def hockney(pieces: Sequence[Piece] = PROTOCOLS) -> Time:
    """The time of a message under these protocols."""

    def time(size: int) -> float:
        piece = next(piece for piece in pieces if size <= piece.to)
        return piece.latency + size * piece.per_byte

    return time


@dataclass
class LogGP:
    """The model of Alexandrov et al."""

    latency: float = 2e-6
    o_send: float = 0.4e-6
    o_receive: float = 0.6e-6
    gap: float = 0.9e-6
    per_byte: float = 0.5e-9

    def ping_pong(self, size: int) -> float:
        return self.latency + self.o_send + self.o_receive + (size - 1) * self.per_byte

    def stream(self, size: int) -> float:
        """A message's share of 64 one way and an empty one back."""
        there = self.ping_pong(size) + 63 * (self.gap + (size - 1) * self.per_byte)
        return (there + self.ping_pong(1)) / 64


@dataclass
class Noise:
    """How the measured medians lie about the true ones."""

    spread: float = 0.0  # relative
    disturbed: int = 0  # points of each long curve that are five times too high
    seed: int = 1
    random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def measured(self, true: Sequence[float]) -> list[float]:
        values = [value * (1 + self.random.gauss(0, self.spread)) for value in true]
        if len(values) > 2 * FEW:
            for index in self.random.sample(range(len(values)), self.disturbed):
                values[index] *= 5
        return values


def launch(number: int = 1, **changes: Any) -> Record:
    """The first record of a launch: two ranks on one node."""
    known = {
        "library": "Known MPI 1.0",
        "node_names": ["a"],
        "processor": "known",
        "directory": "/scratch",
        "file_system": "ext4",
    }
    return synthetic_samples.launch(number, **known | changes)


def point(name: str, place: str, size: int, median: float, number: int = 1) -> Record:
    """A point whose median is known to a hundredth."""
    ends = {"median_low": median * 0.995, "median_high": median * 1.005}
    return synthetic_samples.point(median, name, size, place, number, **ends)


def curve(
    name: str,
    place: str,
    sizes: Iterable[int],
    time: Time,
    number: int = 1,
    noise: Noise | None = None,
) -> list[Record]:
    """The points of a measurement."""
    sizes = list(sizes)
    medians = (noise or Noise()).measured([time(size) for size in sizes])
    return [
        point(name, place, size, median, number)
        for size, median in zip(sizes, medians, strict=True)
    ]


def write(path: Path, *records: Record) -> Path:
    """A samples file of the records."""
    return synthetic_samples.write(path, records)
