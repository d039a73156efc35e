"""open and openat2: what each flag asks for, and what a descriptor then may do."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess

from cases.place import ANOTHER, KINDS, SOMEBODY, Place, case, libc, raw, remove, user

MAKE = os.O_CREAT | os.O_WRONLY


@case
def open_of_each_kind(place: Place) -> None:
    for kind in KINDS:
        if kind in ("block", "char"):
            continue  # what is behind a device is not the file system's
        place.make("a", kind)
        for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
            place.opens("a", flags | os.O_NONBLOCK)
            place.opens("a", flags | os.O_NONBLOCK | os.O_NOFOLLOW)
            place.opens("a", flags | os.O_NONBLOCK | os.O_DIRECTORY)
            place.opens("a", flags | os.O_NONBLOCK | os.O_EXCL | os.O_CREAT)
        place.works(place.opens("a", os.O_PATH | os.O_NOFOLLOW))
        place.close_all()
        remove(place, "a")


@case
def open_of_folders(place: Place) -> None:
    os.mkdir(place.path("d"))
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_TRUNC, os.O_RDONLY | os.O_CREAT):
        place.expect(place.opens("d", flags), "EISDIR")
    place.expect(place.opens("d", os.O_RDONLY | os.O_DIRECTORY), None)
    place.make("file", "regular")
    place.expect(place.opens("file", os.O_RDONLY | os.O_DIRECTORY), "ENOTDIR")
    place.expect(place.opens("new", MAKE | os.O_DIRECTORY), "EINVAL")
    fd = place.fd("d", os.O_RDONLY)
    place.expect(place.call(os.read, fd, 10), "EISDIR")
    place.expect(place.call(os.write, fd, b"x"), "EBADF")
    place.expect(place.call(os.ftruncate, fd, 0), "EINVAL")
    place.expect(place.call(os.fsync, fd), None)


@case
def open_that_must_make_it(place: Place) -> None:
    place.expect(place.opens("a", MAKE | os.O_EXCL), None)
    place.expect(place.opens("a", MAKE | os.O_EXCL), "EEXIST")
    os.symlink("nowhere", place.path("s"))
    place.expect(place.opens("s", MAKE | os.O_EXCL), "EEXIST")
    place.expect(place.opens("s", MAKE | os.O_NOFOLLOW), "ELOOP")
    place.expect(place.opens("s", MAKE), None)
    place.works(place.lstat("nowhere"))
    place.expect(place.opens("s", os.O_RDONLY | os.O_NOFOLLOW), "ELOOP")


@case
def open_that_cuts(place: Place) -> None:
    place.write("a", b"bytes")
    place.moves(lambda: place.opens("a", os.O_WRONLY | os.O_TRUNC), "a mtime", "a ctime")
    place.expect(place.read("a") or b"empty", b"empty")
    place.moves(lambda: place.opens("a", os.O_WRONLY | os.O_TRUNC), "a mtime", "a ctime")
    place.write("a", b"bytes")
    place.moves(lambda: place.opens("a", MAKE), of=["a", "."])
    place.expect(place.call(place.read, "a"), b"bytes")
    os.chmod(place.path("a"), 0o444)
    with user(SOMEBODY):
        place.expect(place.opens("a", os.O_RDONLY | os.O_TRUNC), "EACCES")
    place.expect(place.call(place.read, "a"), b"bytes")


@case
def open_to_append(place: Place) -> None:
    place.write("a", b"12345")
    fd = place.fd("a", os.O_RDWR | os.O_APPEND)
    place.expect(place.call(os.write, fd, b"6"), 1)
    os.lseek(fd, 0, os.SEEK_SET)
    place.expect(place.call(os.write, fd, b"7"), 1)
    place.expect(place.call(os.lseek, fd, 0, os.SEEK_CUR), 7)
    place.call(os.pwrite, fd, b"8", 0)  # appends too, on Linux
    place.expect(place.call(place.read, "a"), b"12345678")
    other = place.fd("a", os.O_WRONLY)
    os.ftruncate(other, 2)
    os.write(fd, b"x")
    place.expect(place.call(place.read, "a"), b"12x")


@case
def open_without_what_a_call_needs(place: Place) -> None:
    place.write("a", b"bytes")
    reads, writes, path = (place.fd("a", flags) for flags in (os.O_RDONLY, os.O_WRONLY, os.O_PATH))
    place.expect(place.call(os.write, reads, b"x"), "EBADF")
    place.expect(place.call(os.pwrite, reads, b"x", 0), "EBADF")
    place.expect(place.call(os.ftruncate, reads, 0), "EINVAL", "EBADF")
    place.expect(place.call(os.posix_fallocate, reads, 0, 10), "EBADF")
    place.expect(place.call(os.read, writes, 1), "EBADF")
    place.expect(place.call(os.pread, writes, 1, 0), "EBADF")
    for call in (os.read, os.fchmod, os.ftruncate):
        place.expect(place.call(call, path, 1), "EBADF")
    place.works(place.call(lambda: os.fstat(path).st_size))
    place.expect(place.call(os.copy_file_range, writes, reads, 3), "EBADF")
    into = place.fd("b", MAKE)
    place.expect(place.call(os.copy_file_range, reads, into, 3), 3)


@case
def open_of_what_runs(place: Place) -> None:
    shutil.copy(shutil.which("sleep") or "/bin/sleep", place.path("sleep"))
    os.chmod(place.path("sleep"), 0o755)
    with subprocess.Popen([place.path("sleep"), "20"]) as runs:
        place.expect(place.opens("sleep", os.O_WRONLY), "ETXTBSY")
        place.expect(place.opens("sleep", os.O_RDWR), "ETXTBSY")
        place.expect(place.call(os.truncate, place.path("sleep"), 0), "ETXTBSY")
        place.expect(place.opens("sleep", os.O_RDONLY), None)
        place.works(place.call(os.rename, place.path("sleep"), place.path("asleep")))
        runs.kill()
    fd = place.fd("asleep", os.O_WRONLY)
    place.expect(place.call(subprocess.call, [place.path("asleep"), "0"]), "ETXTBSY")
    os.close(fd)
    place.expect(place.call(subprocess.call, [place.path("asleep"), "0"]), 0)
    os.chmod(place.path("asleep"), 0o644)
    place.expect(place.call(subprocess.call, [place.path("asleep"), "0"]), "EACCES")


@case
def open_of_many_at_once(place: Place) -> None:
    for i in range(200):
        fd = place.fd(f"f{i}", os.O_CREAT | os.O_RDWR)
        os.write(fd, b"%d" % i)
    place.expect(
        place.call(lambda: all(os.pread(fd, 9, 0) == b"%d" % i for i, fd in enumerate(place.fds))),
        True,
    )


class How(ctypes.Structure):
    """struct open_how."""

    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


def openat2(place: Place, name: str, resolve: int, flags: int = os.O_RDONLY) -> object:
    """None if openat2(2) opens it beneath the folder "d"."""
    folder = place.fd("d", os.O_RDONLY | os.O_DIRECTORY)

    def opened() -> None:
        how = How(flags, 0o644 if flags & os.O_CREAT else 0, resolve)
        libc.syscall.restype = ctypes.c_long
        os.close(raw("syscall", 437, folder, name.encode(), ctypes.byref(how), ctypes.sizeof(how)))

    return place.call(opened)


@case
def openat2_beneath_a_folder(place: Place) -> None:
    no_links, beneath, in_root = 0x04, 0x08, 0x10
    os.mkdir(place.path("d"))
    place.write("outside", b"x")
    place.write("d/file", b"x")
    os.symlink("../outside", place.path("d/out"))
    os.symlink("/file", place.path("d/top"))
    os.symlink("file", place.path("d/in"))
    place.expect(openat2(place, "file", beneath), None)
    place.expect(openat2(place, "in", beneath), None)
    place.expect(openat2(place, "out", beneath), "EXDEV")
    place.expect(openat2(place, "../outside", beneath), "EXDEV")
    place.expect(openat2(place, "top", beneath), "EXDEV")
    place.expect(openat2(place, "top", in_root), None)
    place.expect(openat2(place, "../file", in_root), None)
    place.expect(openat2(place, "in", no_links), "ELOOP")
    place.expect(openat2(place, "new", beneath, MAKE), None)


@case
def descriptors_that_share_a_position(place: Place) -> None:
    place.write("a", bytes(range(100)))
    fd = place.fd("a")
    copy, other = os.dup(fd), place.fd("a")
    os.read(fd, 10)
    place.expect(place.call(os.lseek, copy, 0, os.SEEK_CUR), 10)
    place.expect(place.call(os.lseek, other, 0, os.SEEK_CUR), 0)
    os.pread(fd, 10, 50)
    place.expect(place.call(os.read, copy, 1), b"\n")
    os.close(copy)


@case
def closing_twice(place: Place) -> None:
    fd = place.fd("a", os.O_CREAT | os.O_RDWR)
    place.expect(place.call(os.close, fd), None)
    for call in (os.close, os.fsync, os.fstat):
        place.expect(place.call(call, fd), "EBADF")


@case
def permission_is_asked_at_open_only(place: Place) -> None:
    place.make("a", "regular", SOMEBODY, SOMEBODY, 0o600)
    with user(SOMEBODY):
        fd = place.fd("a")
        os.write(fd, b"mine")
    os.chown(place.path("a"), ANOTHER, ANOTHER)
    with user(SOMEBODY):
        place.expect(place.call(os.pread, fd, 10, 0), b"mine")
        place.expect(place.opens("a"), "EACCES")
