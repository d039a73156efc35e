"""Arrays out of files: .npy, .safetensors and HDF5, read by several threads into memory of their
own."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import numpy as np

from haichi.io import files, formats_hdf5
from haichi.io.errors import FormatError
from haichi.io.files import Array, Scalar

MOST_HEADER = 100 << 20  # bytes; what the safetensors library itself takes
# As the form names them. Of those that numpy has not the bits are given.
DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "F8_E4M3": "u1",
    "F8_E5M2": "u1",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "u1",
    "BOOL": "?",
}


def load(path: str | os.PathLike[str], turn: files.Turn | None = None) -> Array | dict[str, Array]:
    """The array of a .npy file, the data sets of an HDF5 file by name (by h5py), or the tensors of
    a .safetensors file by name, which share one block of memory; BF16 and F8 come as unsigned
    numbers of their bits.

    Raises:
        OSError: the file can't be read.
        FormatError: it is damaged, holds Python objects, or is of another form.
    """
    name = Path(path).suffix
    if name == ".npy":
        return _load_npy(Path(path), turn)
    if name == ".safetensors":
        return _load_safetensors(Path(path), turn)
    if name in formats_hdf5.SUFFIXES:
        return formats_hdf5.load(Path(path), turn)
    takes = ", ".join((".npy", ".safetensors", *formats_hdf5.SUFFIXES))
    raise FormatError(f"{path}: load() takes {takes}; read() takes any file")


def _load_npy(path: Path, turn: files.Turn | None) -> Array:
    with path.open("rb") as opened:
        try:
            version = np.lib.format.read_magic(opened)
            read_header = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }[version]
            shape, fortran, dtype = read_header(opened)
        except (ValueError, KeyError) as error:
            raise FormatError(f"{path}: no .npy file of version 1 or 2: {error}") from None
        if dtype.hasobject:
            raise FormatError(f"{path}: holds Python objects, which numpy.load reads")
        made: Array = np.empty(shape, dtype, order="F" if fortran else "C")
        got = files.readinto_now(opened, made, opened.tell(), turn)
    if got < made.nbytes:
        raise FormatError(f"{path}: ends after {got} of {made.nbytes} bytes of its array")
    return made


def _load_safetensors(path: Path, turn: files.Turn | None) -> dict[str, Array]:
    with path.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        if length > MOST_HEADER:
            raise FormatError(f"{path}: no .safetensors file: its header has {length} bytes")
        try:
            header = json.loads(opened.read(length))
            tensors = {name: _tensor(each) for name, each in header.items() if name[:2] != "__"}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise FormatError(f"{path}: the header is damaged: {error}") from None
        data = files.read_now(opened, offset=8 + length, turn=turn)
    for name, (_, _, _, end) in tensors.items():
        if end > data.nbytes:
            raise FormatError(f"{path}: {name} ends behind the end of the file")
    return {
        name: data[begin:end].view(dtype).reshape(shape)
        for name, (dtype, shape, begin, end) in tensors.items()
    }


def _tensor(entry: dict[str, object]) -> tuple[np.dtype[Scalar], tuple[int, ...], int, int]:
    """Type, shape, and where its bytes are."""
    dtype = np.dtype(DTYPES[str(entry["dtype"])])
    shape, offsets = entry["shape"], entry["data_offsets"]
    if not isinstance(shape, list) or not isinstance(offsets, list):
        raise TypeError("shape and data_offsets are lists")
    extents, (begin, end) = tuple(int(each) for each in shape), (int(each) for each in offsets)
    count = math.prod(extents)
    if begin < 0 or any(each < 0 for each in extents) or end - begin != count * dtype.itemsize:
        raise ValueError(f"{end - begin} bytes for a tensor of {count} x {dtype.itemsize}")
    return dtype, extents, begin, end
