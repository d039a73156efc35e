"""What every call says of a path that leads nowhere: too long, through a file, through a circle, or
where its caller may not go."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable

from cases.place import ANOTHER, KINDS, SOMEBODY, Answer, Place, case, raw, user

Ask = Callable[[Place, str], Answer]


def renamed(place: Place, old: str, new: str) -> Answer:
    return place.call(os.rename, place.path(old), place.path(new))


def linked(place: Place, old: str, new: str) -> Answer:
    return place.call(os.link, place.path(old), place.path(new), follow_symlinks=False)


def access(path: str) -> None:
    """Whether it is there, for the effective user."""
    raw("faccessat", -100, path.encode(), os.F_OK, 0x200)  # AT_FDCWD, AT_EACCESS


MAKING: dict[str, Ask] = {
    "open to make": lambda p, n: p.opens(n, os.O_CREAT | os.O_WRONLY),
    "mkdir": lambda p, n: p.call(os.mkdir, p.path(n), 0o755),
    "mkfifo": lambda p, n: p.call(os.mkfifo, p.path(n), 0o644),
    "mknod": lambda p, n: p.call(os.mknod, p.path(n), 0o020644, os.makedev(1, 3)),
    "symlink": lambda p, n: p.call(os.symlink, "target", p.path(n)),
    "link to": lambda p, n: linked(p, "there", n),
    "rename to": lambda p, n: renamed(p, "there", n),
}
REMOVING: dict[str, Ask] = {
    "unlink": lambda p, n: p.call(os.unlink, p.path(n)),
    "rmdir": lambda p, n: p.call(os.rmdir, p.path(n)),
    "rename from": lambda p, n: renamed(p, n, "new"),
}
ASKING: dict[str, Ask] = {
    "open": lambda p, n: p.opens(n),
    "chmod": lambda p, n: p.call(os.chmod, p.path(n), 0o600),
    "chown": lambda p, n: p.call(os.chown, p.path(n), 0, 0),
    "truncate": lambda p, n: p.call(os.truncate, p.path(n), 10),
    "utimensat": lambda p, n: p.call(os.utime, p.path(n), (1, 2)),
    "stat": lambda p, n: p.stat(n),
    "statvfs": lambda p, n: p.call(lambda path: os.statvfs(path).f_namemax, p.path(n)),
    "access": lambda p, n: p.call(access, p.path(n)),
    "listdir": lambda p, n: p.call(os.listdir, p.path(n)),
    "getxattr": lambda p, n: p.call(os.getxattr, p.path(n), "user.none"),
    "setxattr": lambda p, n: p.call(os.setxattr, p.path(n), "user.a", b"x"),
}
OF_LINK: dict[str, Ask] = {
    "lstat": lambda p, n: p.lstat(n),
    "lchown": lambda p, n: p.call(os.lchown, p.path(n), 0, 0),
    "readlink": lambda p, n: p.call(os.readlink, p.path(n)),
    "link from": lambda p, n: linked(p, n, "new"),
}
ALL = {**MAKING, **REMOVING, **ASKING, **OF_LINK}


def each(place: Place, calls: dict[str, Ask], name: str, *good: Answer) -> None:
    """Each of the calls with that name answers so."""
    for ask in calls.values():
        place.expect(ask(place, name), *good)


@case
def path_through_what_is_no_folder(place: Place) -> None:
    place.make("there", "regular")
    for kind in KINDS:
        if kind in ("folder", "symlink"):
            continue
        place.make(kind, kind)
        each(place, ALL, f"{kind}/name", "ENOTDIR")


@case
def path_through_nothing(place: Place) -> None:
    place.make("there", "regular")
    each(place, ALL, "none/name", "ENOENT")
    each(place, {**REMOVING, **ASKING, **OF_LINK}, "none", "ENOENT")
    place.make("dangling", "symlink")
    each(place, ALL, "dangling/name", "ENOENT")
    each(place, ASKING, "dangling", "ENOENT")


@case
def path_of_no_bytes(place: Place) -> None:
    for ask in (
        lambda: os.open("", os.O_RDONLY),
        lambda: os.mkdir(""),
        lambda: os.unlink(""),
        lambda: os.rename("", place.path("a")),
        lambda: os.stat(""),
        lambda: os.symlink("", place.path("s")),
    ):
        place.expect(place.call(ask), "ENOENT")


@case
def path_with_the_longest_name(place: Place) -> None:
    longest = "n" * 255
    place.make("there", "regular")
    for name, ask in MAKING.items():
        place.works(ask(place, longest))
        place.works(place.lstat(longest))
        place.call(os.rmdir if name == "mkdir" else os.unlink, place.path(longest))
        place.write("there", b"x")
    each(place, {**REMOVING, **ASKING, **OF_LINK}, longest, "ENOENT")
    place.make("d", "folder")
    place.works(place.call(os.mkdir, place.path(f"d/{longest}"), 0o755))
    place.works(renamed(place, f"d/{longest}", longest))
    place.works(place.call(os.rmdir, place.path(longest)))
    place.expect(place.call(os.pathconf, place.root, "PC_NAME_MAX"), 255)


@case
def path_with_a_name_too_long(place: Place) -> None:
    place.make("there", "regular")
    each(place, ALL, "n" * 256, "ENAMETOOLONG")
    each(place, ALL, "n" * 256 + "/name", "ENAMETOOLONG")


@case
def path_as_long_as_can_be(place: Place) -> None:
    room = 4095 - len(place.root) - 1
    place.make("there", "regular")
    long = "./" * ((room - 6) // 2)
    long += "/" * (room - 6 - len(long))
    for name, ask in {**ASKING, "lstat": OF_LINK["lstat"]}.items():
        if name not in ("listdir", "getxattr"):
            place.works(ask(place, f"{long}/there"))
    for ask in MAKING.values():
        place.expect(ask(place, f"{long}//there"), "ENAMETOOLONG")
    each(place, {**REMOVING, **ASKING, **OF_LINK}, f"{long}//there", "ENAMETOOLONG")


@case
def path_of_many_folders(place: Place) -> None:
    """Names of 200 bytes, each beneath the last, so deep that no path reaches them."""
    here = os.open(".", os.O_RDONLY)
    os.chdir(place.root)
    try:
        for _ in range(40):
            place.works(place.call(os.mkdir, "x" * 200))
            os.chdir("x" * 200)
        place.write("./leaf", b"")
        fd = os.open("leaf", os.O_CREAT | os.O_RDWR)
        os.write(fd, b"deep")
        place.expect(place.call(os.pread, fd, 10, 0), b"deep")
        os.close(fd)
        os.unlink("leaf")
        for _ in range(40):
            os.chdir("..")
            place.works(place.call(os.rmdir, "x" * 200))
    finally:
        os.fchdir(here)
        os.close(here)


@case
def path_through_a_circle(place: Place) -> None:
    place.make("there", "regular")
    os.symlink("b", place.path("a"))
    os.symlink("a", place.path("b"))
    each(place, ASKING, "a", "ELOOP")
    each(place, ALL, "a/name", "ELOOP")
    place.expect(place.opens("a", os.O_CREAT | os.O_WRONLY), "ELOOP")
    for i in range(41):
        os.symlink(f"l{i - 1}" if i else "there", place.path(f"l{i}"))
    place.works(place.stat("l39"))
    place.expect(place.stat("l40"), "ELOOP")


@case
def path_through_a_folder_of_somebody_else(place: Place) -> None:
    place.make("d", "folder", SOMEBODY, SOMEBODY)
    os.chmod(place.path("d"), 0o700)
    os.chmod(place.root, 0o777)
    place.make("d/file", "regular", ANOTHER, ANOTHER, 0o666)
    place.make("there", "regular", ANOTHER, ANOTHER)
    with user(ANOTHER):
        each(place, ALL, "d/file", "EACCES")
    os.chmod(place.path("d"), 0o711)
    with user(ANOTHER):
        place.works(place.stat("d/file"))
        place.expect(place.call(os.listdir, place.path("d")), "EACCES")


@case
def path_in_a_folder_that_may_not_be_written(place: Place) -> None:
    os.chmod(place.root, 0o777)
    place.make("d", "folder", 0, 0, 0o755)
    place.make("there", "regular", SOMEBODY, SOMEBODY)
    with user(SOMEBODY):
        each(place, MAKING, "d/name", "EACCES")
    place.make("d/file", "regular", SOMEBODY, SOMEBODY)
    place.make("d/folder", "folder", SOMEBODY, SOMEBODY)
    with user(SOMEBODY):
        for name in ("unlink", "rename from"):
            place.expect(REMOVING[name](place, "d/file"), "EACCES")
        place.expect(REMOVING["rmdir"](place, "d/folder"), "EACCES")
        place.works(ASKING["truncate"](place, "d/file"))


@case
def path_with_a_slash_behind(place: Place) -> None:
    for name in ("there", "file"):
        place.make(name, "regular")
    place.make("d", "folder")
    os.symlink("d", place.path("to d"))
    os.symlink("file", place.path("to file"))
    each(place, {**ASKING, **OF_LINK}, "file/", "ENOTDIR")
    each(place, ASKING, "to file/", "ENOTDIR")
    for name in ("stat", "chmod", "listdir", "utimensat"):
        place.works(ASKING[name](place, "d/"))
        place.works(ASKING[name](place, "to d/"))
    place.expect(place.opens("none/", os.O_CREAT | os.O_WRONLY), "EISDIR")
    place.works(MAKING["mkdir"](place, "new/"))
    place.works(REMOVING["rmdir"](place, "new/"))
    for name in ("mkfifo", "symlink", "link to", "rename to"):
        MAKING[name](place, "none/")
    place.expect(REMOVING["rmdir"](place, "to d/"), "ENOTDIR")
    place.expect(REMOVING["unlink"](place, "file/"), "ENOTDIR")


@case
def path_of_dots(place: Place) -> None:
    place.make("d", "folder")
    place.expect(REMOVING["rmdir"](place, "d/."), "EINVAL")
    place.expect(REMOVING["rmdir"](place, "d/.."), "ENOTEMPTY")
    place.expect(REMOVING["unlink"](place, "d/."), "EISDIR", "EINVAL")
    place.expect(renamed(place, "d/.", "new"), "EBUSY", "EINVAL")
    place.expect(renamed(place, "d", "d/.."), "EBUSY", "ENOTEMPTY", "EINVAL")
    for name in ("mkdir", "mkfifo", "symlink"):
        place.expect(MAKING[name](place, "d/."), "EEXIST")
        place.expect(MAKING[name](place, "d/.."), "EEXIST")


@case
def path_outside_memory(place: Place) -> None:
    nowhere = ctypes.c_void_p(1)
    there = place.path("there").encode()
    place.make("there", "regular")
    for name, *rest in (
        ("open", os.O_RDONLY), ("mkdir", 0o755), ("unlink",), ("rmdir",), ("mkfifo", 0o644),
        ("chmod", 0o644), ("chown", 0, 0), ("truncate", ctypes.c_long(0)), ("link", there),
        ("symlink", there), ("rename", there),
    ):  # fmt: skip
        place.expect(place.call(raw, name, nowhere, *rest), "EFAULT")
    for name in ("link", "symlink", "rename"):
        place.expect(place.call(raw, name, there, nowhere), "EFAULT")
    fd = place.fd("there")
    os.write(fd, b"bytes")
    size = ctypes.c_size_t(5)
    place.expect(place.call(raw, "pread", fd, nowhere, size, ctypes.c_long(0)), "EFAULT")
    place.expect(place.call(raw, "pwrite", fd, nowhere, size, ctypes.c_long(0)), "EFAULT")
    place.expect(place.read("there"), b"bytes")
