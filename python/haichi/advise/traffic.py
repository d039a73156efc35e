"""Who sends how much to whom, of all that a record tells of it.

Messages and one-sided accesses are in its lines. All-to-alls and all-gathers are not: each is taken
for a message from every rank of its communicator to every other one, among the neighbours of a grid
for one to each. Those of all ranks are left out, since wherever the ranks are the same goes between
nodes of the same sizes. So are collectives that go through a tree: how, the library decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from haichi.record.model import Cart
from haichi.record.read import Key, Record

MOST_PAIRS = 4_000_000
_ALL = {"alltoall": False, "alltoallv": True, "alltoallw": True, "allgather": False,
        "allgatherv": False}  # whether the bytes are those to all peers together  # fmt: skip


@dataclass
class Sent:
    """From one rank to another."""

    messages: int = 0
    bytes: int = 0


@dataclass
class Traffic:
    """What goes from rank to rank."""

    sent: dict[tuple[int, int], Sent] = field(default_factory=lambda: defaultdict(Sent))
    notes: list[str] = field(default_factory=list)

    def add(self, source: int, to: int, messages: int, size: int) -> None:
        """Adds messages of so many bytes together."""
        if source != to and messages > 0:
            each = self.sent[source, to]
            each.messages += messages
            each.bytes += size

    def edges(self) -> list[tuple[int, int, int]]:
        """Two ranks and the bytes between them, both ways together."""
        both: dict[tuple[int, int], int] = defaultdict(int)
        for (source, to), each in self.sent.items():
            both[min(source, to), max(source, to)] += each.bytes
        return [(a, b, size) for (a, b), size in sorted(both.items()) if size > 0]


def traffic_of(record: Record) -> Traffic:
    """Of all ranks of a record."""
    traffic = Traffic()
    for line in record.traffic:
        for to, messages, size in zip(line.to, line.messages, line.bytes, strict=True):
            traffic.add(line.rank, to, messages, size)
    pairs = len(traffic.sent)
    for key in record.keys:
        peers = _peers(record, key, traffic)
        pairs += sum(len(of_rank) for _, of_rank in peers)
        if pairs > MOST_PAIRS:
            traffic.notes.append(
                f"all-to-alls have more than {MOST_PAIRS} pairs of ranks: the rest is left out"
            )
            break
        _add_collective(traffic, key, peers)
    return traffic


def _add_collective(traffic: Traffic, key: Key, peers: list[tuple[int, list[int]]]) -> None:
    share = _ALL.get(_plain(key.name), False)
    for rank, of_rank in peers:
        size = (key.call.bytes or 0) // (max(len(of_rank), 1) if share else 1)
        for to in of_rank:
            traffic.add(rank, to, key.call.count, key.call.count * size)


def _plain(name: str) -> str:
    """`Ineighbor_alltoallv` is `alltoallv`."""
    return name.lower().removeprefix("i").removeprefix("neighbor_")


def _peers(record: Record, key: Key, traffic: Traffic) -> list[tuple[int, list[int]]]:
    """Each rank that makes the call, and to whom it sends; nothing where the place of the ranks
    doesn't matter or that is not known."""
    if _plain(key.name) not in _ALL or key.call.comm is None:
        return []
    communicator = record.communicators.get(key.call.comm)
    members = list(record.members.get(key.call.comm, ()))
    if communicator is None or communicator.remote is not None:
        return []
    if "eighbor" in key.name:
        if communicator.cart is None:
            note = f"MPI_{key.name} among neighbours of a graph, which the record does not tell"
            traffic.notes += [note] if note not in traffic.notes else []
            return []
        place = {rank: at for at, rank in enumerate(members)}
        return [
            (rank, [members[at] for at in neighbours(communicator.cart, place[rank])])
            for rank in key.ranks
            if rank in place
        ]
    if len(members) >= record.head.ranks:
        return []
    return [(rank, [to for to in members if to != rank]) for rank in key.ranks]


def neighbours(cart: Cart, rank: int) -> Iterator[int]:
    """The ranks beside one in its grid, the last dimension fastest."""
    stride = 1
    for extent, closes in reversed(
        list(zip(cart.dims, cart.periods or [False] * len(cart.dims), strict=True))
    ):
        here = rank // stride % extent
        for step in (-1, 1):
            there = here + step
            if closes or 0 <= there < extent:
                yield rank + (there % extent - here) * stride
        stride *= extent
