"""Reads and writes of large blocks by several threads, into memory that the caller gives.

Buffers are whatever has the buffer protocol (numpy arrays, memoryviews, bytearrays), in one piece;
nothing is copied on the way. A call gives a Future at once and goes on behind it.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

from haichi.io import library

AHEAD = 4  # calls that go on at the same time; further ones wait for their turn


class HasFileNumber(Protocol):
    """An open file of Python's."""

    def fileno(self) -> int:
        """Its descriptor."""
        ...


File = str | os.PathLike[str] | int | HasFileNumber
Bytes = NDArray[np.uint8]
Scalar = (
    np.bool_ | np.uint8 | np.uint16 | np.uint32 | np.uint64 | np.int8 | np.int16 | np.int32
    | np.int64 | np.float16 | np.float32 | np.float64 | np.complex64 | np.complex128 | np.void
)  # fmt: skip
Array = NDArray[Scalar]
# NumPy's arrays are buffers, which its types say from Python 3.12 on.
Memory = Buffer | Array


@dataclass(frozen=True)
class Turn:
    """Which of several processes of this machine that read the same cold file this one is."""

    number: int
    of: int


@functools.cache
def _behind() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(AHEAD, thread_name_prefix="haichi.io")


# A child of a fork has none of the threads.
os.register_at_fork(after_in_child=_behind.cache_clear)


@contextmanager
def _opened(file: File, flags: int) -> Iterator[int]:
    if isinstance(file, int):
        yield file
    elif isinstance(file, str | os.PathLike):
        descriptor = os.open(file, flags | os.O_CLOEXEC, 0o666)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
    else:
        yield file.fileno()


def _bytes_of(buffer: Memory, writable: bool) -> Bytes:
    view = memoryview(cast(Buffer, buffer))
    if not view.c_contiguous and not view.f_contiguous:
        raise ValueError("the buffer is not in one piece: numpy.ascontiguousarray makes it so")
    if writable and view.readonly:
        raise ValueError("the buffer can't be written to")
    flat = view if view.c_contiguous else np.asarray(view).T.data
    if view.nbytes == 0:
        return np.empty(0, np.uint8)
    return np.frombuffer(flat.cast("B") if flat.ndim else flat, np.uint8)


def _read(file: File, into: Bytes, offset: int, turn: Turn | None) -> int:
    calls = library.library()
    where = ctypes.c_void_p(into.ctypes.data)
    with _opened(file, os.O_RDONLY) as descriptor:
        if turn is None:
            return library.check(calls.haichi_io_pread(descriptor, where, into.nbytes, offset))
        return library.check(
            calls.haichi_io_pread_turn(descriptor, where, into.nbytes, offset, turn.number, turn.of)
        )


def _write(file: File, data: Bytes, offset: int) -> int:
    where = ctypes.c_void_p(data.ctypes.data)
    with _opened(file, os.O_WRONLY | os.O_CREAT) as descriptor:
        call = library.library().haichi_io_pwrite
        return library.check(call(descriptor, where, data.nbytes, offset))


def read_now(
    file: File, size: int | None = None, offset: int = 0, turn: Turn | None = None
) -> Bytes:
    """As read(), in the calling thread."""
    with _opened(file, os.O_RDONLY) as descriptor:
        if size is None:
            size = max(os.fstat(descriptor).st_size - offset, 0)
        made = np.empty(size, np.uint8)
        return made[: _read(descriptor, made, offset, turn)]


def readinto_now(file: File, buffer: Memory, offset: int = 0, turn: Turn | None = None) -> int:
    """As readinto(), in the calling thread."""
    return _read(file, _bytes_of(buffer, writable=True), offset, turn)


def readinto(file: File, buffer: Memory, offset: int = 0, turn: Turn | None = None) -> Future[int]:
    """Reads from `offset` on until the buffer is full or the file ends; the bytes read.

    The future raises OSError as os.preadv() does.

    Raises:
        ValueError: the buffer is not in one piece, or can't be written to.
    """
    return _behind().submit(_read, file, _bytes_of(buffer, writable=True), offset, turn)


def read(
    file: File, size: int | None = None, offset: int = 0, turn: Turn | None = None
) -> Future[Bytes]:
    """The bytes from `offset` on, `size` of them or all up to the end, as an array."""
    return _behind().submit(read_now, file, size, offset, turn)


def write(file: File, buffer: Memory, offset: int = 0) -> Future[int]:
    """Writes the whole buffer at `offset`, by one thread (Linux locks a file during a write); a
    file that is named is made if it is not there, and not cut off. The bytes written."""
    return _behind().submit(_write, file, _bytes_of(buffer, writable=False), offset)


def _write_parts(files: Sequence[File], data: Bytes) -> int:
    page = os.sysconf("SC_PAGESIZE")
    step = -(-data.nbytes // len(files) // page) * page
    parts = (library.Part * len(files))()
    with ExitStack() as stack:
        for number, file in enumerate(files):
            descriptor = stack.enter_context(_opened(file, os.O_WRONLY | os.O_CREAT))
            begin = min(number * step, data.nbytes)
            size = min(step, data.nbytes - begin)
            parts[number] = library.Part(descriptor, data.ctypes.data + begin, size, 0)
        library.check(library.library().haichi_io_pwrite_parts(parts, len(files)))
    return data.nbytes


def write_parts(files: Sequence[File], buffer: Memory) -> Future[int]:
    """Writes the buffer in parts of equal size, whole pages, one to the beginning of each file, all
    at the same time; the bytes written. read() of the files one after the other gives them back.

    Raises:
        ValueError: the buffer is not in one piece, or there is no file to write it to.
    """
    if not files:
        raise ValueError("write_parts: no file is named")
    return _behind().submit(_write_parts, files, _bytes_of(buffer, writable=False))
