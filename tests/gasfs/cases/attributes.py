"""Extended attributes, locks, and what the file system says of itself."""

from __future__ import annotations

import fcntl
import os
import struct

from cases.place import ANOTHER, SOMEBODY, Place, case, user

CREATE, REPLACE = 1, 2


@case
def attributes_of_a_file(place: Place) -> None:
    place.make("a", "regular")
    path = place.path("a")
    place.expect(place.call(os.getxattr, path, "user.a"), "ENODATA")
    place.expect(place.call(os.removexattr, path, "user.a"), "ENODATA")
    place.expect(place.call(os.setxattr, path, "user.a", b"x", REPLACE), "ENODATA")
    place.moves(lambda: place.call(os.setxattr, path, "user.a", b"x", CREATE), "a ctime")
    place.expect(place.call(os.setxattr, path, "user.a", b"y", CREATE), "EEXIST")
    place.expect(place.call(os.setxattr, path, "user.a", b"y", REPLACE), None)
    place.expect(place.call(os.getxattr, path, "user.a"), b"y")
    for value in (b"", b"\0\1\2", b"x" * 4000, bytes(60_000)):
        place.call(os.setxattr, path, "user.value", value)
        place.expect(place.call(lambda v=value: os.getxattr(path, "user.value") == v), True)
    place.call(os.setxattr, path, "user.value", bytes(65_536))
    place.expect(place.call(os.setxattr, path, "user.value", bytes(65_537)), "E2BIG")
    longest = "user." + "n" * 250
    place.expect(place.call(os.setxattr, path, longest, b"x"), None)
    place.expect(place.call(os.setxattr, path, longest + "n", b"x"), "ERANGE")
    place.expect(place.call(os.setxattr, path, "", b"x"), "ERANGE")
    place.expect(place.call(os.setxattr, path, "user.", b"x"), "EINVAL")
    place.expect(place.call(os.setxattr, path, "none.a", b"x"), "EOPNOTSUPP", "ENOTSUP")
    place.moves(lambda: place.call(os.removexattr, path, "user.a"), "a ctime")
    user_names = place.call(lambda: sorted(n for n in os.listxattr(path) if n[:5] == "user."))
    place.expect(user_names, sorted([longest, "user.value"]))
    os.rename(path, place.path("b"))
    place.expect(place.call(os.getxattr, place.path("b"), longest), b"x")


@case
def attributes_of_other_kinds(place: Place) -> None:
    for kind in ("folder", "symlink", "fifo", "socket"):
        place.make(kind, kind)
        path = place.path(kind)
        place.call(lambda path=path: os.setxattr(path, "user.a", b"x", follow_symlinks=False))
        place.call(lambda path=path: os.getxattr(path, "user.a", follow_symlinks=False))
        place.call(lambda path=path: os.setxattr(path, "trusted.a", b"x", follow_symlinks=False))
        place.call(lambda path=path: os.getxattr(path, "trusted.a", follow_symlinks=False))


@case
def attributes_and_users(place: Place) -> None:
    place.make("a", "regular", SOMEBODY, SOMEBODY, 0o644)
    path = place.path("a")
    with user(SOMEBODY):
        place.expect(place.call(os.setxattr, path, "user.a", b"x"), None)
        place.expect(place.call(os.setxattr, path, "trusted.a", b"x"), "EPERM")
        place.expect(place.call(os.getxattr, path, "trusted.a"), "ENODATA")
    with user(ANOTHER):
        place.expect(place.call(os.getxattr, path, "user.a"), b"x")
        place.expect(place.call(os.setxattr, path, "user.a", b"y"), "EACCES")
        place.expect(place.call(os.removexattr, path, "user.a"), "EACCES")
    os.chmod(path, 0o600)
    with user(ANOTHER):
        place.expect(place.call(os.getxattr, path, "user.a"), "EACCES")


def lock(fd: int, command: int, kind: int, start: int, length: int) -> object:
    """One of fcntl(2)'s locks, by bytes; who holds one of another kind is not told."""
    about = struct.pack("hhqqi4x", kind, os.SEEK_SET, start, length, 0)
    told = struct.unpack("hhqqi4x", fcntl.fcntl(fd, command, about))
    return told[0], told[2], told[3]


@case
def locks_between_processes(place: Place) -> None:
    fd = place.fd("a", os.O_CREAT | os.O_RDWR)
    place.works(place.call(lock, fd, fcntl.F_SETLK, fcntl.F_WRLCK, 10, 20))
    place.works(place.call(lock, fd, fcntl.F_SETLK, fcntl.F_UNLCK, 15, 5))
    reads, writes = os.pipe()
    if os.fork() == 0:
        other = os.open(place.path("a"), os.O_RDWR)
        answers = []
        for start, length in ((0, 10), (10, 1), (15, 5), (20, 10), (0, 0), (30, 0)):
            for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK):
                answers.append(lock(other, fcntl.F_GETLK, kind, start, length)[0])
        os.write(writes, bytes(answers))
        os._exit(0)
    os.close(writes)
    told = b"".join(iter(lambda: os.read(reads, 100), b""))
    os.wait()
    os.close(reads)
    free, held = fcntl.F_UNLCK, fcntl.F_WRLCK
    expected = bytes([free, free, held, held, free, free, held, held, held, held, free, free])
    place.expect(place.call(lambda: told), expected)
    # Locks of an open file description, and of a whole one.
    again = place.fd("a")
    place.works(place.call(lock, fd, fcntl.F_OFD_SETLK, fcntl.F_WRLCK, 100, 10))
    place.expect(place.call(lock, again, fcntl.F_OFD_SETLK, fcntl.F_RDLCK, 105, 1), "EAGAIN")
    place.works(place.call(fcntl.flock, fd, fcntl.LOCK_EX))
    place.expect(place.call(fcntl.flock, again, fcntl.LOCK_SH | fcntl.LOCK_NB), "EAGAIN")
    place.works(place.call(fcntl.flock, fd, fcntl.LOCK_UN))
    place.works(place.call(fcntl.flock, again, fcntl.LOCK_SH | fcntl.LOCK_NB))


@case
def what_the_file_system_says_of_itself(place: Place) -> None:
    about = os.statvfs(place.root)
    place.expect(place.call(lambda: about.f_namemax), 255)
    sound = 0 < about.f_bavail <= about.f_bfree <= about.f_blocks and about.f_frsize > 0
    place.expect(place.call(lambda: sound), True)
    place.make("a", "regular")
    stat = os.stat(place.path("a"))
    place.expect(place.call(lambda: stat.st_dev == os.stat(place.root).st_dev), True)
    place.expect(place.call(lambda: stat.st_blksize > 0 and stat.st_blocks == 0), True)
    fd = place.fd("a")
    os.write(fd, bytes(10_000))
    os.fsync(fd)
    place.expect(place.call(lambda: os.fstat(fd).st_blocks >= 19), True)
