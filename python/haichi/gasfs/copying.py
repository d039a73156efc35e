"""One file, copied so that it is whole under its name or not there: by parts, which several threads
may take, with its holes, its permissions, times and extended attributes.

Bytes that are zero stay holes by chunks of 64 KiB, so that a copy from a file system that knows no
holes has them again. A checksum is of what is no hole: the two sides may tell holes differently.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator

CHUNK = 64 << 10
PIECE = 4 << 20  # bytes that are read at once
PART = 64 << 20  # bytes that one thread takes
_ZEROS = bytes(CHUNK)
_OUR_ATTRIBUTES = "user.haichi."


class Changed(OSError):
    """A file is not what it was when its copying began."""


class Different(OSError):
    """What is read back is not what was written."""


def parts_of(size: int) -> list[range]:
    """Its parts, one at least."""
    starts = range(0, max(size, 1), PART)
    return [range(start, min(start + PART, size)) for start in starts]


def digest(fd: int, part: range, stopped: Callable[[], bool]) -> bytes:
    """Of the bytes of a part that are no hole, and where they are."""
    made = hashlib.blake2b()
    for at, piece in _pieces(fd, part):
        if stopped():
            break
        for start, chunk in _chunks(at, piece):
            made.update(start.to_bytes(8, "little"))
            made.update(chunk)
    return made.digest()


def keep_attributes(path: str | int, of: os.stat_result) -> None:
    """Gives a file or folder the owner, permissions and times of another; the owner where that is
    allowed."""
    with contextlib.suppress(PermissionError):
        os.chown(path, of.st_uid, of.st_gid)
    os.chmod(path, stat.S_IMODE(of.st_mode))
    os.utime(path, ns=(of.st_atime_ns, of.st_mtime_ns))


class FileCopy:
    """A copy that is being made, at `temporary` until `finish`."""

    def __init__(self, source: str, target: str, temporary: str, *, checksum: bool) -> None:
        self.source, self.target, self.temporary = source, target, temporary
        self._checksum = checksum
        self._digests: dict[range, bytes] = {}
        self._from = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            self.before = os.fstat(self._from)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            self._to = os.open(temporary, flags, 0o600)
        except OSError:
            os.close(self._from)
            raise

    def copy(self, part: range, count: Callable[[int], None], stopped: Callable[[], bool]) -> None:
        """Copies a part; `count` is told of bytes, holes too. Ends early when it is stopped."""
        made = hashlib.blake2b()
        told = part.start
        for at, piece in _pieces(self._from, part):
            if stopped():
                return
            run = bytearray()
            begin = at
            for start, chunk in _chunks(at, piece):
                if self._checksum:
                    made.update(start.to_bytes(8, "little"))
                    made.update(chunk)
                if run and begin + len(run) != start:
                    _write(self._to, run, begin)
                    run.clear()
                begin = begin if run else start
                run += chunk
            _write(self._to, run, begin)
            count(at + len(piece) - told)
            told = at + len(piece)
        count(part.stop - told)
        self._digests[part] = made.digest()

    def finish(self, stopped: Callable[[], bool]) -> None:
        """Puts the copy, which is whole now, where it belongs.

        Raises:
            OSError: not all of it is stored, or it is not what it should be. `abandon` comes next.
        """
        after = os.fstat(self._from)
        if (after.st_size, after.st_mtime_ns) != (self.before.st_size, self.before.st_mtime_ns):
            raise Changed(errno.EAGAIN, "it was changed while it was copied")
        os.ftruncate(self._to, self.before.st_size)  # a hole at its end
        for name in os.listxattr(self._from):
            if name.startswith("user.") and not name.startswith(_OUR_ATTRIBUTES):
                os.setxattr(self._to, name, os.getxattr(self._from, name))
        keep_attributes(self._to, self.before)
        fd, self._to = self._to, -1
        os.close(fd)  # which tells whether all of it is stored
        if self._checksum:
            self._read_back(stopped)
        if stopped():
            raise InterruptedError(errno.EINTR, "stopped")
        os.rename(self.temporary, self.target)
        os.close(self._from)
        self._from = -1

    def _read_back(self, stopped: Callable[[], bool]) -> None:
        fd = os.open(self.temporary, os.O_RDONLY | os.O_CLOEXEC)
        try:
            for part, known in self._digests.items():
                if digest(fd, part, stopped) != known and not stopped():
                    raise Different(errno.EIO, "what is read back is not what was written")
        finally:
            os.close(fd)

    def abandon(self) -> None:
        """Takes away what was made of it."""
        for fd in (self._from, self._to):
            with contextlib.suppress(OSError):
                if fd >= 0:
                    os.close(fd)
        self._from = self._to = -1
        with contextlib.suppress(OSError):
            os.unlink(self.temporary)


def _pieces(fd: int, part: range) -> Iterator[tuple[int, bytes]]:
    """The pieces of a part that are not known to be holes, at multiples of CHUNK."""
    at = part.start
    while at < part.stop:
        try:
            data = os.lseek(fd, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # a hole up to the end
                return
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
                raise
            data = at
        at = max(at, data - data % CHUNK)
        if at >= part.stop:
            return
        piece = _read(fd, min(PIECE, part.stop - at), at)
        yield at, piece
        at += len(piece)


def _read(fd: int, size: int, at: int) -> bytes:
    first = os.pread(fd, size, at)
    if len(first) == size:
        return first
    made = bytearray(first)
    while len(made) < size:
        more = os.pread(fd, size - len(made), at + len(made))
        if not more:
            raise Changed(errno.EAGAIN, "it became shorter while it was copied")
        made += more
    return bytes(made)


def _write(fd: int, data: bytearray, at: int) -> None:
    with memoryview(data) as left:
        done = 0
        while done < len(left):
            done += os.pwrite(fd, left[done:], at + done)


def _chunks(at: int, piece: bytes) -> Iterator[tuple[int, bytes]]:
    """What of a piece is not zero."""
    for start in range(0, len(piece), CHUNK):
        chunk = piece[start : start + CHUNK]
        if chunk != (_ZEROS if len(chunk) == CHUNK else bytes(len(chunk))):
            yield at + start, chunk
