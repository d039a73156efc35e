"""mkdir, mkfifo, mknod, symlink, link, open with O_CREAT: what is made, by whom, where nothing may
be made."""

from __future__ import annotations

import os
import socket
import stat

from cases.paths import MAKING, linked
from cases.place import ANOTHER, KINDS, SOMEBODY, Place, case, raw, remove, user

OF_MODE = {
    "open": lambda p, n, m: p.opens(n, os.O_CREAT | os.O_WRONLY, m),
    "mkdir": lambda p, n, m: p.call(os.mkdir, p.path(n), m),
    "mkfifo": lambda p, n, m: p.call(os.mkfifo, p.path(n), m),
    "mknod": lambda p, n, m: p.call(os.mknod, p.path(n), m | stat.S_IFREG),
}


@case
def making_with_permissions(place: Place) -> None:
    for name, make in OF_MODE.items():
        for umask in (0, 0o022, 0o077, 0o151):
            for mode in (0, 0o151, 0o644, 0o755, 0o777, 0o4755, 0o2755, 0o1777):
                before = os.umask(umask)
                place.expect(make(place, "new", mode), None)
                os.umask(before)
                place.works(place.lstat("new"))
                (os.rmdir if name == "mkdir" else os.unlink)(place.path("new"))


@case
def making_as_a_user(place: Place) -> None:
    """A file is its maker's, of its folder's group where that has S_ISGID."""
    for mode in (0o777, 0o2777):
        place.make("d", "folder", SOMEBODY, ANOTHER)
        os.chmod(place.path("d"), mode)
        for make in OF_MODE.values():
            with user(SOMEBODY):
                place.expect(make(place, "d/new", 0o2755), None)
            wanted = ANOTHER if mode & stat.S_ISGID else SOMEBODY
            place.expect(place.owner("d/new"), (SOMEBODY, wanted))
            place.works(place.lstat("d/new"))
            remove(place, "d/new")
        os.rmdir(place.path("d"))


@case
def making_moves_times(place: Place) -> None:
    place.make("d", "folder")
    for name, make in MAKING.items():
        place.write("there", b"")
        moved = {"rename to": [". mtime", ". ctime"], "link to": ["there ctime"]}.get(name, [])
        place.moves(lambda make=make: make(place, "d/new"), "d mtime", "d ctime", *moved)
        place.call(os.rmdir if name == "mkdir" else os.unlink, place.path("d/new"))
    for name in MAKING:
        place.write("there", b"")
        place.make("d/new", "folder")
        if name != "open to make":
            place.moves(lambda name=name: MAKING[name](place, "d/new"), of=["d", "d/new"])
        os.rmdir(place.path("d/new"))


@case
def making_what_is_there(place: Place) -> None:
    place.make("there", "regular")
    for kind in KINDS:
        place.make("new", kind)
        for name in ("mkdir", "mkfifo", "mknod", "symlink", "link to"):
            place.expect(MAKING[name](place, "new"), "EEXIST")
        exclusive = os.O_CREAT | os.O_EXCL | os.O_WRONLY
        place.expect(place.opens("new", exclusive), "EEXIST")
        remove(place, "new")


@case
def making_in_a_folder_that_is_gone(place: Place) -> None:
    os.mkdir(place.path("gone"))
    fd = os.open(place.path("gone"), os.O_RDONLY | os.O_DIRECTORY)
    os.rmdir(place.path("gone"))
    flags = os.O_CREAT | os.O_WRONLY
    place.expect(place.call(lambda: os.open("new", flags, dir_fd=fd)), "ENOENT")
    place.expect(place.call(lambda: os.mkdir("new", dir_fd=fd)), "ENOENT")
    place.expect(place.call(lambda: os.symlink("a", "new", dir_fd=fd)), "ENOENT")
    place.expect(place.call(lambda: os.stat("new", dir_fd=fd)), "ENOENT")
    os.close(fd)


@case
def mknod_of_devices(place: Place) -> None:
    for kind in (stat.S_IFCHR, stat.S_IFBLK):
        for device in (os.makedev(1, 3), os.makedev(255, 1000), os.makedev(4095, 0xFFFFF)):
            path = place.path("device")
            place.works(place.call(os.mknod, path, 0o640 | kind, device))
            place.expect(place.call(lambda path=path: os.lstat(path).st_rdev), device)
            os.unlink(path)
    os.chmod(place.root, 0o777)
    with user(SOMEBODY):
        place.expect(MAKING["mknod"](place, "device"), "EPERM")
        place.works(place.call(os.mknod, place.path("file"), 0o640 | stat.S_IFREG))
        place.works(place.call(os.mknod, place.path("fifo"), 0o640 | stat.S_IFIFO))
        place.works(place.call(os.mknod, place.path("socket"), 0o640 | stat.S_IFSOCK))
    place.expect(place.call(os.mknod, place.path("d"), 0o640 | stat.S_IFDIR), "EPERM")


@case
def symlink_of_any_text(place: Place) -> None:
    for text in ("a", "/", "..", "/none/none", "x" * 255, "x" * 1023, "x/" * 2047, "ü" * 500):
        place.works(place.call(os.symlink, text, place.path("s")))
        place.expect(place.call(os.readlink, place.path("s")), text)
        place.expect(place.call(lambda: os.lstat(place.path("s")).st_size), len(text.encode()))
        os.unlink(place.path("s"))
    place.expect(place.call(os.symlink, "x" * 4096, place.path("s")), "ENAMETOOLONG")
    place.works(place.call(os.symlink, "x" * 4095, place.path("s")))
    for kind in KINDS:
        if kind != "symlink":
            place.make(kind, kind)
            place.expect(place.call(os.readlink, place.path(kind)), "EINVAL")


@case
def link_of_each_kind(place: Place) -> None:
    for kind in KINDS:
        place.make("a", kind, 65, 66)
        if kind == "folder":
            place.expect(linked(place, "a", "b"), "EPERM")
            os.rmdir(place.path("a"))
            continue
        place.moves(lambda: linked(place, "a", "b"), "a ctime", ". mtime", ". ctime")
        place.works(linked(place, "b", "c"))
        place.expect(place.call(lambda: os.lstat(place.path("c")).st_nlink), 3)
        same = os.path.samestat(os.lstat(place.path("a")), os.lstat(place.path("c")))
        place.expect(place.call(lambda same=same: same), True)
        if kind != "symlink":
            place.works(place.call(os.chmod, place.path("c"), 0o123))
            place.expect(place.mode("a"), "0o123")
        place.moves(lambda: place.call(os.unlink, place.path("a")), "c ctime")
        place.expect(place.call(lambda: os.lstat(place.path("b")).st_nlink), 2)
        os.unlink(place.path("b"))
        os.unlink(place.path("c"))


@case
def link_through_a_symbolic_link(place: Place) -> None:
    place.write("file", b"x")
    os.symlink("file", place.path("s"))
    link = lambda flags, name: raw(  # noqa: E731
        "linkat", -100, place.path("s").encode(), -100, place.path(name).encode(), flags
    )
    place.works(place.call(link, 0, "of link"))
    place.expect(place.call(lambda: os.path.islink(place.path("of link"))), True)
    place.works(place.call(link, 0x400, "of file"))
    place.expect(place.call(lambda: os.path.islink(place.path("of file"))), False)
    place.expect(place.call(link, 0x8000, "none"), "EINVAL")


@case
def link_of_what_is_gone(place: Place) -> None:
    fd = place.fd("a", os.O_CREAT | os.O_RDWR)
    os.unlink(place.path("a"))
    place.expect(place.call(lambda: os.fstat(fd).st_nlink), 0)
    by_fd = f"/proc/self/fd/{fd}".encode()
    to = place.path("b").encode()
    place.expect(place.call(lambda: raw("linkat", -100, by_fd, -100, to, 0x400)), "ENOENT")


@case
def socket_that_is_spoken_to(place: Place) -> None:
    here = os.open(".", os.O_RDONLY)
    os.chdir(place.root)
    try:
        with socket.socket(socket.AF_UNIX) as heard, socket.socket(socket.AF_UNIX) as asks:
            heard.bind("s")
            heard.listen()
            place.expect(place.call(lambda: heard.getsockname()), "s")
            place.works(place.call(lambda: asks.connect("s")))
            asks.send(b"hello")
            place.expect(place.call(lambda: heard.accept()[0].recv(10)), b"hello")
            place.expect(place.opens("s"), "ENXIO")
        with socket.socket(socket.AF_UNIX) as asks:
            place.expect(place.call(lambda: asks.connect("s")), "ECONNREFUSED")
            place.expect(place.call(lambda: asks.bind("s")), "EADDRINUSE")
    finally:
        os.fchdir(here)
        os.close(here)


@case
def fifo_that_is_spoken_through(place: Place) -> None:
    place.make("f", "fifo")
    place.expect(place.opens("f", os.O_WRONLY | os.O_NONBLOCK), "ENXIO")
    reads = place.fd("f", os.O_RDONLY | os.O_NONBLOCK)
    writes = place.fd("f", os.O_WRONLY | os.O_NONBLOCK)
    os.write(writes, b"hello")
    place.expect(place.call(os.read, reads, 10), b"hello")
    place.expect(place.call(os.read, reads, 10), "EAGAIN")
    place.expect(place.call(os.lseek, reads, 0, os.SEEK_SET), "ESPIPE")
    os.unlink(place.path("f"))
    os.write(writes, b"on")
    place.expect(place.call(os.read, reads, 10), b"on")
    os.close(writes)
    place.expect(place.call(os.read, reads, 10), b"")


@case
def making_as_another_user_in_a_folder_of_the_group(place: Place) -> None:
    place.make("d", "folder", 0, ANOTHER, 0o664)
    os.chmod(place.path("d"), 0o775)
    with user(SOMEBODY):
        place.expect(place.opens("d/a", os.O_CREAT | os.O_WRONLY), "EACCES")
    with user(SOMEBODY, groups=[ANOTHER]):
        place.expect(place.opens("d/a", os.O_CREAT | os.O_WRONLY), None)
    with user(SOMEBODY, ANOTHER):
        place.expect(place.opens("d/b", os.O_CREAT | os.O_WRONLY), None)
    place.expect(place.owner("d/a"), (SOMEBODY, SOMEBODY))
    place.expect(place.owner("d/b"), (SOMEBODY, ANOTHER))
