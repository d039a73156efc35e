"""What of a file is in memory, set up for a figure."""

from __future__ import annotations

import os
from collections.abc import Iterable

_AT_ONCE = 1 << 20


def keep_in_memory(descriptor: int, extents: Iterable[tuple[int, int]]) -> None:
    """These bytes, from begin to end, are in memory then, and nothing else of the file: it is on
    the disk whole, and the kernel reads nothing ahead meanwhile."""
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
    for begin, end in extents:
        for at in range(begin, end, _AT_ONCE):
            os.pread(descriptor, min(_AT_ONCE, end - at), at)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_NORMAL)
