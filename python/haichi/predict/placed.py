"""A record as if its ranks had been elsewhere: every call is as it was, and its peer as near as the
other placement has it.

The record tells how often a rank made a call with peers at a placement class, and how much it sent
to each rank. So calls are shared out to the classes that those peers have then, by the messages to
each. That is exact where all messages of a class are of one size; where they are of several, all
peers are taken to get the same mix, and a note says so.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from haichi.predict.kinds import Kind, kind_of
from haichi.predict.places import Places
from haichi.record.model import RecordedCall, TrafficLine
from haichi.record.read import Key, Record
from haichi.report.load import ReportError
from haichi.report.placement import Placement
from haichi.units import plural

OUT = frozenset({Kind.SEND, Kind.SEND_BEGUN, Kind.SEND_KEPT, Kind.BOTH})
INTO = frozenset({Kind.RECEIVE, Kind.RECEIVE_BEGUN, Kind.RECEIVE_KEPT})
ANYWHERE = ""  # stands for the old class where that no longer tells peers apart
Pile = tuple[int, str]  # a rank, and which way: out, into, or one-sided


@dataclass
class Moves:
    """Of each rank, way and old placement class: how many messages have which class now."""

    counts: dict[tuple[Pile, str], Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )

    @classmethod
    def between(cls, traffic: list[TrafficLine], old: Places | None, new: Places) -> Moves:
        """From one placement to another; without an old one all of a rank's are one pile."""
        made = cls()
        for line in traffic:
            for to, messages in zip(line.to, line.messages, strict=True):
                before = old.between(line.rank, to) if old else ANYWHERE
                now = new.between(line.rank, to)
                if line.way == "one-sided":
                    made.counts[(line.rank, line.way), before][now] += messages
                else:
                    made.counts[(line.rank, "out"), before][now] += messages
                    made.counts[(to, "into"), before][now] += messages
        return made


@dataclass
class _Keys:
    """Calls under way to their new classes."""

    moves: Moves
    sizes: dict[tuple[Pile, str], set[int]] = field(default_factory=lambda: defaultdict(set))
    mixed: bool = False
    lost: int = 0

    def of(self, key: Key) -> Iterator[Key]:
        way, before = _way(key), key.call.place
        if way is None or before is None:
            yield key
            return
        for rank in key.ranks:
            pile = (rank, way), before
            counts = self.moves.counts.get(pile)
            if not counts:
                self.lost += key.call.count
                yield Key(key.call, (rank,))
                continue
            self.sizes[pile].add(key.call.bytes or 0)
            self.mixed = self.mixed or (len(counts) > 1 and len(self.sizes[pile]) > 1)
            yield from (Key(call, (rank,)) for call in shared_out(key.call, counts))


def placed(record: Record, placement: Placement) -> Record:
    """The record with its ranks at other places. What is less sure is in its notes.

    Raises:
        ReportError: the placement is of another number of ranks, or the record has none.
    """
    if record.head.placement is None:
        raise ReportError(f"{record.path}: does not tell where its ranks were; record it again")
    ranks = len(placement.node_of_rank())
    if ranks != record.head.ranks:
        raise ReportError(
            f"the placement is of {plural(ranks, 'rank')}, and the record of {record.head.ranks}"
        )
    moves = Moves.between(record.traffic, Places.of(record.head.placement), Places.of(placement))
    return moved(record, placement, moves, record.keys)


def moved(record: Record, placement: Placement, moves: Moves, keys: list[Key]) -> Record:
    """The record with these calls, shared out to the classes of a placement."""
    under_way = _Keys(moves)
    made = [each for key in keys for each in under_way.of(key)]
    notes = list(record.notes)
    if under_way.mixed:
        notes.append(
            "messages of several sizes go to peers that are no longer alike: each is taken to get "
            "the same mix of them; by sequence tells"
        )
    if under_way.lost:
        notes.append(
            f"whom {plural(under_way.lost, 'call')} reach the record does not tell: their peers "
            "are taken to be as near as they were"
        )
    head = record.head.model_copy(update={"placement": placement})
    return replace(record, head=head, keys=made, notes=notes)


def shared_out(call: RecordedCall, counts: Counter[str]) -> Iterator[RecordedCall]:
    """A call in parts, by how many messages have which class."""
    messages, left, seconds = sum(counts.values()), call.count, call.total_s
    for number, (place, many) in enumerate(sorted(counts.items())):
        last = number == len(counts) - 1
        count = left if last else min(round(call.count * many / messages), left)
        if count == 0:
            continue
        left -= count
        share = seconds * count / call.count
        yield call.model_copy(update={"place": place, "count": count, "total_s": share})


def _way(key: Key) -> str | None:
    """Which way a call's message goes; None of calls without a peer."""
    kind = kind_of(key.name)
    if kind in OUT:
        return "out"
    if kind in INTO:
        return "into"
    return "one-sided" if kind is Kind.ACCESS else None
