"""A gather file system: one folder that has its description, its secret, its servers' stores, and
what is known of its daemons. The folder may lie where all nodes see it.

    FOLDER/job.json        how many servers, stripes          FOLDER/server0, …   the stores
    FOLDER/secret          what dispatchers and servers prove to each other    FOLDER/run   daemons
    FOLDER/run/serverN.store    where the store is, if it lies elsewhere, and on which node
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict, cast

from haichi_processes import runner
from pydantic import BaseModel, ValidationError

from haichi import paths, programs
from haichi.gasfs.daemons import LOOK, PROGRAM, Daemon, GasfsError, host, read, until
from haichi.gasfs.launch import Launch
from haichi.mpi import Missing

SCHEMA: Literal["haichi.gasfs-job/1"] = "haichi.gasfs-job/1"
STRIPE = 64 << 10
STRIPE_ATTRIBUTE = "user.haichi.stripe"
COPIES_ATTRIBUTE = "user.haichi.copies"
STATUS_ATTRIBUTE = "user.haichi.status"
LEAST_STRIPE, MOST_STRIPE = 4096, 8 << 20


class Description(BaseModel):
    """job.json."""

    schema_: Literal["haichi.gasfs-job/1"] = SCHEMA
    servers: int
    stripe: int  # bytes


class StorePlace(BaseModel):
    """serverN.store: a store that lies on a node's own disk."""

    host: str
    folder: str


class CheckResult(TypedDict):
    """What `haichi-gasfs check` prints."""

    files: int
    objects: int
    left_over: int
    stale: int  # objects that lack what was written while their server was away
    problems: list[str]


Numbers = dict[str, int | str | bool | list[dict[str, int | str | bool]]]


@dataclass(frozen=True)
class Job:
    """A file system that there is."""

    folder: Path
    description: Description

    @classmethod
    def load(cls, folder: Path) -> Job:
        """The one in this folder.

        Raises:
            GasfsError: there is none.
        """
        try:
            text = (folder / "job.json").read_bytes()
        except OSError as error:
            raise GasfsError(
                f"{folder} has no gather file system ({error.strerror}): haichi gasfs start "
                "makes one"
            ) from None
        try:
            return cls(folder.absolute(), Description.model_validate_json(text))
        except ValidationError:
            raise GasfsError(f"{folder}/job.json is none of this version of haichi") from None

    @classmethod
    def make(cls, folder: Path, servers: int, stripe: int) -> Job:
        """A new one, or what is there already with the same number of servers (0: as it has, or
        one).

        Raises:
            GasfsError: it has another number, or cannot be made.
        """
        if not LEAST_STRIPE <= stripe <= MOST_STRIPE or stripe % LEAST_STRIPE:
            raise GasfsError(
                f"a stripe is a multiple of {LEAST_STRIPE} bytes, {MOST_STRIPE} at most"
            )
        if (folder / "job.json").exists():
            job = cls.load(folder)
            if servers not in (0, job.description.servers):
                raise GasfsError(
                    f"{folder} has {job.description.servers} servers, and what is in it cannot be "
                    f"dealt out anew: --servers {job.description.servers}, or another folder"
                )
            return job
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            (folder / "run").mkdir(mode=0o700, exist_ok=True)
            with os.fdopen(
                os.open(folder / "secret", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w"
            ) as file:
                file.write(secrets.token_hex(32) + "\n")
            description = Description(servers=servers or 1, stripe=stripe)
            (folder / "job.json").write_text(description.model_dump_json() + "\n")
        except OSError as error:
            raise GasfsError(f"cannot make {folder}: {error.strerror}") from None
        return cls(folder.absolute(), description)

    @property
    def servers(self) -> list[Daemon]:
        """All servers, by their numbers."""
        numbers = range(self.description.servers)
        return [Daemon(self.folder / "run", f"server{number}") for number in numbers]

    @property
    def dispatchers(self) -> list[Daemon]:
        """The dispatchers of this node that live."""
        files = sorted((self.folder / "run").glob(f"dispatcher-{host()}-*.json"))
        known = [Daemon(self.folder / "run", file.stem) for file in files]
        return [daemon for daemon in known if daemon.process()]

    @property
    def lives(self) -> bool:
        """Whether a daemon of it runs on this node."""
        return any(server.process() for server in self.servers) or bool(self.dispatchers)

    def servers_of(self, launch: Launch) -> Sequence[int]:
        """The servers that this process starts: those whose stores are on its node, where all have
        one on some node, else its share of all."""
        numbers = range(self.description.servers)
        places = [self._place(number) for number in numbers]
        if not all(places):
            return launch.numbers(self.description.servers)
        here = [number for number in numbers if (at := places[number]) and at.host == host()]
        return here if launch.local == 0 else []

    def _place(self, number: int) -> StorePlace | None:
        return read(self.folder / "run" / f"server{number}.store", StorePlace)

    def store(self, number: int, begin_in: Path | None = None) -> Path:
        """Where a server has its store; a new one begins in a folder of this node, if one is given.

        Raises:
            GasfsError: it is on another node, or elsewhere than in that folder.
        """
        name = f"server{number}"
        shared, place = self.folder / name, self._place(number)
        if place is None:
            if begin_in is None or shared.exists():
                return shared
            place = StorePlace(host=host(), folder=str(begin_in.absolute() / name))
            try:
                begin_in.mkdir(parents=True, exist_ok=True)
                (self.folder / "run" / f"{name}.store").write_text(place.model_dump_json() + "\n")
            except OSError as error:
                raise GasfsError(f"no store can be in {begin_in}: {error.strerror}") from None
        if place.host != host():
            raise GasfsError(f"the store of {name} is on {place.host}, in {place.folder}")
        if begin_in and Path(place.folder).parent != begin_in.absolute():
            raise GasfsError(f"the store of {name} is in {place.folder}, and stays there")
        return Path(place.folder)

    def start_servers(
        self,
        listen: str,
        seconds: int,
        patience: float,
        numbers: Sequence[int] | None = None,
        begin_in: Path | None = None,
        gather_us: int = 0,
    ) -> None:
        """Starts these servers on this host, or all that do not run, together. One that did before
        serves at the same port, so that dispatchers find it again."""
        started = []
        for number in range(self.description.servers) if numbers is None else numbers:
            server = self.servers[number]
            if server.process():
                continue
            before = server.address()
            again = before.startswith(f"{listen}:")
            words: list[str | Path] = ["server", "--store", self.store(number, begin_in)]
            words += ["--secret", self.folder / "secret", "--index", str(number)]
            words += ["--servers", str(self.description.servers)]
            words += ["--stripe", str(self.description.stripe), "--for", str(seconds)]
            words += ["--listen", before if again else f"{listen}:0"]
            words += ["--gather-us", str(gather_us)]
            started.append((server, server.start(words)))
        for server, process in started:
            server.wait_until_it_serves(process, patience)

    def wait_for_servers(self, patience: float) -> None:
        """All servers answer, those that other nodes start too.

        Raises:
            GasfsError: one does not in time.
        """
        ends = time.monotonic() + patience
        for number, server in enumerate(self.servers):
            while "error" in (told := self._asked(number)):
                if time.monotonic() > ends:
                    why = told["error"] if server.address() else "it has not begun"
                    raise GasfsError(f"{server.name} does not answer in {patience:.0f} s: {why}")
                time.sleep(LOOK)

    def mount(
        self, where: Path, options: Sequence[str], patience: float, *, trace: bool = False
    ) -> None:
        """Starts a dispatcher on this node, whose files are seen at `where`.

        Raises:
            GasfsError: a server has not begun, or it cannot be mounted.
        """
        _clear_dead_mount(where)
        try:
            where.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GasfsError(f"cannot mount on {where}: {error.strerror}") from None
        if where.is_mount():
            raise GasfsError(f"something is mounted on {where} already: name another folder")
        words: list[str | Path] = ["dispatcher", "--secret", self.folder / "secret"]
        for server in self.servers:
            if not server.address():
                raise GasfsError(f"{server.name} has never begun: haichi gasfs start {self.folder}")
            words += ["--server", server.address()]
        words += ["--mount", where.absolute(), *options]
        dispatcher = self._free_dispatcher()
        traced = dispatcher.run / f"{dispatcher.name}.trace"
        traced.unlink(missing_ok=True)
        if trace:
            words += ["--trace", traced]
        process = dispatcher.start(words, mount=str(where.absolute()))
        dispatcher.wait_until_it_serves(process, patience)

    def _free_dispatcher(self) -> Daemon:
        number = 0
        while (daemon := Daemon(self.folder / "run", f"dispatcher-{host()}-{number}")).process():
            number += 1
        return daemon

    def stop(self, patience: float, launch: Launch | None = None) -> list[str]:
        """Ends what runs of it on this host, dispatchers first, and waits until all is stored; what
        is not, a line each. Of a launch of several processes the servers wait for the dispatchers
        of all nodes."""
        wrong = _end(self.dispatchers, patience)
        for file in (self.folder / "run").glob("dispatcher-*.json"):
            Daemon(self.folder / "run", file.stem).forget_if_ended()
        if launch and launch.size > 1:
            wrong += self._wait_for_dispatchers(patience)
        return wrong + _end(self.servers, patience)

    def _wait_for_dispatchers(self, patience: float) -> list[str]:
        """Those of all nodes have ended; of each that has not, a line."""
        run = self.folder / "run"
        until(lambda: not any(run.glob("dispatcher-*.json")), patience)
        left = sorted(run.glob("dispatcher-*.json"))
        return [f"{file.stem} has not ended in {patience:.0f} s" for file in left]

    def server_numbers(self) -> list[Numbers]:
        """What each server tells; {"index": …, "error": …} of one that does not answer."""
        return [self._asked(number) for number in range(self.description.servers)]

    def _asked(self, number: int) -> Numbers:
        words = ["ask", "--server", self.servers[number].address() or "none:0"]
        words += ["--secret", str(self.folder / "secret")]
        try:
            text = programs.output(paths.program(PROGRAM), *words, timeout=30)
        except Missing as error:
            return {"index": number, "error": str(error)}
        return cast(Numbers, json.loads(text))

    def dispatcher_numbers(self) -> list[Numbers]:
        """What each dispatcher of this node tells."""
        told: list[Numbers] = []
        for daemon in self.dispatchers:
            process = daemon.process()
            mount = process.mount if process else ""
            try:
                numbers = cast(Numbers, json.loads(os.getxattr(mount, STATUS_ATTRIBUTE)))
            except OSError as error:
                numbers = {"error": error.strerror or "no answer"}
            told.append({"name": daemon.name, "mount": mount, **numbers})
        return told

    def check(self, *, repair: bool) -> CheckResult:
        """Looks whether the stores are sound, which nobody may serve meanwhile.

        Raises:
            GasfsError: somebody serves them, or they cannot be read.
        """
        stores = [str(self.store(number)) for number in range(self.description.servers)]
        words = ["check", *stores, *(["--repair"] if repair else [])]
        done = runner.run([programs.built(paths.program(PROGRAM)), *words], timeout=3600)
        if not done.out:
            raise GasfsError(done.last_error.removeprefix("haichi gasfs: ") or done.how)
        return cast(CheckResult, json.loads(done.out))


def _end(daemons: Sequence[Daemon], patience: float) -> list[str]:
    asked = [(daemon, daemon.ask_to_end()) for daemon in daemons]
    ends = [daemon.wait(process, patience) for daemon, process in asked if process]
    return [end for end in ends if end]


def mount_of(path: Path) -> Path:
    """The mount of a gather file system on which something is, or will be.

    Raises:
        GasfsError: it is on another file system.
    """
    try:
        mount = path.resolve()
        while not mount.is_mount():
            mount = mount.parent
        os.getxattr(mount, STATUS_ATTRIBUTE)
    except OSError:
        raise GasfsError(
            f"{path} is on no gather file system: haichi gasfs start makes one"
        ) from None
    return mount


def set_stripe(path: Path, stripe: int) -> None:
    """Has a folder's new files, or an empty file, dealt out in stripes of so many bytes.

    Raises:
        GasfsError: it is not on a gather file system, or does not take that.
    """
    _set(path, STRIPE_ATTRIBUTE, stripe, "a stripe is a multiple of 4k, 8M at most")


def set_copies(path: Path, copies: int) -> None:
    """Has each stripe of a folder's new files, or of an empty file, on so many servers.

    Raises:
        GasfsError: it is not on a gather file system, or does not take that.
    """
    _set(path, COPIES_ATTRIBUTE, copies, "there are 1 or 2 copies, on 2 to 64 servers")


def _set(path: Path, attribute: str, value: int, rule: str) -> None:
    mount_of(path)
    try:
        os.setxattr(path, attribute, str(value).encode())
    except OSError as error:
        raise GasfsError(
            f"{path} does not take {value} ({error.strerror}): {rule}, of a folder, or of an empty "
            "file that nobody has open"
        ) from None


def _clear_dead_mount(where: Path) -> None:
    """Takes away what a dispatcher that died has left."""
    with contextlib.suppress(FileNotFoundError):
        try:
            where.stat()
        except OSError as error:
            if error.errno not in (errno.ENOTCONN, errno.ECONNABORTED):
                raise
            words = ["umount", "-l"] if os.geteuid() == 0 else ["fusermount3", "-uz"]
            runner.run([*words, where], timeout=30)
