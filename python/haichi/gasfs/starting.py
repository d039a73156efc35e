"""Bringing a file system up, by one process or by one on each node together: each makes or finds
the job in the folder that all see, starts its servers, waits for those of the others, and mounts.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from haichi.gasfs.daemons import GasfsError, until
from haichi.gasfs.job import Job
from haichi.gasfs.launch import Launch


def make(launch: Launch, folder: Path, servers: int, stripe: int, patience: float) -> Job:
    """The job of these processes, which the first one makes; without a number of servers it has
    one for each process.

    Raises:
        GasfsError: see Job.make; or the others see no job in time.
    """
    if launch.rank == 0:
        have = (folder / "job.json").exists()
        return Job.make(folder, servers or (0 if have else launch.size), stripe)
    if not until((folder / "job.json").exists, patience):
        raise GasfsError(f"{folder} has no job after {patience:.0f} s: do all nodes see it?")
    return Job.make(folder, servers, stripe)


@dataclass(frozen=True)
class Start:
    """How one process brings its part of a job up."""

    launch: Launch
    listen: str  # see Launch.address
    begin_in: Path | None  # where new stores lie; None: in the job's folder
    where: Path | None  # it is mounted; None: it is not
    options: Sequence[str]  # of the dispatcher
    seconds: int  # after which all ends by itself
    patience: float
    gather_us: int = 0  # of the servers
    trace: bool = False  # what is written

    def of(self, job: Job) -> None:
        """Starts the servers of this process, and mounts where it is the first on its node. If
        anything fails, what runs on this node is ended again.

        Raises:
            GasfsError: a server or the dispatcher does not start, or runs already.
        """
        own = job.servers_of(self.launch)
        if any(job.servers[number].process() for number in own):
            raise GasfsError(
                f"{job.folder} is being served already: haichi gasfs mount adds a mount"
            )
        address = self.launch.address(self.listen)
        try:
            with _a_signal_raises():
                job.start_servers(
                    address, self.seconds, self.patience, own, self.begin_in, self.gather_us
                )
                if self.where and self.launch.local == 0:
                    if self.launch.size > 1:
                        job.wait_for_servers(self.patience)
                    job.mount(self.where, self.options, self.patience, trace=self.trace)
        except BaseException:
            job.stop(self.patience)
            raise


def stay(job: Job, launch: Launch, patience: float) -> list[str]:
    """Returns when all that runs on this node has ended, by `haichi gasfs stop` or because this
    process is asked to end; what is not stored, a line each."""
    try:
        with _a_signal_raises():
            until(lambda: not job.lives, math.inf, look=1)
    except GasfsError:
        return job.stop(patience, launch)
    return []


@contextmanager
def _a_signal_raises() -> Iterator[None]:
    """SIGTERM and SIGINT raise, so that what was begun is ended in good order."""

    def raised(number: int, _: FrameType | None) -> None:
        raise GasfsError(f"ended by {signal.Signals(number).name}")

    before = {number: signal.signal(number, raised) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
