"""The daemons of a gather file system as processes of this host: started so that they outlive who
started them, known again later, and ended.

A daemon is NAME.json in the folder `run` of its job, with the process's number and when it began:
a number alone may be another's by now. What the daemon itself tells lies beside it: NAME.address
once it serves, NAME.address.end when it ended in good order, NAME.log.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from haichi import paths, programs
from haichi.mpi import Missing

LOOK = 0.005
PROGRAM = "haichi-gasfs"


class GasfsError(Exception):
    """Why something cannot be done, in one line: what, where, what to do."""


class Process(BaseModel):
    """NAME.json."""

    pid: int
    began: str  # clock ticks since this host was started
    host: str
    mount: str = ""  # of a dispatcher


class Announcement(BaseModel):
    """NAME.address."""

    pid: int
    address: str
    node: str = ""  # where other nodes ask a dispatcher


class End(BaseModel):
    """NAME.address.end."""

    pid: int
    stored: bool
    error: str


def until(done: Callable[[], bool], patience: float, look: float = LOOK) -> bool:
    """Waits until it is so, looking every `look` seconds; whether that was within `patience`."""
    ends = time.monotonic() + patience
    while not done():
        if time.monotonic() > ends:
            return False
        time.sleep(look)
    return True


def host() -> str:
    """This host, or this node of a lab."""
    return os.uname().nodename


def _began(pid: int) -> str:
    """When a process began; "" if there is none, or only its exit code is left."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def seconds_since_start() -> float:
    """How long this command runs, with what started it in its place."""
    ticks = int(_began(os.getpid()))
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Daemon:
    """One of a job's daemons, by the folder of their files and its name."""

    run: Path
    name: str

    @property
    def _file(self) -> Path:
        return self.run / f"{self.name}.json"

    @property
    def address_file(self) -> Path:
        """What the daemon writes when it serves."""
        return self.run / f"{self.name}.address"

    @property
    def log(self) -> Path:
        """What the daemon prints."""
        return self.run / f"{self.name}.log"

    def process(self) -> Process | None:
        """The process, if it is one of this host and lives."""
        found = read(self._file, Process)
        alive = found and found.host == host() and _began(found.pid) == found.began
        return found if alive else None

    def address(self) -> str:
        """Where it served last; "" if it never did."""
        found = read(self.address_file, Announcement)
        return found.address if found else ""

    def start(self, words: Sequence[str | Path], mount: str = "") -> subprocess.Popen[bytes]:
        """Starts it: `wait_until_it_serves` comes next.

        Raises:
            GasfsError: it lives already, or is not built.
        """
        if self.process():
            raise GasfsError(f"{self.name} is running already: haichi gasfs stop comes first")
        self.address_file.unlink(missing_ok=True)
        Path(f"{self.address_file}.end").unlink(missing_ok=True)
        try:
            program = programs.built(paths.program(PROGRAM))
        except Missing as error:
            raise GasfsError(
                f"{error}; it needs libfuse3-dev, libsodium-dev, liblmdb-dev and libxxhash-dev"
            ) from None
        command = [program, *words, "--announce", self.address_file]
        with self.log.open("wb") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        described = Process(pid=process.pid, began=_began(process.pid), host=host(), mount=mount)
        self._file.write_text(described.model_dump_json() + "\n")
        return process

    def wait_until_it_serves(self, process: subprocess.Popen[bytes], patience: float) -> None:
        """What `start` gave has announced itself.

        Raises:
            GasfsError: it ends, or does not serve in time.
        """
        if not until(lambda: self.address_file.exists() or process.poll() is not None, patience):
            process.kill()
            raise GasfsError(f"{self.name} did not start in {patience:.0f} s, see {self.log}")
        if not self.address_file.exists():
            raise GasfsError(f"{self.name} did not start: {self.last_line()}")

    def ask_to_end(self) -> Process | None:
        """Asks it to end in good order; the process, if there was one to ask. One that does not
        serve yet, and may be waiting for others, holds nothing, and is killed."""
        process = self.process()
        if process:
            served = self.address_file.exists()
            os.kill(process.pid, signal.SIGTERM if served else signal.SIGKILL)
        return process

    def forget_if_ended(self) -> None:
        """Takes its file away if it is of this host and its process is gone, so that other nodes
        see that nothing of it is left."""
        found = read(self._file, Process)
        if found and found.host == host() and not self.process():
            self._file.unlink(missing_ok=True)

    def wait(self, process: Process, patience: float) -> str:
        """Waits for its end; "" if all that it had is stored, else why not."""
        if not until(lambda: _began(process.pid) != process.began, patience):
            return f"{self.name} has not ended in {patience:.0f} s, see {self.log}"
        if not self.address_file.exists():
            return ""  # it never served
        end = read(Path(f"{self.address_file}.end"), End)
        if not end or end.pid != process.pid:
            return f"{self.name} ended without a word: {self.last_line()}"
        return "" if end.stored else f"{self.name}: {end.error}"

    def last_line(self) -> str:
        """The last line of its log."""
        try:
            lines = self.log.read_text(errors="replace").strip().splitlines()
        except OSError:
            lines = []
        return lines[-1].removeprefix("haichi gasfs: ") if lines else f"nothing is in {self.log}"


Model = TypeVar("Model", bound=BaseModel)


def read(file: Path, model: type[Model]) -> Model | None:
    """What a file says; None if it is not there, or no such thing."""
    try:
        return model.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None
