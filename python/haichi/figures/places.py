"""Where the ranks of a measurement run: on the nodes of a lab, or on this machine playing them."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from haichi_processes.runner import Outcome

from haichi import jobs, mpi
from haichi.lab import Lab
from haichi.mpi import Mpi
from haichi.predict.places import dealt_out, in_blocks


class Place(Protocol):
    """Somewhere to run a job."""

    @property
    def shared(self) -> Path:
        """A directory that all its ranks see."""
        ...

    @property
    def description(self) -> str:
        """For the record of a measurement."""
        ...

    @property
    def rate(self) -> str | None:
        """Of a link, as tc has it; None if nothing is limited."""
        ...

    def node_of_rank(self, ranks: int) -> list[int]:
        """Where a job of so many ranks has each of them."""
        ...

    def run(
        self, which: Mpi, ranks: int, argv: Sequence[str], env: Mapping[str, str], timeout: float
    ) -> Outcome:
        """Runs a job; `env` is for the ranks. A job whose result is out has 10 s left to end."""
        ...


GRACE_S = 10.0


def _even(ranks: int, nodes: int) -> list[int]:
    """How many ranks each node takes, if all take as many."""
    return [-(-ranks // nodes)] * nodes


@dataclass
class OnLab:
    """The nodes of a lab, ranks in blocks (BK) or dealt out round robin (RR); `room` is how many
    ranks each node takes, empty: all alike."""

    lab: Lab
    mapping: str = "BK"
    room: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()
    """The node of each rank by its name, in the place of both; empty: as they say."""

    @property
    def shared(self) -> Path:
        """The lab's directory in memory."""
        return self.lab.shared

    @property
    def rate(self) -> str | None:
        """The rate of every link."""
        return None if self.lab.rate == "0" else self.lab.rate

    @property
    def description(self) -> str:
        """For the record of a measurement."""
        return (
            f"{len(self.lab.nodes)} network namespaces as nodes, links of "
            f"{self.rate or 'unlimited rate'} each way, TCP; the file on a tmpfs that all see"
        )

    def node_of_rank(self, ranks: int) -> list[int]:
        """See Place."""
        if self.hosts:
            names = [each.name for each in self.lab.nodes]
            return [names.index(host) for host in self.hosts]
        room = self.room or _even(ranks, len(self.lab.nodes))
        return (dealt_out(room) if self.mapping == "RR" else in_blocks(room))[:ranks]

    def run(
        self, which: Mpi, ranks: int, argv: Sequence[str], env: Mapping[str, str], timeout: float
    ) -> Outcome:
        """See Place."""
        return self.lab.run(
            which,
            ranks,
            argv,
            env,
            timeout=timeout,
            per_node=self.room,
            mapping=self.mapping,
            hosts=self.hosts,
            grace=GRACE_S,
        )


@dataclass
class OnMachine:
    """This machine. If `nodes` is more than 1, haichi is told that it is that many, with a task map
    (HAICHI_PLACEMENT); the MPI library knows nothing of it."""

    shared: Path
    nodes: int = 1
    ranks: int = 0
    rate = None

    def __post_init__(self) -> None:
        if self.nodes > 1:
            per_node = self.ranks // self.nodes
            text = {"version": 1, "map": [[0, self.nodes, per_node, 1]]}
            self._map.write_text(json.dumps(text) + "\n")

    @property
    def _map(self) -> Path:
        return self.shared / "taskmap.json"

    @property
    def description(self) -> str:
        """For the record of a measurement."""
        played = f" playing {self.nodes} nodes (HAICHI_PLACEMENT)" if self.nodes > 1 else ""
        return f"this machine alone{played}, shared memory; the file in {self.shared.parent}"

    def node_of_rank(self, ranks: int) -> list[int]:
        """See Place."""
        return in_blocks(_even(ranks, self.nodes))[:ranks]

    def run(
        self, which: Mpi, ranks: int, argv: Sequence[str], env: Mapping[str, str], timeout: float
    ) -> Outcome:
        """See Place."""
        if self.nodes > 1:
            env = {"HAICHI_PLACEMENT": str(self._map), **env}
        words, full = mpi.local_command(which, ranks, argv, env)
        return jobs.run(words, full, timeout=timeout, grace=GRACE_S)


@contextmanager
def temporary_lab(nodes: int, rate: str) -> Iterator[OnLab]:
    """A lab of its own, down again at the end, whatever happens. One process may have labs of
    different sizes at a time."""
    lab = Lab.up(nodes, rate, f"run-{os.getpid()}-{nodes}")
    try:
        yield OnLab(lab)
    finally:
        lab.down()


@contextmanager
def temporary_machine(nodes: int = 1, ranks: int = 0) -> Iterator[OnMachine]:
    """This machine with a directory of its own, in memory if there is one."""
    memory = Path("/dev/shm")
    base = memory if os.access(memory, os.W_OK) else Path(tempfile.gettempdir())
    shared = Path(tempfile.mkdtemp(prefix="haichi-", dir=base))
    try:
        yield OnMachine(shared, nodes, ranks)
    finally:
        shutil.rmtree(shared, ignore_errors=True)
