"""libhaichi-io.so (include/haichi/io.h), by ctypes: other Python threads run meanwhile."""

from __future__ import annotations

import ctypes
import functools
import os
from dataclasses import dataclass

from haichi import paths

SIZE, OFFSET = ctypes.c_size_t, ctypes.c_int64


class Unavailable(ImportError):
    """The library is not there."""


class _Options(ctypes.Structure):
    _fields_ = (
        ("threads", ctypes.c_int),
        ("cold_bytes", SIZE),
        ("hot_bytes", SIZE),
        ("always", ctypes.c_int),
    )


class _How(ctypes.Structure):
    _fields_ = (
        ("threads", ctypes.c_int),
        ("nodes", ctypes.c_int),
        ("local_bytes", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("why", ctypes.c_char_p),
    )


class Part(ctypes.Structure):
    """`struct haichi_io_part`."""

    _fields_ = (
        ("fd", ctypes.c_int),
        ("buffer", ctypes.c_void_p),
        ("size", SIZE),
        ("offset", OFFSET),
    )


@dataclass(frozen=True)
class Options:
    """When a call is split, for all of the process."""

    threads: int  # at most, the caller among them; 0: as many as the plan wants
    cold_bytes: int  # smallest call that is split while the threads are asleep
    hot_bytes: int  # and right after another one
    always: bool = False  # also where earlier calls were no faster when split


@dataclass(frozen=True)
class How:
    """How a call was carried out."""

    threads: int
    nodes: int
    local_bytes: int
    bytes: int
    why: str


@functools.cache
def library() -> ctypes.CDLL:
    """The library, with the types of its functions.

    Raises:
        Unavailable: it is not built, or can't be loaded.
    """
    path = paths.build() / "lib" / "libhaichi-io.so"
    if not path.exists():
        raise Unavailable(f"{path} is not there: ./haichi build, with libnuma-dev, makes it")
    try:
        loaded = ctypes.CDLL(str(path), use_errno=True)
    except OSError as error:
        raise Unavailable(f"haichi.io: {error}") from None
    whole = (ctypes.c_int, ctypes.c_void_p, SIZE, OFFSET)
    for name, arguments in (
        ("haichi_io_pread", whole),
        ("haichi_io_pwrite", whole),
        ("haichi_io_pread_turn", (*whole, ctypes.c_int, ctypes.c_int)),
    ):
        function = getattr(loaded, name)
        function.argtypes, function.restype = arguments, ctypes.c_ssize_t
    loaded.haichi_io_pwrite_parts.argtypes = (ctypes.POINTER(Part), SIZE)
    loaded.haichi_io_set_options.argtypes = (ctypes.POINTER(_Options),)
    loaded.haichi_io_get_options.argtypes = (ctypes.POINTER(_Options),)
    loaded.haichi_io_last.argtypes = (ctypes.POINTER(_How),)
    return loaded


def check(result: int) -> int:
    """The result of a call.

    Raises:
        OSError: it is -1; of errno.
    """
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def get_options() -> Options:
    """Those in force."""
    now = _Options()
    library().haichi_io_get_options(ctypes.byref(now))
    return Options(now.threads, now.cold_bytes, now.hot_bytes, now.always != 0)


def set_options(options: Options) -> None:
    """From the next call on.

    Raises:
        OSError: a size below 16 KiB, or a negative number of threads.
    """
    asked = _Options(options.threads, options.cold_bytes, options.hot_bytes, int(options.always))
    check(library().haichi_io_set_options(ctypes.byref(asked)))


def last() -> How:
    """Of this thread's last call."""
    how = _How()
    library().haichi_io_last(ctypes.byref(how))
    return How(how.threads, how.nodes, how.local_bytes, how.bytes, how.why.decode())
