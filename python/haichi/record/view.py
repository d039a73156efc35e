"""What a record tells, as sums: by function, by size, by place of the program, by rank, who sends
to whom, and how much of the time is waiting.

Seconds of calls are those of all ranks together, unless a name says otherwise.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from haichi.record.handled import handles
from haichi.record.read import SYMMETRIC, Key, Record, plain_name
from haichi.record.sites import Named

AnyKey = TypeVar("AnyKey", bound=Hashable)
MATRIX_RANKS = 4096  # whose rank x rank matrix is kept


@dataclass
class Sum:
    """Calls that belong together."""

    name: str
    calls: int = 0
    bytes: int = 0
    """Count times bytes, as the function counts them."""
    seconds: float = 0.0
    least: float = 0.0
    """If each call had taken what the shortest of its kind took."""
    waiting: float = 0.0
    """At least so much of `seconds` ranks waited for each other."""
    of_rank: dict[int, float] = field(default_factory=dict)
    handled: bool = False

    def add(self, key: Key) -> None:
        """Adds a kind of calls."""
        self.calls += key.count
        self.bytes += key.count * (key.call.bytes or 0)
        self.seconds += key.total_s
        self.least += key.count * key.call.least_s
        for rank in key.ranks:
            self.of_rank[rank] = self.of_rank.get(rank, 0.0) + key.call.total_s

    @property
    def most(self) -> tuple[int, float]:
        """The rank that spent most, and how much."""
        return max(self.of_rank.items(), key=lambda item: item[1], default=(0, 0.0))


@dataclass(frozen=True)
class Waited:
    """How much ranks waited for each other in one collective on one communicator."""

    name: str
    comm: int | None
    of_rank: dict[int, float]


@dataclass
class View:
    """A record with its sums."""

    record: Record
    sites: Named

    @property
    def notes(self) -> list[str]:
        """What is missing or does not agree, in a line each."""
        return [*self.record.notes, *self.sites.notes]

    @cached_property
    def seconds(self) -> float:
        """In MPI, of all ranks; of their own sums where they tell more than the calls."""
        told = sum(line.mpi_s for line in self.record.ranks.values())
        return max(told, sum(key.total_s for key in self.record.keys))

    @cached_property
    def calls(self) -> int:
        """Of all ranks."""
        told = sum(line.calls for line in self.record.ranks.values())
        return max(told, sum(key.count for key in self.record.keys))

    @cached_property
    def waits(self) -> list[Waited]:
        """Of each collective that can tell it."""
        return list(_waits(self.record))

    @cached_property
    def waiting(self) -> float:
        """At least so much of `seconds`."""
        return sum(sum(each.of_rank.values()) for each in self.waits)

    @cached_property
    def functions(self) -> list[Sum]:
        """Most time first."""
        found = self._sums(lambda key: _function(key))
        for each in found:
            each.handled = handles(each.name.partition(" ")[0])
            each.waiting = sum(
                sum(wait.of_rank.values()) for wait in self.waits if wait.name == each.name
            )
        return found

    @cached_property
    def sizes(self) -> list[tuple[Sum, int]]:
        """By function and size, most time first."""
        groups = self._grouped(lambda key: (_function(key), key.call.bytes))
        sums = [
            (_sum(name, keys), size) for (name, size), keys in groups.items() if size is not None
        ]
        return sorted(sums, key=lambda each: -each[0].seconds)

    @cached_property
    def places(self) -> list[Sum]:
        """By place of the program and function, most time first."""
        words = self.sites.words

        def name(key: Key) -> tuple[str, str]:
            site = key.call.site
            where = "not told" if site is None else words.get(site, f"place {site}")
            return where, _function(key)

        sums = [
            _sum(f"{where}: {function}", keys)
            for (where, function), keys in self._grouped(name).items()
        ]
        return sorted(sums, key=lambda each: -each.seconds)

    @cached_property
    def handled(self) -> tuple[int, float]:
        """Calls, and seconds in them, that haichi can take part in."""
        those = [each for each in self.functions if each.handled]
        return sum(each.calls for each in those), sum(each.seconds for each in those)

    @cached_property
    def nodes(self) -> NDArray[np.float64]:
        """Bytes from node to node."""
        count = len(self.record.node_names)
        found = np.zeros((count, count))
        node = self.record.node_of_rank
        for line in self.record.traffic:
            for to, size in zip(line.to, line.bytes, strict=True):
                found[node[line.rank], node[to]] += size
        return found

    @property
    def sent(self) -> float:
        """Bytes from rank to rank."""
        return float(self.nodes.sum())

    @property
    def crossing(self) -> float:
        """Of these, bytes between nodes."""
        return self.sent - float(self.nodes.trace())

    @cached_property
    def pairs(self) -> NDArray[np.float64] | None:
        """Bytes from rank to rank; None of more ranks than a picture or a person takes."""
        count = self.record.head.ranks
        if count > MATRIX_RANKS:
            return None
        found = np.zeros((count, count))
        for line in self.record.traffic:
            for to, size in zip(line.to, line.bytes, strict=True):
                found[line.rank, to] += size
        return found

    @cached_property
    def compute_spread(self) -> tuple[float, float, int]:
        """Mean and most of the ranks' computing, and which rank has the most."""
        times = {rank: line.compute_s for rank, line in self.record.ranks.items()}
        if not times:
            return 0.0, 0.0, 0
        most = max(times, key=times.__getitem__)
        return statistics.fmean(times.values()), times[most], most

    @cached_property
    def imbalance(self) -> float:
        """Seconds of the slowest rank's computing beyond the mean: what an even split would save
        at most."""
        mean, most, _ = self.compute_spread
        return most - mean

    def _grouped(self, by: Callable[[Key], AnyKey]) -> dict[AnyKey, list[Key]]:
        groups: dict[AnyKey, list[Key]] = defaultdict(list)
        for key in self.record.keys:
            groups[by(key)].append(key)
        return groups

    def _sums(self, by: Callable[[Key], str]) -> list[Sum]:
        sums = [_sum(name, keys) for name, keys in self._grouped(by).items()]
        return sorted(sums, key=lambda each: -each.seconds)


def _sum(name: str, keys: Iterable[Key]) -> Sum:
    made = Sum(name)
    for key in keys:
        made.add(key)
    return made


def _function(key: Key) -> str:
    """With what it waited for, as `Wait for Irecv`."""
    begun = key.call.for_
    return f"{key.name} for {plain_name(begun)}" if begun else key.name


def _waits(record: Record) -> Iterable[Waited]:
    """What ranks waited for each other in collectives.

    With a barrier before each (`--sync`) it was measured. Otherwise: who comes last waits for
    nobody, so what a member spends beyond the one that spends least is waiting. As another rank may
    be last at each call, it is at least that. Of calls in which ranks have different parts (a root)
    nothing can be said.
    """
    spent: dict[tuple[str, int | None], dict[int, float]] = defaultdict(lambda: defaultdict(float))
    measured: dict[tuple[str, int | None], dict[int, float]]
    measured = defaultdict(lambda: defaultdict(float))
    counts: dict[tuple[str, int | None], dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for key in record.keys:
        where = _function(key), key.call.comm
        for rank in key.ranks:
            counts[where][rank] += key.call.count
            spent[where][rank] += key.call.total_s
            if key.call.wait_s > 0:
                measured[where][rank] += key.call.wait_s
    for (name, comm), of_rank in spent.items():
        if (name, comm) in measured:
            yield Waited(name, comm, dict(measured[name, comm]))
            continue
        members = set(record.members.get(comm, ())) if comm is not None else set()
        everybody = members == set(of_rank) and len(set(counts[name, comm].values())) == 1
        if name in SYMMETRIC and everybody and len(of_rank) > 1 and not record.head.sync:
            least = min(of_rank.values())
            yield Waited(name, comm, {rank: took - least for rank, took in of_rank.items()})
