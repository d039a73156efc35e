"""chmod and chown: who may, what they take off, and what a file's permissions let others do."""

from __future__ import annotations

import os
import stat

from cases.paths import ASKING, OF_LINK, REMOVING, renamed
from cases.place import ANOTHER, KINDS, SOMEBODY, Place, case, remove, user


@case
def chmod_of_each_kind(place: Place) -> None:
    for kind in KINDS:
        if kind == "symlink":
            continue
        place.make("a", kind)
        for mode in (0, 0o111, 0o777, 0o1755, 0o2755, 0o4755, 0o7777, 0o644):
            place.moves(lambda mode=mode: place.call(os.chmod, place.path("a"), mode), "a ctime")
            place.expect(place.mode("a"), oct(mode))
        os.symlink("a", place.path("s"))
        place.works(place.call(os.chmod, place.path("s"), 0o321))
        place.expect(place.mode("a"), oct(0o321))
        os.unlink(place.path("s"))
        remove(place, "a")


@case
def chmod_by_who_may_not(place: Place) -> None:
    for kind in KINDS:
        if kind == "symlink":
            continue
        place.make("a", kind, SOMEBODY, SOMEBODY)
        with user(ANOTHER):
            place.moves(lambda: place.expect(ASKING["chmod"](place, "a"), "EPERM"), of=["a"])
        with user(ANOTHER, SOMEBODY):
            place.expect(ASKING["chmod"](place, "a"), "EPERM")
        with user(SOMEBODY, ANOTHER):
            place.expect(ASKING["chmod"](place, "a"), None)
        remove(place, "a")


@case
def chmod_of_sticky_and_group_bits_by_a_user(place: Place) -> None:
    for kind in ("regular", "folder", "fifo"):
        place.make("a", kind, SOMEBODY, ANOTHER)
        for mode in (0o1644, 0o2755, 0o2644, 0o4755, 0o6755, 0o7777):
            with user(SOMEBODY):  # who is not in the file's group
                place.works(place.call(os.chmod, place.path("a"), mode))
            place.expect(place.mode("a"), oct(mode & ~stat.S_ISGID))
            with user(SOMEBODY, groups=[ANOTHER]):
                place.works(place.call(os.chmod, place.path("a"), mode))
            place.expect(place.mode("a"), oct(mode))
        remove(place, "a")


@case
def chmod_of_an_open_file(place: Place) -> None:
    os.chmod(place.root, 0o777)
    with user(SOMEBODY):
        fd = place.fd("a", os.O_CREAT | os.O_RDWR, 0)
        place.works(place.call(os.write, fd, b"it was opened before"))
        place.expect(place.opens("a", os.O_RDONLY), "EACCES")
        place.works(place.call(os.fchmod, fd, 0o400))
        place.expect(place.opens("a", os.O_RDONLY), None)
        place.expect(place.opens("a", os.O_WRONLY), "EACCES")
        place.works(place.call(os.pwrite, fd, b"still", 0))


@case
def chown_of_each_kind(place: Place) -> None:
    for kind in KINDS:
        place.make("a", kind)
        for uid, gid in ((123, 456), (0, 0), (-1, 7), (8, -1), (-1, -1), (2**31, 2**31)):
            place.moves(
                lambda u=uid, g=gid: place.call(os.lchown, place.path("a"), u, g), "a ctime"
            )
            place.works(place.owner("a"))
        remove(place, "a")
    place.make("file", "regular")
    os.symlink("file", place.path("s"))
    place.works(place.call(os.chown, place.path("s"), 11, 12))
    place.expect(place.owner("file"), (11, 12))
    place.expect(place.owner("s"), (0, 0))


@case
def chown_by_a_user(place: Place) -> None:
    for kind in KINDS:
        place.make("a", kind, SOMEBODY, SOMEBODY)
        change = lambda u, g: place.call(os.lchown, place.path("a"), u, g)  # noqa: E731
        with user(SOMEBODY, groups=[ANOTHER]):
            place.expect(change(SOMEBODY, ANOTHER), None)
            place.expect(change(-1, SOMEBODY), None)
            place.expect(change(SOMEBODY, -1), None)
            place.expect(change(-1, 5), "EPERM")
            place.expect(change(ANOTHER, -1), "EPERM")
            place.expect(change(0, 0), "EPERM")
        with user(ANOTHER, groups=[SOMEBODY]):
            place.moves(lambda change=change: place.expect(change(ANOTHER, -1), "EPERM"), of=["a"])
            place.expect(change(-1, SOMEBODY), "EPERM")
            place.expect(change(-1, -1), None, "EPERM")
        remove(place, "a")


@case
def chown_takes_privileges_off(place: Place) -> None:
    for kind in ("regular", "folder", "fifo"):
        place.make("a", kind, SOMEBODY, SOMEBODY)
        for mode in (0o6555, 0o6644, 0o4755, 0o2755, 0o2745, 0o755):
            for who in (0, SOMEBODY):
                for uid, gid in ((-1, ANOTHER), (SOMEBODY, SOMEBODY), (-1, -1)):
                    os.chmod(place.path("a"), mode)
                    with user(who, who, [ANOTHER, SOMEBODY]):
                        place.works(place.call(os.chown, place.path("a"), uid, gid))
                    place.works(place.mode("a"))
        remove(place, "a")


@case
def changing_bytes_takes_privileges_off(place: Place) -> None:
    os.chmod(place.root, 0o777)
    changes = {
        "write": lambda fd: os.write(fd, b"x"),
        "pwrite": lambda fd: os.pwrite(fd, b"x", 5000),
        "nothing": lambda fd: os.write(fd, b""),
        "ftruncate": lambda fd: os.ftruncate(fd, 7),
        "ftruncate to the same": lambda fd: os.ftruncate(fd, 100),
        "allocate": lambda fd: os.posix_fallocate(fd, 0, 9000),
        "copy": lambda fd: os.copy_file_range(source, fd, 10),
        "sendfile": lambda fd: os.sendfile(fd, source, 0, 10),
    }
    place.write("source", bytes(100))
    source = place.fd("source")
    for name, change in changes.items():
        for mode in (0o6777, 0o6767, 0o6666):
            for who in (0, SOMEBODY):
                place.write("a", bytes(100))
                os.chown(place.path("a"), SOMEBODY, SOMEBODY)
                os.chmod(place.path("a"), mode)
                with user(who):
                    fd = place.fd("a", os.O_RDWR)
                    os.lseek(source, 0, os.SEEK_SET)
                    place.works(place.call(change, fd))
                place.log.append((f"{name} of {mode:o} by {who}", place.mode("a")))
                os.close(fd)
    for mode in (0o6777, 0o6767):
        place.write("a", bytes(100))
        for ask in (
            lambda: os.truncate(place.path("a"), 5),
            lambda: place.opens("a", os.O_WRONLY | os.O_TRUNC),
            lambda: os.utime(place.path("a"), (1, 2)),
        ):
            os.chown(place.path("a"), SOMEBODY, SOMEBODY)
            os.chmod(place.path("a"), mode)
            with user(SOMEBODY):
                place.works(place.call(ask))
            place.works(place.mode("a"))


@case
def permissions_decide(place: Place) -> None:
    """Of owner, group and others the first that fits, alone."""
    place.make("a", "regular", SOMEBODY, ANOTHER)
    flags = {"read": os.O_RDONLY, "write": os.O_WRONLY, "both": os.O_RDWR}
    for mode in range(0o1000):
        if mode % 5 and mode not in (0o644, 0o600, 0o007, 0o070, 0o700):
            continue
        os.chmod(place.path("a"), mode)
        for uid, gid, groups, shift in (
            (SOMEBODY, SOMEBODY, [ANOTHER], 6),
            (77, ANOTHER, [], 3),
            (77, 77, [ANOTHER, 5], 3),
            (77, 77, [5], 0),
        ):
            with user(uid, gid, groups):
                may = mode >> shift & 7
                for name, needs in (("read", 4), ("write", 2), ("both", 6)):
                    wanted = None if may & needs == needs else "EACCES"
                    place.expect(place.opens("a", flags[name]), wanted)
                place.close_all()
                for needs in range(8):
                    has = os.access(place.path("a"), needs, effective_ids=True)
                    place.expect(place.call(lambda has=has: has), may & needs == needs)


@case
def access_by_real_user(place: Place) -> None:
    place.make("a", "regular", SOMEBODY, SOMEBODY, 0o600)
    with user(ANOTHER):  # the real one is root
        place.expect(place.call(os.access, place.path("a"), os.R_OK), True)
        place.expect(place.call(os.access, place.path("a"), os.X_OK), False)
    place.make("d", "folder", SOMEBODY, SOMEBODY, 0)
    os.chmod(place.path("d"), 0)
    place.expect(place.call(os.access, place.path("d"), os.X_OK | os.W_OK), True)


def kept(place: Place, kind: str, file_owner: int, folder_owner: int) -> None:
    """Whether SOMEBODY may remove and rename in a sticky folder where it has these owners."""
    os.chown(place.path("d"), folder_owner, folder_owner)
    may = SOMEBODY in (file_owner, folder_owner)
    place.make("d/a", kind, file_owner, file_owner)
    place.make("free/own", "regular", SOMEBODY, SOMEBODY)
    with user(SOMEBODY):
        wanted = (None,) if may else ("EACCES", "EPERM")
        place.expect(renamed(place, "d/a", "d/b"), *wanted)
        if may:
            place.works(renamed(place, "d/b", "d/a"))
        if kind != "folder":
            place.expect(renamed(place, "free/own", "d/a"), *wanted)
            place.make("d/own", "regular", SOMEBODY, SOMEBODY)
        if may and kind != "folder":
            return
        place.expect(REMOVING["rmdir" if kind == "folder" else "unlink"](place, "d/a"), *wanted)


@case
def sticky_folders_keep_what_is_others(place: Place) -> None:
    place.make("d", "folder")
    place.make("free", "folder", SOMEBODY, SOMEBODY)
    for kind in KINDS:
        for file_owner in (SOMEBODY, ANOTHER, 0):
            for folder_owner in (SOMEBODY, ANOTHER, 0):
                os.chmod(place.path("d"), 0o1777)
                kept(place, kind, file_owner, folder_owner)
                for name in ("d/a", "d/own", "free/own"):
                    remove(place, name)


@case
def times_may_be_set_by(place: Place) -> None:
    place.make("a", "regular", SOMEBODY, SOMEBODY, 0o666)
    with user(SOMEBODY):
        place.works(ASKING["utimensat"](place, "a"))
    with user(ANOTHER):
        place.works(place.call(os.utime, place.path("a")))  # who may write may say "now"
        place.expect(ASKING["utimensat"](place, "a"), "EPERM")
    os.chmod(place.path("a"), 0o644)
    with user(ANOTHER):
        place.expect(place.call(os.utime, place.path("a")), "EACCES")
        place.expect(ASKING["utimensat"](place, "a"), "EPERM")


@case
def links_of_others_are_made(place: Place) -> None:
    os.chmod(place.root, 0o777)
    place.make("a", "regular", SOMEBODY, SOMEBODY, 0o600)
    with user(ANOTHER):
        OF_LINK["link from"](place, "a")
