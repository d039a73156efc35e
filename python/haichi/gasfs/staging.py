"""Trees of files, copied to the gather file system and from it by several threads.

What is copied has its final name when all of it is there, so that a copy may be cut short at any
time and begun again: what is there with its size and time is not copied again.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import stat
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import ParamSpec

from haichi.gasfs.copying import PART, FileCopy, digest, keep_attributes, parts_of
from haichi.gasfs.daemons import GasfsError

TEMPORARY = ".haichi-stage-"  # how the names of what is not whole yet begin
# Behind these no other file can be copied either.
FATAL = {
    errno.ENOSPC: "the disk is full: make room and say it again, what is there stays",
    errno.EDQUOT: "the quota is reached: make room and say it again, what is there stays",
    errno.EROFS: "it can only be read",
    errno.ENOTCONN: "the mount's dispatcher has ended: haichi gasfs mount starts one",
    errno.ECONNABORTED: "the mount's dispatcher has ended: haichi gasfs mount starts one",
    errno.ETIMEDOUT: "a server does not answer: the dispatcher's log names it",
}
Parameters = ParamSpec("Parameters")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to copy."""

    source: str
    target: str
    stat: os.stat_result


@dataclass
class Plan:
    """What a tree has. `name` stands for where it is copied from and to."""

    name: str
    folders: list[Entry] = field(default_factory=list)  # each behind the one that it is in
    files: list[Entry] = field(default_factory=list)
    links: list[tuple[Entry, str]] = field(default_factory=list)  # other names of a file there
    others: list[Entry] = field(default_factory=list)  # symbolic links and pipes
    left_out: list[str] = field(default_factory=list)  # why something can't be copied
    bytes: int = 0


@dataclass
class Outcome:
    """What became of a copy."""

    copied: int = 0  # files
    bytes: int = 0
    there: int = 0  # files that were there already
    problems: list[str] = field(default_factory=list)


def plan(source: Path, target: Path) -> Plan:
    """What has to be copied so that `target` is as `source` is.

    Raises:
        GasfsError: there is nothing at the source, or one is in the other.
    """
    try:
        source = source.resolve(strict=True)
        top = Entry(str(source), str(target), source.stat())
        inside = target.resolve().is_relative_to(source)
    except OSError as error:
        raise GasfsError(f"cannot copy {source}: {error.strerror}") from None
    if inside and stat.S_ISDIR(top.stat.st_mode):
        raise GasfsError(f"{target} lies in {source}: name a place outside of it")
    made = Plan(
        hashlib.blake2b(
            f"{source}\0{target.resolve()}".encode(errors="surrogateescape"), digest_size=6
        ).hexdigest()
    )
    first_names: dict[tuple[int, int], str] = {}
    to_look_at = [top]
    while to_look_at:
        entry = to_look_at.pop()
        _sort_in(entry, made, first_names)
        if stat.S_ISDIR(entry.stat.st_mode):
            to_look_at += _within(entry, made)
    return made


def _sort_in(entry: Entry, made: Plan, first_names: dict[tuple[int, int], str]) -> None:
    mode, place = entry.stat.st_mode, (entry.stat.st_dev, entry.stat.st_ino)
    if stat.S_ISDIR(mode):
        made.folders.append(entry)
    elif stat.S_ISREG(mode) and entry.stat.st_nlink > 1 and place in first_names:
        made.links.append((entry, first_names[place]))
    elif stat.S_ISREG(mode):
        first_names[place] = entry.target
        made.files.append(entry)
        made.bytes += entry.stat.st_size
    elif stat.S_ISLNK(mode) or stat.S_ISFIFO(mode):
        made.others.append(entry)
    else:
        made.left_out.append(f"{entry.source}: sockets and device files are not copied")


def _within(folder: Entry, made: Plan) -> Iterator[Entry]:
    try:
        with os.scandir(folder.source) as listed:
            for each in listed:
                if each.name.startswith(TEMPORARY):
                    continue
                with contextlib.suppress(FileNotFoundError):  # removed since it was listed
                    yield Entry(
                        each.path,
                        os.path.join(folder.target, each.name),
                        each.stat(follow_symlinks=False),
                    )
    except OSError as error:
        made.left_out.append(f"{folder.source}: {error.strerror}")


class Staging:
    """A copy under way. `advance` is told of bytes, by any thread."""

    def __init__(self, what: Plan, advance: Callable[[int], None], *, checksum: bool) -> None:
        self._plan, self._advance, self._checksum = what, advance, checksum
        self._left_before = f"{TEMPORARY}{what.name}-"
        self._run = f"{self._left_before}{secrets.token_hex(4)}-"
        self._lock = threading.Lock()
        self._number = 0
        self._fatal = ""
        self._stopped = threading.Event()
        self.outcome = Outcome(problems=list(what.left_out))

    def run(self, threads: int) -> Outcome:
        """Copies all; what went wrong stands in the outcome, a line each."""
        if not self._plan.folders:
            for entry in self._plan.files:
                self._try(entry.target, self._clear, os.path.dirname(entry.target) or ".")
        for folder in self._plan.folders:
            self._try(folder.target, self._make_folder, folder)
        large = [file for file in self._plan.files if file.stat.st_size > 2 * PART]
        with ThreadPoolExecutor(threads) as pool:
            try:
                for entry in large:  # one after the other, each by all threads
                    self._try(entry.source, self._copy_file, entry, pool)
                small = (file for file in self._plan.files if file.stat.st_size <= 2 * PART)
                for done in [
                    pool.submit(self._try, entry.source, self._copy_file, entry, None)
                    for entry in small
                ]:
                    done.result()
            except BaseException:
                self._stopped.set()  # threads end at once, and take away what they were at
                raise
        for entry in self._plan.others:
            self._try(entry.source, self._copy_other, entry)
        for entry, first in self._plan.links:
            self._try(entry.source, self._link, entry, first)
        for folder in reversed(self._plan.folders):  # now that nothing changes their times
            self._try(folder.target, keep_attributes, folder.target, folder.stat)
        if self._fatal:
            self.outcome.problems.insert(0, self._fatal)
        return self.outcome

    def _try(
        self,
        name: str,
        action: Callable[Parameters, None],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> None:
        """Does something unless all is over; keeps what is wrong with it."""
        if self._stopped.is_set():
            return
        try:
            action(*args, **kwargs)
        except OSError as error:
            with self._lock:
                if self._stopped.is_set():
                    return
                if error.errno in FATAL:
                    self._fatal = f"{name}: {FATAL[error.errno]}"
                    self._stopped.set()
                else:
                    said = "it has vanished" if isinstance(error, FileNotFoundError) else ""
                    self.outcome.problems.append(f"{name}: {said or error.strerror}")

    def _temporary(self, target: str) -> str:
        with self._lock:
            self._number += 1
            return os.path.join(os.path.dirname(target), f"{self._run}{self._number}")

    def _make_folder(self, folder: Entry) -> None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder.target, 0o700)
            return
        there = os.lstat(folder.target)
        if not stat.S_ISDIR(there.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, "there is something else of that name")
        os.chmod(folder.target, stat.S_IMODE(there.st_mode) | 0o700)
        self._clear(folder.target)

    def _clear(self, folder: str) -> None:
        """Takes away what the same copy has left when it was killed."""
        with os.scandir(folder) as listed:
            for each in listed:
                if each.name.startswith(self._left_before):
                    os.unlink(each.path)

    def _copy_file(self, entry: Entry, pool: ThreadPoolExecutor | None) -> None:
        if self._is_there(entry):
            self._count(entry.stat.st_size, there=True)
            return
        stopped = self._stopped.is_set
        copy = FileCopy(
            entry.source, entry.target, self._temporary(entry.target), checksum=self._checksum
        )
        try:
            if pool:
                self._copy_parts(copy, pool)
            else:
                for part in parts_of(copy.before.st_size):
                    copy.copy(part, self._advance, stopped)
            copy.finish(stopped)
        except BaseException:
            copy.abandon()
            raise
        with self._lock:
            self.outcome.copied += 1
            self.outcome.bytes += copy.before.st_size

    def _copy_parts(self, copy: FileCopy, pool: ThreadPoolExecutor) -> None:
        """By all threads. None is left at it when this returns or raises: it has their files."""
        parts = [
            pool.submit(copy.copy, part, self._advance, self._stopped.is_set)
            for part in parts_of(copy.before.st_size)
        ]
        try:
            wait(parts)
        except BaseException:
            self._stopped.set()
            wait(parts)
            raise
        for part in parts:
            part.result()

    def _count(self, size: int, *, there: bool) -> None:
        self._advance(size)
        with self._lock:
            self.outcome.there += there

    def _is_there(self, entry: Entry) -> bool:
        """Whether an earlier copy has brought it: by size and time, or by its bytes."""
        try:
            there = os.lstat(entry.target)
        except FileNotFoundError:
            return False
        if (
            not stat.S_ISREG(there.st_mode)
            or there.st_size != entry.stat.st_size
            or there.st_mtime_ns != entry.stat.st_mtime_ns
        ):
            return False
        return not self._checksum or self._digests(entry.source) == self._digests(entry.target)

    def _digests(self, path: str) -> list[bytes]:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            parts = parts_of(os.fstat(fd).st_size)
            return [digest(fd, part, self._stopped.is_set) for part in parts]
        finally:
            os.close(fd)

    def _copy_other(self, entry: Entry) -> None:
        temporary = self._temporary(entry.target)
        try:
            if stat.S_ISLNK(entry.stat.st_mode):
                os.symlink(os.readlink(entry.source), temporary)
            else:
                os.mkfifo(temporary, stat.S_IMODE(entry.stat.st_mode))
            with contextlib.suppress(PermissionError):
                os.chown(temporary, entry.stat.st_uid, entry.stat.st_gid, follow_symlinks=False)
            times = (entry.stat.st_atime_ns, entry.stat.st_mtime_ns)
            os.utime(temporary, ns=times, follow_symlinks=False)
            os.rename(temporary, entry.target)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def _link(self, entry: Entry, first: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            if os.path.samefile(entry.target, first):
                return
        temporary = self._temporary(entry.target)
        os.link(first, temporary, follow_symlinks=False)
        os.rename(temporary, entry.target)
