"""The same random calls on two folders, which must answer alike: results, errno, bytes.

    python tests/gasfs/differential.py FOLDER OTHER --seeds 20 --operations 5000 --processes 3

OTHER is on a file system that is known to be right (tmpfs). Each process has descriptors of its
own; one call is made at a time, by one of them in each folder, so that what one process does is
seen by the others at once or the run ends with the call, both answers, and the seed that repeats
it.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import fcntl
import mmap
import os
import random
import shutil
import signal
import stat
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection
from pathlib import Path

NAMES = ("a", "b", "c", "d", "d/a", "d/b", "e", "e/a", "e/f", "e/f/a", "n" * 256, "none/a")
MOST = 200_000  # bytes of a file
MOST_OPEN = 12
OTHER_USER = 1000  # who every third process is, if root starts them
OWNERS = ((0, -1), (-1, 0), (OTHER_USER, -1), (OTHER_USER, 2), (-1, 2))
Answer = object
libc = ctypes.CDLL(None, use_errno=True)
Call = tuple[str, tuple[object, ...]]


def content(seed: int, size: int) -> bytes:
    """Bytes that differ from call to call."""
    return random.Random(seed).randbytes(size)


def told(about: os.stat_result) -> Answer:
    """What of stat(2) both must say alike. A folder's size is each file system's own affair."""
    size = None if stat.S_ISDIR(about.st_mode) else about.st_size
    return about.st_mode, about.st_nlink, about.st_uid, about.st_gid, size


def statx(path: bytes) -> Answer:
    """The same of statx(2), of which Python knows nothing."""
    about = ctypes.create_string_buffer(256)
    if libc.statx(-100, path, 0, 0x7FF, about) != 0:  # AT_FDCWD, STATX_BASIC_STATS
        raise OSError(ctypes.get_errno(), "statx")
    _mask, _block, _, links, uid, gid, mode, _, size = struct.unpack_from("IIQIIIHxxQQ", about)
    return mode, links, uid, gid, None if stat.S_ISDIR(mode) else size


class Folder:
    """One process's view of one of the two folders; each method makes one call."""

    def __init__(self, root: str, preloaded: bool) -> None:
        self.root = root
        self.preloaded = preloaded
        self.open_files: list[int] = []

    def path(self, name: str) -> str:
        """Where a name is in this folder."""
        return os.path.join(self.root, name)

    def fd(self, number: int) -> int:
        """One of the descriptors, or one that nobody has."""
        return self.open_files[number % len(self.open_files)] if self.open_files else 987654

    def open(self, name: str, flags: int, mode: int) -> Answer:
        if len(self.open_files) >= MOST_OPEN:
            os.close(self.open_files.pop(0))
        fd = os.open(self.path(name), flags, mode)
        kind = stat.S_IFMT(os.fstat(fd).st_mode)
        if kind == stat.S_IFREG:
            self.open_files.append(fd)
        else:  # where a folder ends, and what a removed one is, each file system says otherwise
            os.close(fd)
        return kind

    def close(self, number: int) -> Answer:
        fd = self.fd(number)
        if fd in self.open_files:
            self.open_files.remove(fd)
        return os.close(fd)

    def dup(self, number: int) -> Answer:
        if len(self.open_files) >= MOST_OPEN:
            os.close(self.open_files.pop(0))
        self.open_files.append(os.dup(self.fd(number)))
        return None

    def dup2(self, number: int, onto: int) -> Answer:
        fd, target = self.fd(number), self.fd(onto)
        return os.dup2(fd, target) == target

    def written(self, fd: int, size: int) -> Answer:
        """What others wrote past the kernel it learns of when it is asked: behind a write that
        appends it may have the position before that."""
        if self.preloaded and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_APPEND:
            os.lseek(fd, 0, os.SEEK_END)
        return size

    def write(self, number: int, seed: int, size: int) -> Answer:
        fd = self.fd(number)
        return self.written(fd, os.write(fd, content(seed, size)))

    def pwrite(self, number: int, seed: int, size: int, offset: int) -> Answer:
        return os.pwrite(self.fd(number), content(seed, size), offset)

    def writev(self, number: int, seed: int, sizes: tuple[int, ...]) -> Answer:
        fd, parts = self.fd(number), [content(seed + i, n) for i, n in enumerate(sizes)]
        return self.written(fd, os.writev(fd, parts))

    def read(self, number: int, size: int) -> Answer:
        return os.read(self.fd(number), size)

    def pread(self, number: int, size: int, offset: int) -> Answer:
        return os.pread(self.fd(number), size, offset)

    def readv(self, number: int, sizes: tuple[int, ...]) -> Answer:
        parts = [bytearray(size) for size in sizes]
        return os.readv(self.fd(number), parts), parts

    def preadv(self, number: int, sizes: tuple[int, ...], offset: int) -> Answer:
        parts = [bytearray(size) for size in sizes]
        return os.preadv(self.fd(number), parts, offset), parts

    def lseek(self, number: int, offset: int, whence: int) -> Answer:
        return os.lseek(self.fd(number), offset, whence)

    def copy_range(self, number: int, other: int, size: int) -> Answer:
        fd, target = self.fd(number), self.fd(other)
        return None if fd == target else os.copy_file_range(fd, target, size)

    def sendfile(self, number: int, other: int, size: int) -> Answer:
        fd, target = self.fd(number), self.fd(other)
        if fd == target or (os.path.sameopenfile(fd, target) and self.apart(fd, target) < size):
            return None  # of what overlaps the pieces decide that the kernel copies in
        return os.sendfile(target, fd, None, size)

    def apart(self, fd: int, other: int) -> int:
        """How far apart the positions of two descriptors are."""
        return abs(os.lseek(fd, 0, os.SEEK_CUR) - os.lseek(other, 0, os.SEEK_CUR))

    def ftruncate(self, number: int, size: int) -> Answer:
        return os.ftruncate(self.fd(number), size)

    def truncate(self, name: str, size: int) -> Answer:
        return os.truncate(self.path(name), size)

    def allocate(self, number: int, offset: int, size: int) -> Answer:
        return os.posix_fallocate(self.fd(number), offset, size)

    def fsync(self, number: int) -> Answer:
        return os.fsync(self.fd(number))

    def fdatasync(self, number: int) -> Answer:
        return os.fdatasync(self.fd(number))

    def map(self, number: int, offset: int, size: int, seed: int) -> Answer:
        """Reads, or with a seed writes, a part of a mapped file."""
        fd = self.fd(number)
        there = os.fstat(fd).st_size
        if offset >= there:
            return None
        end = min(there, offset + size)
        with mmap.mmap(fd, there, mmap.MAP_SHARED) as mapped:
            if seed:
                mapped[offset:end] = content(seed, end - offset)
            return mapped[offset:end]

    def flags(self, number: int) -> Answer:
        wanted = os.O_ACCMODE | os.O_APPEND | os.O_NONBLOCK
        return fcntl.fcntl(self.fd(number), fcntl.F_GETFL) & wanted

    def fstat(self, number: int) -> Answer:
        return told(os.fstat(self.fd(number)))

    def stat(self, name: str) -> Answer:
        return told(os.stat(self.path(name)))

    def stat_often(self, name: str) -> Answer:
        """So often that it is not asked of the kernel any more: all answers must be the same."""
        path = self.path(name)
        first, last = told(os.stat(path)), None
        for _ in range(11):
            last = told(os.stat(path))
        return first, last

    def statx_often(self, name: str) -> Answer:
        """The same by the call that `ls` makes."""
        path = os.fsencode(self.path(name))
        return statx(path), [statx(path) for _ in range(11)][-1]

    def lstat(self, name: str) -> Answer:
        return told(os.lstat(self.path(name)))

    def access(self, name: str, mode: int) -> Answer:
        return os.access(self.path(name), mode)

    def listdir(self, name: str) -> Answer:
        return sorted(os.listdir(self.path(name)))

    def mkdir(self, name: str, mode: int) -> Answer:
        return os.mkdir(self.path(name), mode)

    def rmdir(self, name: str) -> Answer:
        return os.rmdir(self.path(name))

    def unlink(self, name: str) -> Answer:
        return os.unlink(self.path(name))

    def rename(self, name: str, new: str) -> Answer:
        return os.rename(self.path(name), self.path(new))

    def link(self, name: str, new: str) -> Answer:
        return os.link(self.path(name), self.path(new), follow_symlinks=False)

    def symlink(self, target: str, name: str) -> Answer:
        return os.symlink(target, self.path(name))

    def readlink(self, name: str) -> Answer:
        return os.readlink(self.path(name))

    def mkfifo(self, name: str) -> Answer:
        return os.mkfifo(self.path(name), 0o640)

    def chmod(self, name: str, mode: int) -> Answer:
        return os.chmod(self.path(name), mode)

    def fchmod(self, number: int, mode: int) -> Answer:
        return os.fchmod(self.fd(number), mode)

    def chown(self, name: str, uid: int, gid: int) -> Answer:
        return os.chown(self.path(name), uid, gid, follow_symlinks=False)

    def utime(self, name: str, seconds: int) -> Answer:
        os.utime(self.path(name), ns=(seconds * 10**9 + 7, seconds * 10**9 + 11))
        about = os.stat(self.path(name))
        return about.st_atime_ns, about.st_mtime_ns

    def setxattr(self, name: str, key: str, size: int) -> Answer:
        return os.setxattr(self.path(name), "user." + key, content(size, size))

    def getxattr(self, name: str, key: str) -> Answer:
        return os.getxattr(self.path(name), "user." + key)

    def listxattr(self, name: str) -> Answer:
        return sorted(key for key in os.listxattr(self.path(name)) if key.startswith("user."))

    def exists_again(self, name: str) -> Answer:
        """The whole of a file as a fresh descriptor reads it."""
        if not stat.S_ISREG(os.stat(self.path(name)).st_mode):
            return None
        return Path(self.path(name)).read_bytes()

    def answer(self, call: Call) -> Answer:
        """What the call gives, or the errno with which it fails."""
        method, arguments = call
        try:
            made: Callable[..., Answer] = getattr(self, method)
            return made(*arguments)
        except OSError as error:
            return errno.errorcode.get(error.errno or 0, error.errno)


class Draws:
    """Random calls. What exists is likelier than what does not, and small sizes than large ones."""

    def __init__(self, seed: int, writes: float = 1, reads: float = 1, stats: float = 1) -> None:
        self.random = random.Random(seed)
        self.writes = writes
        """How many times as often as otherwise a file is written and its position set."""
        self.reads = reads
        """The same of being read."""
        self.stats = stats
        """The same of being asked about by name."""

    def name(self) -> str:
        return self.random.choice(NAMES[:10] if self.random.random() < 0.97 else NAMES)

    def size(self) -> int:
        return self.random.choice((0, 1, 40, 511, 4096, 5000, self.random.randrange(40_000)))

    def offset(self) -> int:
        rough = self.random.randrange(MOST)
        return self.random.choice((0, rough, rough // 4096 * 4096, rough // 40 * 40))

    def whence(self, number: int, rough: int) -> tuple[int, int, int]:
        """Of lseek; a step from where it stands may lead before the file."""
        whence = self.random.choice((os.SEEK_SET, os.SEEK_CUR, os.SEEK_END))
        return number, rough if whence == os.SEEK_SET else rough - MOST // 2, whence

    def flags(self) -> int:
        flags = self.random.choice((os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR, os.O_RDWR))
        for flag, share in (
            (os.O_CREAT, 0.7),
            (os.O_EXCL, 0.05),
            (os.O_TRUNC, 0.1),
            (os.O_APPEND, 0.1),
            (os.O_SYNC, 0.03),
            (os.O_NOFOLLOW, 0.05),
            (os.O_DIRECTORY, 0.02),
        ):
            if self.random.random() < share:
                flags |= flag
        return flags | os.O_NONBLOCK  # a FIFO that nobody reads must not stop us

    def call(self) -> Call:
        """The next call."""
        draw = self.random
        number, seed, size, offset = draw.randrange(99), draw.randrange(2**30), self.size(), 0
        offset = self.offset()
        sizes = tuple(self.size() for _ in range(draw.randrange(1, 5)))
        files: list[tuple[float, Call]] = [
            (10, ("open", (self.name(), self.flags(), draw.choice((0o644, 0o600, 0o755))))),
            (5, ("close", (number,))),
            (2, ("dup", (number,))),
            (1, ("dup2", (number, draw.randrange(99)))),
            (16 * self.writes, ("write", (number, seed, size))),
            (12 * self.writes, ("pwrite", (number, seed, size, offset))),
            (3 * self.writes, ("writev", (number, seed, sizes))),
            (9 * self.reads, ("read", (number, size))),
            (9 * self.reads, ("pread", (number, size, offset))),
            (3 * self.reads, ("readv", (number, sizes))),
            (3 * self.reads, ("preadv", (number, sizes, offset))),
            (9 * self.writes, ("lseek", self.whence(number, offset))),
            (1, ("copy_range", (number, draw.randrange(99), size))),
            (1, ("sendfile", (number, draw.randrange(99), size))),
            (3, ("ftruncate", (number, offset))),
            (1, ("truncate", (self.name(), offset))),
            (1, ("allocate", (number, offset, size + 1))),
            (1, ("fsync", (number,))),
            (1, ("fdatasync", (number,))),
            (2, ("map", (number, offset, size, draw.choice((0, seed))))),
            (1, ("flags", (number,))),
            (3, ("fstat", (number,))),
            (1, ("fchmod", (number, draw.choice((0o600, 0o644, 0o755))))),
        ]
        names: list[tuple[float, Call]] = [
            (4 * self.stats, ("stat", (self.name(),))),
            (2 * self.stats, ("lstat", (self.name(),))),
            (1 * self.stats, ("stat_often", (self.name(),))),
            (1 * self.stats, ("statx_often", (self.name(),))),
            (1, ("access", (self.name(), draw.randrange(8)))),
            (2, ("listdir", (draw.choice((".", "d", "e", "a")),))),
            (4, ("mkdir", (draw.choice(("d", "e", "e/f", self.name())), 0o755))),
            (1, ("rmdir", (self.name(),))),
            (3, ("unlink", (self.name(),))),
            (4, ("rename", (self.name(), self.name()))),
            (2, ("link", (self.name(), self.name()))),
            (1, ("symlink", (draw.choice(("a", "d/a", "e/../a", "none")), self.name()))),
            (1, ("readlink", (self.name(),))),
            (0.3, ("mkfifo", (self.name(),))),
            (1, ("chmod", (self.name(), draw.choice((0o600, 0o644, 0o755, 0o4755, 0o2755))))),
            (0.5, ("chown", (self.name(), *draw.choice(OWNERS)))),
            (1, ("utime", (self.name(), draw.randrange(2**31)))),
            (0.5, ("setxattr", (self.name(), draw.choice("xy"), draw.randrange(200)))),
            (0.5, ("getxattr", (self.name(), draw.choice("xy")))),
            (0.5, ("listxattr", (self.name(),))),
            (3, ("exists_again", (self.name(),))),
        ]
        weighted = files + names
        return draw.choices([c for _, c in weighted], [w for w, _ in weighted])[0]


def serve(line: Connection, roots: tuple[str, str], user: int, preloaded: bool) -> None:
    """One process: makes each call that comes in both folders and sends what they answered."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.umask(0o022)
    if user != 0 and os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    folders = [Folder(root, preloaded) for root in roots]
    while (call := line.recv()) is not None:
        line.send([folder.answer(call) for folder in folders])


def shown(answer: Answer) -> str:
    """An answer for people; long ones cut."""
    text = repr(answer)
    return text if len(text) < 300 else f"{text[:300]}… ({len(text)} characters)"


@dataclass(frozen=True)
class Options:
    """How long a run is and what it looks like."""

    operations: int = 3000
    processes: int = 3
    writes: float = 1
    reads: float = 1
    stats: float = 1
    log: bool = False
    preloaded: bool = False


def run(folder: Path, other: Path, seed: int, options: Options) -> str:
    """The first difference, in words; empty if there is none. Leaves the folders empty."""
    roots = (str(folder), str(other))
    for root in roots:
        os.chmod(root, 0o777)
    lines, workers = [], []
    for number in range(options.processes):
        mine, theirs = Pipe()
        user = OTHER_USER if number % 3 == 2 else 0
        worker = Process(target=serve, args=(theirs, roots, user, options.preloaded), daemon=True)
        worker.start()
        lines.append(mine)
        workers.append(worker)
    draws, difference = Draws(seed, options.writes, options.reads, options.stats), ""
    for step in range(options.operations):
        line, call = draws.random.choice(lines), draws.call()
        line.send(call)
        answers = line.recv()
        if options.log:
            print(step, lines.index(line), call, shown(answers[0])[:80])
        if answers[0] != answers[1]:
            difference = (
                f"seed {seed}, call {step} of process {lines.index(line)}: {call}\n"
                f"  {folder}: {shown(answers[0])}\n  {other}: {shown(answers[1])}"
            )
            break
    for line, worker in zip(lines, workers, strict=True):
        line.send(None)
        worker.join(30)
    empty(folder)
    empty(other)
    return difference


def empty(folder: Path) -> None:
    """Removes all that is in a folder."""
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def main() -> int:
    """Command line; see the head of this file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("other", type=Path)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--operations", type=int, default=3000)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--writes", type=float, default=1, help="how many times as many writes")
    parser.add_argument("--reads", type=float, default=1, help="how many times as many reads")
    parser.add_argument("--stats", type=float, default=1, help="how many times as many stats")
    parser.add_argument("--preloaded", action="store_true", help="as the preload's exceptions say")
    parser.add_argument("--log", action="store_true", help="print each call with its answer")
    given = parser.parse_args()
    options = Options(
        given.operations,
        given.processes,
        given.writes,
        given.reads,
        given.stats,
        given.log,
        given.preloaded,
    )
    failed = 0
    for seed in range(given.first, given.first + given.seeds):
        difference = run(given.folder, given.other, seed, options)
        if difference:
            print(difference, flush=True)
            failed += 1
    print(f"{given.seeds} seeds of {options.operations} calls, {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
