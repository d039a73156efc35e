"""Sizes, positions and bytes: truncate, lseek, holes, allocation, large offsets, vectors, maps."""

from __future__ import annotations

import mmap
import os
import resource
import signal

from cases.place import ANOTHER, SOMEBODY, Place, case, user

LARGEST = 2**63 - 1


@case
def truncate_to_any_size(place: Place) -> None:
    place.write("a", b"bytes")
    fd = place.fd("a")
    for cut in (
        lambda size: os.truncate(place.path("a"), size),
        lambda size: os.ftruncate(fd, size),
    ):
        for size in (5, 3, 0, 1, 4096, 100_000, 4097, 12345678, 5):
            place.moves(lambda cut=cut, size=size: cut(size), "a mtime", "a ctime")
            place.expect(place.call(lambda: os.stat(place.path("a")).st_size), size)
        place.expect(place.call(cut, -1), "EINVAL")
        place.expect(place.call(cut, -(2**62)), "EINVAL")
        place.expect(place.call(lambda: os.fstat(fd).st_size), 5)
    place.expect(place.call(place.read, "a"), b"\0\0\0\0\0")


@case
def truncate_of_what_is_no_file(place: Place) -> None:
    os.mkdir(place.path("d"))
    place.expect(place.call(os.truncate, place.path("d"), 0), "EISDIR")
    for kind in ("fifo", "socket", "char"):
        place.make(kind, kind)
        place.call(os.truncate, place.path(kind), 0)
    place.make("a", "regular", ANOTHER, ANOTHER)
    with user(SOMEBODY):
        place.expect(place.call(os.truncate, place.path("a"), 0), "EACCES")


@case
def truncate_with_bytes_under_way(place: Place) -> None:
    fd = place.fd("a", os.O_CREAT | os.O_RDWR)
    for size in (0, 10, 4096, 5000, 70_000):
        os.pwrite(fd, b"x" * 80_000, 0)
        os.ftruncate(fd, size)
        os.ftruncate(fd, 90_000)
        place.expect(
            place.call(lambda size=size: place.read("a") == b"x" * size + bytes(90_000 - size)),
            True,
        )


@case
def limit_of_file_sizes(place: Place) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    fd = place.fd("a", os.O_CREAT | os.O_RDWR)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        place.expect(place.call(os.pwrite, fd, b"x" * 100, 9_950), 50)
        place.expect(place.call(os.pwrite, fd, b"x", 10_000), "EFBIG")
        place.expect(place.call(os.ftruncate, fd, 10_001), "EFBIG")
        place.expect(place.call(os.posix_fallocate, fd, 0, 10_001), "EFBIG")
        for _ in range(8):
            place.expect(place.call(os.pwrite, fd, b"x" * 10, 9_995), 5)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    place.expect(place.call(os.pwrite, fd, b"x", 10_000), 1)


@case
def offsets_at_their_ends(place: Place) -> None:
    fd = place.fd("a", os.O_CREAT | os.O_RDWR)
    for offset in (2**31 - 1, 2**32 - 3, 2**40):
        place.expect(place.call(os.pwrite, fd, b"far away", offset), 8)
        place.expect(place.call(os.pread, fd, 20, offset), b"far away")
        place.expect(place.call(os.pread, fd, 4, offset - 4), bytes(4))
        place.expect(place.call(lambda: os.fstat(fd).st_size), offset + 8)
    os.ftruncate(fd, 0)
    place.expect(place.call(os.pwrite, fd, b"x", LARGEST), "EFBIG", "EINVAL")
    place.expect(place.call(os.pwrite, fd, b"x", -1), "EINVAL")
    place.expect(place.call(os.pread, fd, 1, -1), "EINVAL")
    place.expect(place.call(os.pread, fd, 1, LARGEST), b"", "EINVAL")
    place.expect(place.call(os.lseek, fd, -1, os.SEEK_SET), "EINVAL")
    place.expect(place.call(os.lseek, fd, LARGEST, os.SEEK_SET), LARGEST, "EINVAL")
    place.expect(place.call(os.lseek, fd, 5, 99), "EINVAL")
    os.lseek(fd, 10, os.SEEK_SET)
    place.expect(place.call(os.lseek, fd, -11, os.SEEK_CUR), "EINVAL")
    place.expect(place.call(os.lseek, fd, 0, os.SEEK_CUR), 10)
    place.expect(place.call(os.lseek, fd, -1, os.SEEK_END), "EINVAL")
    place.expect(place.call(os.lseek, fd, 7, os.SEEK_END), 7)


@case
def holes_read_as_zeros(place: Place) -> None:
    fd = place.fd("a", os.O_CREAT | os.O_RDWR)
    os.pwrite(fd, b"begin", 0)
    os.pwrite(fd, b"end", 1_000_000)
    data = os.pread(fd, 2_000_000, 0)
    place.expect(place.call(lambda: data == b"begin" + bytes(999_995) + b"end"), True)
    for offset in (0, 2, 1_000_001):
        place.expect(place.call(os.lseek, fd, offset, os.SEEK_DATA), offset)
    for offset in (1_000_003, 2_000_000):
        place.expect(place.call(os.lseek, fd, offset, os.SEEK_DATA), "ENXIO")
        place.expect(place.call(os.lseek, fd, offset, os.SEEK_HOLE), "ENXIO")
    place.expect(place.call(os.lseek, fd, 1_000_001, os.SEEK_HOLE), 1_000_003)


@case
def allocation_makes_room(place: Place) -> None:
    place.write("a", b"bytes")
    fd = place.fd("a")
    allocate = os.posix_fallocate
    place.moves(lambda: allocate(fd, 0, 1000), "a ctime", "a mtime")
    place.expect(place.call(lambda: os.fstat(fd).st_size), 1000)
    place.expect(place.call(place.read, "a"), b"bytes" + bytes(995))
    place.works(place.call(allocate, fd, 10, 20))
    place.works(place.call(allocate, fd, 100_000, 1))
    place.expect(place.call(lambda: os.fstat(fd).st_size), 100_001)
    for offset, size in ((0, 0), (0, -1), (-1, 1), (-5, 0)):
        place.expect(place.call(allocate, fd, offset, size), "EINVAL")
    place.expect(place.call(allocate, fd, LARGEST, 10), "EFBIG")
    place.make("f", "fifo")
    fifo = place.fd("f", os.O_RDWR | os.O_NONBLOCK)
    place.expect(place.call(allocate, fifo, 0, 10), "ESPIPE")


@case
def reading_and_writing_moves_times(place: Place) -> None:
    fd = place.fd("a", os.O_CREAT | os.O_RDWR)
    both = ("a mtime", "a ctime")
    place.moves(lambda: place.call(os.write, fd, b"bytes"), *both, of=["."])
    place.moves(lambda: place.call(os.pwrite, fd, b"x", 1), *both)
    place.moves(lambda: place.call(os.writev, fd, [b"x", b"y"]), *both)
    place.moves(lambda: place.call(os.write, fd, b""), of=["a"])
    place.moves(lambda: place.call(os.pread, fd, 5, 0), of=["a"])
    place.moves(lambda: place.call(os.fsync, fd), of=["a"])
    place.moves(lambda: os.close(fd), of=["a"])
    fd = place.fd("a")
    for _ in range(20):  # as often as a preloaded program needs for its ring
        os.pwrite(fd, b"warm", 0)
    place.moves(lambda: place.call(os.pwrite, fd, b"x", 1), *both)
    before = os.stat(place.path("a"))
    os.close(fd)
    after = os.stat(place.path("a"))
    place.expect(place.call(lambda: after.st_mtime_ns == before.st_mtime_ns), True)


@case
def times_that_are_set(place: Place) -> None:
    names = [place.make(kind, kind) for kind in ("regular", "folder", "fifo", "socket")]
    for name in names:
        path = place.path(name)
        for stamps in (
            (0, 0), (1, 999_999_999), (2**31 * 10**9, 2**32 * 10**9 + 5), (-(10**9), -1),
            (1_900_000_000_123_456_789, 1_000_000_000_987_654_321),
        ):  # fmt: skip
            os.utime(path, ns=stamps)
            about = os.stat(path)
            got = (about.st_atime_ns, about.st_mtime_ns)
            place.expect(place.call(lambda got=got: got), stamps)
    os.symlink("regular", place.path("s"))
    os.utime(place.path("s"), ns=(5, 6), follow_symlinks=False)
    place.expect(place.call(lambda: os.lstat(place.path("s")).st_mtime_ns), 6)
    os.utime(place.path("regular"), ns=(10**9, 10**9))
    place.moves(lambda: os.utime(place.path("regular")), "regular mtime", "regular ctime")


@case
def times_of_which_one_stays(place: Place) -> None:
    from ctypes import Structure, byref, c_long

    from cases.place import raw

    class Times(Structure):
        _fields_ = [(name, c_long) for name in ("a_s", "a_ns", "m_s", "m_ns")]

    now, omit = (1 << 30) - 1, (1 << 30) - 2
    place.make("a", "regular")
    path = place.path("a").encode()
    ask = lambda *t: place.call(  # noqa: E731
        lambda: raw("utimensat", -100, path, byref(Times(*t)), 0)
    )
    stamps = lambda: (os.stat(path).st_atime_ns, os.stat(path).st_mtime_ns)  # noqa: E731
    place.works(ask(5, 7, 6, 8))
    place.works(ask(0, omit, 9, 1))
    place.expect(place.call(stamps), (5 * 10**9 + 7, 9 * 10**9 + 1))
    place.works(ask(4, 4, 0, omit))
    place.expect(place.call(stamps), (4 * 10**9 + 4, 9 * 10**9 + 1))
    place.moves(lambda: ask(0, omit, 0, omit), of=["a"])
    place.moves(lambda: ask(0, omit, 0, now), "a mtime", "a ctime")
    place.expect(ask(0, 10**9, 0, 0), "EINVAL")
    place.expect(ask(0, -1, 0, 0), "EINVAL")


@case
def vectors_of_many_parts(place: Place) -> None:
    fd = place.fd("a", os.O_CREAT | os.O_RDWR)
    parts = [bytes([i % 256]) * (i % 50) for i in range(1024)]
    whole = b"".join(parts)
    place.expect(place.call(os.writev, fd, parts), len(whole))
    place.expect(place.call(lambda: place.read("a") == whole), True)
    place.expect(place.call(os.writev, fd, [b"x"] * 1025), "EINVAL")
    rooms = [bytearray(i % 50) for i in range(1024)]
    place.expect(place.call(lambda: os.preadv(fd, rooms, 0)), len(whole))
    place.expect(place.call(lambda: b"".join(rooms) == whole), True)
    place.expect(place.call(os.pwritev, fd, [b"ab", b"", b"cd"], 3), 4)
    place.expect(place.call(os.pread, fd, 4, 3), b"abcd")


@case
def maps_and_calls_see_the_same(place: Place) -> None:
    place.write("a", bytes(10_000))
    fd = place.fd("a")
    with mmap.mmap(fd, 10_000) as shared:
        os.pwrite(fd, b"by call", 5_000)
        place.expect(place.call(lambda: shared[5_000:5_007]), b"by call")
        shared[8_190:8_196] = b"by map"
        place.expect(place.call(os.pread, fd, 6, 8_190), b"by map")
        os.ftruncate(fd, 4_096)
        os.ftruncate(fd, 10_000)
        place.expect(place.call(lambda: shared[8_190:8_196]), bytes(6))
        shared[0:5] = b"first"
        shared.flush()
        os.unlink(place.path("a"))
        place.expect(place.call(os.pread, fd, 5, 0), b"first")
    with mmap.mmap(fd, 10_000, flags=mmap.MAP_PRIVATE) as private:
        private[0:5] = b"alone"
        place.expect(place.call(os.pread, fd, 5, 0), b"first")
    reads = place.fd("b", os.O_CREAT | os.O_RDWR)
    os.ftruncate(reads, 4096)
    only = place.fd("b", os.O_RDONLY)
    place.expect(
        place.call(lambda: mmap.mmap(only, 4096, prot=mmap.PROT_WRITE | mmap.PROT_READ)), "EACCES"
    )


@case
def map_behind_the_end_is_a_signal(place: Place) -> None:
    place.write("a", bytes(100))
    pid = os.fork()
    if pid == 0:
        fd = os.open(place.path("a"), os.O_RDWR)
        mapped = mmap.mmap(fd, 100)
        os.ftruncate(fd, 0)
        os._exit(mapped[50] + 1)
    status = os.waitpid(pid, 0)[1]
    place.expect(place.call(lambda: os.WTERMSIG(status)), signal.SIGBUS)


@case
def copies_between_files(place: Place) -> None:
    whole = bytes(range(256)) * 1000
    place.write("a", whole)
    source, target = place.fd("a"), place.fd("b", os.O_CREAT | os.O_RDWR)
    done = 0
    while done < len(whole):
        done += os.copy_file_range(source, target, len(whole) - done, done, done)
    place.expect(place.call(lambda: place.read("b") == whole), True)
    place.expect(place.call(os.copy_file_range, source, target, 10, len(whole), 0), 0)
    place.expect(place.call(os.copy_file_range, source, source, 100, 0, 50), "EINVAL")
    place.works(place.call(os.copy_file_range, source, source, 100, 0, 1000))
    place.expect(place.call(os.pread, source, 100, 1000), whole[:100])
    place.expect(place.call(os.sendfile, target, source, 0, 1000), 1000)
