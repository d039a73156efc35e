"""unlink, rmdir and rename: what goes, what stays, and whose times and links that changes."""

from __future__ import annotations

import os
import time
from pathlib import Path

from cases.paths import REMOVING, renamed
from cases.place import GRANULE, KINDS, Place, case, raw, remove

NOREPLACE, EXCHANGE = 1, 2


def rename2(place: Place, old: str, new: str, flags: int) -> object:
    """renameat2(2)."""
    paths = (place.path(old).encode(), place.path(new).encode())
    return place.call(lambda: raw("renameat2", -100, paths[0], -100, paths[1], flags))


@case
def unlink_of_each_kind(place: Place) -> None:
    place.make("d", "folder")
    for kind in KINDS:
        place.make("d/a", kind)
        if kind == "folder":
            place.moves(
                lambda: place.expect(REMOVING["unlink"](place, "d/a"), "EISDIR"), of=["d", "d/a"]
            )
            os.rmdir(place.path("d/a"))
            continue
        place.expect(REMOVING["rmdir"](place, "d/a"), "ENOTDIR")
        place.moves(lambda: REMOVING["unlink"](place, "d/a"), "d mtime", "d ctime")
        place.expect(place.lstat("d/a"), "ENOENT")
        place.expect(REMOVING["unlink"](place, "d/a"), "ENOENT")


@case
def unlink_while_it_is_open(place: Place) -> None:
    fd = place.fd("a", os.O_CREAT | os.O_RDWR)
    os.write(fd, b"bytes")
    os.link(place.path("a"), place.path("b"))
    os.unlink(place.path("a"))
    place.expect(place.call(lambda: os.fstat(fd).st_nlink), 1)
    os.unlink(place.path("b"))
    place.expect(place.call(lambda: os.fstat(fd).st_nlink), 0)
    place.expect(place.call(os.pread, fd, 10, 0), b"bytes")
    place.works(place.call(os.pwrite, fd, b"more", 5))
    place.works(place.call(os.ftruncate, fd, 7))
    place.works(place.call(os.fchmod, fd, 0o600))
    place.works(place.call(os.fsync, fd))
    place.expect(place.call(os.pread, fd, 10, 0), b"bytesmo")
    place.make("a", "regular")
    place.expect(place.read("a") or b"empty", b"empty")
    place.expect(place.call(lambda: Path(f"/proc/self/fd/{fd}").read_bytes()), b"bytesmo")


@case
def rmdir_of_each(place: Place) -> None:
    place.make("d", "folder")
    place.make("d/e", "folder")
    place.expect(place.call(lambda: os.stat(place.path("d")).st_nlink), 3)
    for kind in KINDS:
        place.make("d/e/a", kind)
        place.expect(REMOVING["rmdir"](place, "d/e"), "ENOTEMPTY")
        remove(place, "d/e/a")
    place.moves(lambda: REMOVING["rmdir"](place, "d/e"), "d mtime", "d ctime")
    place.expect(place.call(lambda: os.stat(place.path("d")).st_nlink), 2)


@case
def rename_of_each_kind(place: Place) -> None:
    for name in ("d", "e"):
        place.make(name, "folder")
    for kind in KINDS:
        place.make("d/a", kind, 5, 6)
        before = os.lstat(place.path("d/a"))
        moved = ["d mtime", "d ctime", "e mtime", "e ctime"]
        place.moves(lambda: renamed(place, "d/a", "e/b"), *moved)
        after = os.lstat(place.path("e/b"))
        place.expect(place.call(lambda a=after, b=before: os.path.samestat(a, b)), True)
        place.expect(place.lstat("d/a"), "ENOENT")
        place.works(place.lstat("e/b"))
        links = place.call(lambda: [os.stat(place.path(name)).st_nlink for name in ("d", "e")])
        place.expect(links, [2, 3] if kind == "folder" else [2, 2])
        place.moves(lambda: renamed(place, "e/b", "e/b"), of=["e", "e/b"])
        remove(place, "e/b")


@case
def rename_moves_the_time_of_what_is_renamed(place: Place) -> None:
    for kind in KINDS:
        place.make("a", kind)
        before = os.lstat(place.path("a")).st_ctime_ns
        time.sleep(GRANULE)
        place.works(renamed(place, "a", "b"))
        after = os.lstat(place.path("b")).st_ctime_ns
        place.expect(place.call(lambda went_on=after > before: went_on), True)
        remove(place, "b")


@case
def rename_onto_each_kind(place: Place) -> None:
    for kind in KINDS:
        for onto in KINDS:
            place.make("a", kind)
            place.make("b", onto)
            there = os.lstat(place.path("a"))
            if kind == "folder" and onto != "folder":
                place.expect(renamed(place, "a", "b"), "ENOTDIR")
            elif kind != "folder" and onto == "folder":
                place.expect(renamed(place, "a", "b"), "EISDIR")
            else:
                place.expect(renamed(place, "a", "b"), None)
                same = os.path.samestat(there, os.lstat(place.path("b")))
                place.expect(place.call(lambda same=same: same), True)
            remove(place, "a")
            remove(place, "b")


@case
def rename_onto_another_name_of_the_file(place: Place) -> None:
    place.write("a", b"x")
    os.link(place.path("a"), place.path("b"))
    place.moves(lambda: place.expect(renamed(place, "a", "b"), None), of=["a", "b"])
    place.expect(place.call(lambda: os.stat(place.path("a")).st_nlink), 2)
    place.write("c", b"y")
    os.link(place.path("c"), place.path("d"))
    place.moves(lambda: renamed(place, "a", "c"), "d ctime", ". mtime", ". ctime")
    place.expect(place.call(lambda: os.stat(place.path("d")).st_nlink), 1)


@case
def rename_of_folders_into_one_another(place: Place) -> None:
    for name in ("d", "d/e", "d/e/f", "empty", "full", "full/x"):
        os.mkdir(place.path(name))
    place.expect(renamed(place, "d", "d/e"), "EINVAL")
    place.expect(renamed(place, "d", "d/new"), "EINVAL")
    place.expect(renamed(place, "d", "d/e/f/new"), "EINVAL")
    place.expect(renamed(place, "d/e", "d"), "ENOTEMPTY")
    place.expect(renamed(place, "d", "full"), "ENOTEMPTY", "EEXIST")
    place.expect(renamed(place, "d", "empty"), None)
    place.expect(place.call(lambda: sorted(os.listdir(place.path("empty/e")))), ["f"])
    fd = place.fd("empty/e/f", os.O_RDONLY | os.O_DIRECTORY)
    place.works(renamed(place, "empty", "moved"))
    place.works(place.call(lambda: os.mkdir("in", dir_fd=fd)))
    place.works(place.lstat("moved/e/f/in"))
    up = os.open("..", os.O_RDONLY, dir_fd=fd)
    same = os.path.samestat(os.fstat(up), os.stat(place.path("moved/e")))
    os.close(up)
    place.expect(place.call(lambda: same), True)


@case
def rename_without_replacing(place: Place) -> None:
    for kind in KINDS:
        place.make("a", kind)
        place.make("b", kind)
        place.expect(rename2(place, "a", "b", NOREPLACE), "EEXIST")
        place.expect(rename2(place, "a", "c", NOREPLACE), 0)
        place.expect(rename2(place, "a", "c", NOREPLACE), "ENOENT", "EEXIST")
        for name in "bc":
            remove(place, name)
    place.make("a", "regular")
    place.expect(rename2(place, "a", "a", NOREPLACE), "EEXIST")


@case
def rename_that_exchanges(place: Place) -> None:
    for kind in KINDS:
        for other in KINDS:
            place.make("a", kind)
            place.make("d", "folder")
            place.make("d/b", other)
            inodes = [os.lstat(place.path(name)).st_ino for name in ("a", "d/b")]
            place.expect(rename2(place, "a", "d/b", EXCHANGE), 0)
            now = [os.lstat(place.path(name)).st_ino for name in ("d/b", "a")]
            place.expect(place.call(lambda a=inodes, b=now: a == b), True)
            place.call(lambda: [os.stat(place.path(n)).st_nlink for n in (".", "d")])
            for name in ("a", "d/b", "d"):
                remove(place, name)
    place.make("a", "regular")
    place.expect(rename2(place, "a", "none", EXCHANGE), "ENOENT")
    place.expect(rename2(place, "none", "a", EXCHANGE), "ENOENT")
    place.expect(rename2(place, "a", "b", NOREPLACE | EXCHANGE), "EINVAL")
    place.expect(rename2(place, "a", "b", 1 << 10), "EINVAL")
    for name in ("d", "d/e"):
        os.mkdir(place.path(name))
    place.expect(rename2(place, "d", "d/e", EXCHANGE), "EINVAL")
    place.expect(rename2(place, "d/e", "d", EXCHANGE), "EINVAL", "ENOTEMPTY")


@case
def rename_onto_what_is_open(place: Place) -> None:
    place.write("new", b"new")
    fd = place.fd("old", os.O_CREAT | os.O_RDWR)
    os.write(fd, b"old")
    place.works(renamed(place, "new", "old"))
    place.expect(place.call(os.pread, fd, 10, 0), b"old")
    place.works(place.call(os.pwrite, fd, b"more", 3))
    place.expect(place.call(lambda: os.fstat(fd).st_nlink), 0)
    place.expect(place.call(place.read, "old"), b"new")


@case
def folder_that_is_gone_while_it_is_open(place: Place) -> None:
    os.mkdir(place.path("d"))
    fd = os.open(place.path("d"), os.O_RDONLY | os.O_DIRECTORY)
    os.rmdir(place.path("d"))
    place.expect(place.call(os.listdir, fd), [])
    os.close(fd)


@case
def listing_while_it_changes(place: Place) -> None:
    os.mkdir(place.path("d"))
    for i in range(500):
        os.mknod(place.path(f"d/{i}"))
    seen = []
    with os.scandir(place.path("d")) as entries:
        for entry in entries:
            seen.append(entry.name)
            os.unlink(entry.path)
    place.expect(place.call(lambda: sorted(map(int, seen)) == list(range(500))), True)
    place.expect(place.call(os.listdir, place.path("d")), [])
    place.works(REMOVING["rmdir"](place, "d"))
