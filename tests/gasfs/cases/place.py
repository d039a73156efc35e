"""What the cases beside this file are written with: calls in one folder, whose answers are kept, so
that those of two folders can be compared, and what each has to be."""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

KINDS = ("regular", "folder", "fifo", "block", "char", "socket", "symlink")
SOMEBODY, ANOTHER = 65534, 65533
"""Two users, each with a group of the same number."""
GRANULE = 2.5 * time.clock_getres(5)  # CLOCK_REALTIME_COARSE
"""Seconds in which the clock of any file system here has gone on."""

Answer = object
libc = ctypes.CDLL(None, use_errno=True)


class Wrong(Exception):
    """A call has answered what it must not; the text says which."""


@dataclass(frozen=True)
class About:
    """What stat(2) says of a file. A folder's size is each file system's own affair."""

    kind: int
    mode: int
    links: int
    uid: int
    gid: int
    size: int | None

    @classmethod
    def of(cls, told: os.stat_result) -> About:
        """The same without what differs from run to run."""
        size = None if stat.S_ISDIR(told.st_mode) else told.st_size
        kind, mode = stat.S_IFMT(told.st_mode), stat.S_IMODE(told.st_mode)
        return cls(kind, mode, told.st_nlink, told.st_uid, told.st_gid, size)


@contextmanager
def user(uid: int, gid: int | None = None, groups: Sequence[int] = ()) -> Iterator[None]:
    """What is called within is called as this user, without a capability."""
    before = os.getgroups()
    os.setgroups(list(groups))
    os.setegid(uid if gid is None else gid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(before)


def raw(name: str, *arguments: object) -> int:
    """A function of the C library, for what Python's own would not let through."""
    result: int = getattr(libc, name)(*arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


@dataclass
class Place:
    """A folder, empty at the start of each case. A name is one beneath it, or a path."""

    root: str
    times: bool = True
    """Whether it is looked at which times move on, for which the clock has to."""
    log: list[tuple[str, Answer]] = field(default_factory=list)
    fds: list[int] = field(default_factory=list)

    def path(self, name: str) -> str:
        """Where a name is."""
        return os.path.join(self.root, name)

    def call(self, function: Callable[..., Answer], *words: object, **named: object) -> Answer:
        """What a function answers: its result, or the errno by name with which it fails."""
        answer: Answer
        try:
            answer = function(*words, **named)
        except OSError as error:
            answer = errno.errorcode.get(error.errno or 0, str(error.errno))
        said = ", ".join(str(word).replace(self.root, "…")[:60] for word in words)
        kept = "descriptor" if function is os.open and isinstance(answer, int) else answer
        self.log.append((f"{getattr(function, '__name__', 'call')}({said})", kept))
        return answer

    def expect(self, answer: Answer, *good: Answer) -> None:
        """The last call has answered one of these."""
        if answer not in good:
            wanted = " or ".join(map(str, good))
            raise Wrong(f"{self.log[-1][0]} answered {answer} and not {wanted}")

    def works(self, answer: Answer) -> None:
        """The last call has not failed."""
        if isinstance(answer, str) and answer in errno.errorcode.values():
            raise Wrong(f"{self.log[-1][0]} failed: {answer}")

    def open(self, name: str, flags: int = os.O_RDONLY, mode: int = 0o644) -> Answer:
        """A descriptor, which is closed at the end of the case."""
        fd = self.call(os.open, self.path(name), flags, mode)
        if isinstance(fd, int):
            self.fds.append(fd)
        return fd

    def fd(self, name: str, flags: int = os.O_RDWR, mode: int = 0o644) -> int:
        """The same, where it has to work."""
        fd = self.open(name, flags, mode)
        self.works(fd)
        assert isinstance(fd, int)
        return fd

    def opens(self, name: str, flags: int = os.O_RDONLY, mode: int = 0o644) -> Answer:
        """None if it can be opened."""
        fd = self.open(name, flags, mode)
        return None if isinstance(fd, int) else fd

    def close_all(self) -> None:
        """What is still open."""
        for fd in self.fds:
            try:
                os.close(fd)
            except OSError:
                continue  # the case has closed it
        self.fds.clear()

    def make(self, name: str, kind: str, uid: int = 0, gid: int = 0, mode: int = 0o644) -> str:
        """A new file of one of KINDS; its name."""
        path = self.path(name)
        device = os.makedev(1, 3)
        if kind == "regular":
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
        elif kind == "folder":
            os.mkdir(path, mode | 0o111)
        elif kind == "symlink":
            os.symlink("target", path)
        elif kind == "socket":
            self.bind(name)
        else:
            kinds = {"fifo": stat.S_IFIFO, "block": stat.S_IFBLK, "char": stat.S_IFCHR}
            os.mknod(path, mode | kinds[kind], device)
        os.lchown(path, uid, gid)
        if kind != "symlink":
            os.chmod(path, mode | (0o111 if kind == "folder" else 0))
        return name

    def bind(self, name: str) -> None:
        """Makes a socket there, whose path may be too long for bind(2)."""
        here = os.open(".", os.O_RDONLY)
        folder, last = os.path.split(self.path(name))
        os.chdir(folder)
        try:
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(last)
        finally:
            os.fchdir(here)
            os.close(here)

    def lstat(self, name: str) -> Answer:
        """About, not of what a symbolic link leads to."""
        return self.call(lambda path: About.of(os.lstat(path)), self.path(name))

    def stat(self, name: str) -> Answer:
        """The same of what it leads to."""
        return self.call(lambda path: About.of(os.stat(path)), self.path(name))

    def mode(self, name: str) -> Answer:
        """The permissions of what a name leads to."""
        return self.call(lambda path: oct(stat.S_IMODE(os.stat(path).st_mode)), self.path(name))

    def owner(self, name: str) -> Answer:
        """User and group of a name itself."""
        return self.call(
            lambda path: (os.lstat(path).st_uid, os.lstat(path).st_gid), self.path(name)
        )

    def write(self, name: str, data: bytes) -> None:
        """Makes a file of these bytes."""
        fd = self.fd(name, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.write(fd, data)
        os.close(fd)

    def read(self, name: str) -> bytes:
        """All of a file."""
        with open(self.path(name), "rb", buffering=0) as file:
            return file.readall()

    def moved(self, names: Sequence[str], act: Callable[[], Answer]) -> tuple[str, ...]:
        """Which of the times of the names `act` moves on: "a mtime". Times are those of lstat."""
        if not self.times:
            act()
            return ()
        before = [os.lstat(self.path(name)) for name in names]
        time.sleep(GRANULE)
        act()
        said = []
        for name, was in zip(names, before, strict=True):
            now = os.lstat(self.path(name))
            for stamp in ("mtime", "ctime"):
                there, then = (getattr(each, f"st_{stamp}_ns") for each in (now, was))
                if there > then:
                    said.append(f"{name} {stamp}")
                elif there < then:
                    said.append(f"{name} {stamp} back")
        self.log.append(("times moved", tuple(said)))
        return tuple(said)

    def moves(self, act: Callable[[], Answer], *stamps: str, of: Sequence[str] = ()) -> None:
        """`act` moves just these times on: "a mtime", of all files named in them and in `of`."""
        names = list(dict.fromkeys([*(stamp.rpartition(" ")[0] for stamp in stamps), *of]))
        found = self.moved(names, act)
        if self.times and set(found) != set(stamps):
            raise Wrong(f"{self.log[-2][0]} moved {found} and not {stamps}")


def remove(place: Place, name: str) -> None:
    """Whatever it is, if it is there."""
    path = place.path(name)
    if os.path.lexists(path):
        (os.rmdir if stat.S_ISDIR(os.lstat(path).st_mode) else os.unlink)(path)


Case = Callable[[Place], None]
CASES: dict[str, Case] = {}
"""All cases by name."""


def case(made: Case) -> Case:
    """Adds a function to the cases. Its name begins with the call that it is about."""
    assert made.__name__ not in CASES, made.__name__
    CASES[made.__name__] = made
    return made
