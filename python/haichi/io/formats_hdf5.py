"""Data sets out of HDF5 files: those that lie in one piece by several threads, the rest by h5py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, Protocol, cast

import numpy as np

from haichi.io import files
from haichi.io.errors import FormatError
from haichi.io.files import Array, Scalar

SUFFIXES = (".h5", ".hdf5", ".hdf", ".nc")  # NetCDF-4's files are HDF5's


def load(path: Path, turn: files.Turn | None) -> dict[str, Array]:
    """All data sets by their names in the file. One is read by threads if HDF5 has it in one piece
    and in the form that memory has; chunks, filters, conversions and text are h5py's.

    Raises:
        OSError: the file can't be read.
        FormatError: it is no HDF5 file or damaged, or h5py is not installed.
    """
    h5py = _h5py(path)
    with path.open("rb") as opened:
        try:
            return {
                name: _array(opened, name, each, h5py, turn)
                for name, each in _data_sets(path, h5py)
            }
        except (OSError, RuntimeError, KeyError) as error:
            if isinstance(error, OSError) and error.errno:
                raise
            raise FormatError(f"{path}: no HDF5 file, or damaged: {error}") from None


class _Id(Protocol):
    def get_offset(self) -> int | None: ...
    def get_type(self) -> object: ...


class _DataSet(Protocol):
    """What is used of h5py.Dataset; h5py has no types."""

    id: _Id
    dtype: np.dtype[Scalar]
    shape: tuple[int, ...]

    def __getitem__(self, whole: tuple[()]) -> object: ...


def _h5py(path: Path) -> ModuleType:
    try:
        import h5py  # type: ignore[import-untyped]  # only who loads such files needs it
    except ImportError:
        raise FormatError(f"{path}: to load HDF5 files, install h5py (pip install h5py)") from None
    return cast(ModuleType, h5py)


def _data_sets(path: Path, h5py: ModuleType) -> Iterator[tuple[str, _DataSet]]:
    with h5py.File(path, "r") as tree:
        names: list[str] = []
        tree.visit(names.append)
        for name in names:
            each = tree[name]
            if isinstance(each, h5py.Dataset):
                yield name, cast(_DataSet, each)


def _array(
    opened: BinaryIO, name: str, data: _DataSet, h5py: ModuleType, turn: files.Turn | None
) -> Array:
    begin = data.id.get_offset()  # None unless it is in one piece, in this file, and written
    if begin is None or not _as_in_memory(data, h5py):
        return np.asarray(data[()])
    made: Array = np.empty(data.shape, data.dtype)
    if files.readinto_now(opened, made, begin, turn) < made.nbytes:
        raise FormatError(f"{opened.name}: {name} ends behind the end of the file")
    return made


def _as_in_memory(data: _DataSet, h5py: ModuleType) -> bool:
    """Whether its bytes are those that NumPy's array of its type has."""
    if data.dtype.hasobject:
        return False
    return bool(data.id.get_type() == h5py.h5t.py_create(data.dtype, logical=True))
