"""The access patterns of the measurement programs as numbers: where each rank's bytes lie.

The models of the programs in bench/io, which check their own bytes; from the models
follow what must cross a network (links.py) and what belongs into a file (content.py). Sizes and
offsets are bytes. Source of HPIO: paper 000, section 4.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Offsets = NDArray[np.int64]


class Pattern(Protocol):
    """What all ranks write together, in pieces of equal size; none overlap. Its text says what it
    is in words."""

    @property
    def program(self) -> str:
        """The measurement program that writes and reads it."""
        ...

    @property
    def ranks(self) -> int:
        """How many share it."""
        ...

    @property
    def file_bytes(self) -> int:
        """Length of the file: nothing follows the last piece."""
        ...

    @property
    def piece(self) -> int:
        """Bytes of a rank that lie together in the file, by the pattern's own cut."""
        ...

    @property
    def period(self) -> int:
        """Bytes after which the ranks' pieces repeat, as long as the same ranks have any."""
        ...

    def __hash__(self) -> int:
        """What a pattern gives is kept, by the pattern."""
        ...

    def arguments(self) -> list[str]:
        """The options that ask the program for it."""
        ...

    def begins(self, rank: int) -> Offsets:
        """Where the rank's pieces begin in the file, ascending."""
        ...


@dataclass(frozen=True)
class Hpio:
    """HPIO: `count` regions of `size` bytes a rank, `space` bytes between. Without space it is what
    codes with a cyclic distribution do."""

    ranks: int
    count: int = 1500
    size: int = 3744
    space: int = 256
    layout: str = "noncontiguous"  # in the file
    memory: str = "noncontiguous"
    program = "hpio"

    def arguments(self) -> list[str]:
        """See Pattern."""
        return _options(
            {
                "region-size": self.size,
                "region-space": self.space,
                "region-count": self.count,
                "layout": self.layout,
                "memory": self.memory,
            }
        )

    def __str__(self) -> str:
        """The paper's notation."""
        return f"HPIO {self.size}/{self.space}/{self.count}"

    @property
    def stride(self) -> int:
        """From the start of a region in the file to that of the next rank's."""
        return self.size + (0 if self.layout == "contiguous" else self.space)

    @property
    def piece(self) -> int:
        """See Pattern."""
        return self.size

    @property
    def period(self) -> int:
        """See Pattern."""
        return self.stride * (1 if self.layout == "contiguous" else self.ranks)

    @property
    def file_bytes(self) -> int:
        """See Pattern."""
        return (self.ranks * self.count - 1) * self.stride + self.size

    def begins(self, rank: int) -> Offsets:
        """See Pattern."""
        k = np.arange(self.count, dtype=np.int64)
        if self.layout == "contiguous":
            return (rank * self.count + k) * self.stride
        return (k * self.ranks + rank) * self.stride


@dataclass(frozen=True)
class Block3d:
    """A 3-D array of `cell` bytes an element, the last dimension fastest, cut into `grid` blocks,
    one a rank; in memory each lies in a frame of `ghost` elements."""

    array: tuple[int, int, int]
    grid: tuple[int, int, int]
    cell: int = 8
    ghost: int = 2
    program = "block3d"

    def arguments(self) -> list[str]:
        """See Pattern."""
        sizes = dict(zip(("nx", "ny", "nz"), self.array, strict=True))
        blocks = dict(zip(("px", "py", "pz"), self.grid, strict=True))
        return _options({**sizes, **blocks, "cell": self.cell, "ghost": self.ghost})

    def __str__(self) -> str:
        """Array, element and grid."""
        array, grid = ("×".join(map(str, numbers)) for numbers in (self.array, self.grid))
        return f"{array} of {self.cell} B in {grid} blocks, ghost {self.ghost}"

    @property
    def ranks(self) -> int:
        """See Pattern."""
        return math.prod(self.grid)

    @property
    def file_bytes(self) -> int:
        """See Pattern."""
        return math.prod(self.array) * self.cell

    @property
    def piece(self) -> int:
        """See Pattern; the grid must divide the fastest dimension."""
        return self.array[2] // self.grid[2] * self.cell

    @property
    def period(self) -> int:
        """See Pattern: a plane."""
        return self.array[1] * self.array[2] * self.cell

    def begins(self, rank: int) -> Offsets:
        """See Pattern."""
        at = np.unravel_index(rank, self.grid)
        i, j, k = (
            np.arange(n * int(a) // g, n * (int(a) + 1) // g, dtype=np.int64)
            for n, a, g in zip(self.array, at, self.grid, strict=True)
        )
        rows = i[:, None] * self.array[1] + j[None, :]
        begins: Offsets = (rows.ravel() * self.array[2] + k[0]) * self.cell
        return begins


@dataclass(frozen=True)
class Lattice:
    """A 4-D lattice of `site` bytes a site, the last dimension fastest, cut into blocks of equal
    size, one a rank: https://github.com/pmodels/mpich/issues/7935."""

    ranks: int
    lattice: tuple[int, int, int, int] = (16, 16, 16, 16)
    site: int = 144
    program = "lattice"

    def arguments(self) -> list[str]:
        """See Pattern."""
        sizes = dict(zip(("nt", "nz", "ny", "nx"), self.lattice, strict=True))
        return _options({**sizes, "site": self.site})

    def __str__(self) -> str:
        """Lattice and site."""
        return f"4-D lattice {'×'.join(map(str, self.lattice))} of {self.site} B"

    @property
    def file_bytes(self) -> int:
        """See Pattern."""
        return math.prod(self.lattice) * self.site

    @property
    def piece(self) -> int:
        """See Pattern: a line of a block."""
        return self.lattice[3] // grid_of(self.ranks, 4)[3] * self.site

    @property
    def period(self) -> int:
        """See Pattern: a volume of one t."""
        return math.prod(self.lattice[1:]) * self.site

    def begins(self, rank: int) -> Offsets:
        """See Pattern."""
        grid = grid_of(self.ranks, 4)
        at = np.unravel_index(rank, grid)
        t, z, y, x = (
            np.arange(n // g * int(a), n // g * (int(a) + 1), dtype=np.int64)
            for n, a, g in zip(self.lattice, at, grid, strict=True)
        )
        planes = t[:, None] * self.lattice[1] + z[None, :]
        lines = planes[:, :, None] * self.lattice[2] + y[None, None, :]
        begins: Offsets = (lines.ravel() * self.lattice[3] + x[0]) * self.site
        return begins


@dataclass(frozen=True)
class Gapped:
    """2-D arrays one after the other, each cut into blocks of `rows` rows of `row` bytes, and `gap`
    bytes in the middle of the buffer: https://github.com/pmodels/mpich/issues/6985."""

    ranks: int
    arrays: int = 64
    rows: int = 4096
    row: int = 8
    gap: int = 16
    program = "gapped"

    def arguments(self) -> list[str]:
        """See Pattern."""
        return _options(
            {"arrays": self.arrays, "rows": self.rows, "row": self.row, "gap": self.gap}
        )

    def __str__(self) -> str:
        """Rows and gap."""
        return f"rows of {self.row} B, a gap of {self.gap} B in the buffer"

    @property
    def _grid(self) -> tuple[int, ...]:
        return grid_of(self.ranks, 2)

    @property
    def piece(self) -> int:
        """See Pattern."""
        return self.row

    @property
    def period(self) -> int:
        """See Pattern: a row of an array."""
        return self.row * self._grid[1]

    @property
    def file_bytes(self) -> int:
        """See Pattern."""
        return self.arrays * self.rows * self.row * self.ranks

    def begins(self, rank: int) -> Offsets:
        """See Pattern."""
        down, across = np.unravel_index(rank, self._grid)
        array = np.arange(self.arrays, dtype=np.int64) * (self.rows * self._grid[0])
        row = np.arange(self.rows, dtype=np.int64) + int(down) * self.rows
        return (array[:, None] + row[None, :]).ravel() * self.period + int(across) * self.row


@dataclass(frozen=True)
class Contiguous:
    """`size` bytes a rank, one after the other: what MPI-IO is best at without help."""

    ranks: int
    size: int
    program = "block3d"

    def arguments(self) -> list[str]:
        """See Pattern."""
        return _options({"mode": "large", "block": self.size})

    def __str__(self) -> str:
        """The size alone."""
        return f"{self.size >> 20} MiB a rank"

    @property
    def piece(self) -> int:
        """See Pattern."""
        return self.size

    @property
    def period(self) -> int:
        """See Pattern."""
        return self.size

    @property
    def file_bytes(self) -> int:
        """See Pattern."""
        return self.ranks * self.size

    def begins(self, rank: int) -> Offsets:
        """See Pattern."""
        return np.array([rank * self.size], dtype=np.int64)


def _options(values: Mapping[str, object]) -> list[str]:
    return [word for name, value in values.items() for word in (f"--{name}", str(value))]


def grid_of(ranks: int, axes: int = 3) -> tuple[int, ...]:
    """As even a grid as there is, most blocks first: as MPI_Dims_create makes it."""
    return min(_grids(ranks, axes, ranks), key=lambda g: [g[0] - blocks for blocks in reversed(g)])


def grid_3d(ranks: int) -> tuple[int, int, int]:
    """The same for three axes."""
    first, second, third = grid_of(ranks, 3)
    return first, second, third


def _grids(ranks: int, axes: int, most: int) -> Iterator[tuple[int, ...]]:
    if axes == 1:
        yield from [(ranks,)] if ranks <= most else []
        return
    for first in range(1, most + 1):
        if ranks % first == 0:
            for rest in _grids(ranks // first, axes - 1, first):
                yield (first, *rest)


def cells(ranks: int, array: tuple[int, int, int]) -> Block3d:
    """BTIO's cells, five doubles each, with the frame that BT has around its blocks. Most cuts are
    along the fastest dimension, so that each rank has short rows of them."""
    x, y, z = grid_3d(ranks)
    return Block3d(array, (z, y, x), cell=40)
