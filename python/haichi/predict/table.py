"""Prediction by table: how often a program makes each call, times what the machine needs for it.

What ranks wait for each other is in no table. It is what the record has beyond what its calls need
at most; where that is most of the time in MPI, there is no figure but that line.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from haichi.predict.costs import Cost, cost_of, place_of
from haichi.predict.curves import Curves
from haichi.predict.kinds import MESSAGES, Kind, kind_of, measurement
from haichi.predict.messages import Message, Messages, Need, Pile, both_placed
from haichi.predict.span import NOTHING, Span, total
from haichi.record.read import Key, Record, plain_name

MESSAGE_PART = "messages"
BEGUN = frozenset({Kind.COLLECTIVE_BEGUN})


@dataclass
class Part:
    """Calls of one kind, of all ranks."""

    name: str
    size: int | None
    where: str
    calls: int = 0
    span: Span = NOTHING
    recorded: float = 0.0
    curves: dict[str, None] = field(default_factory=dict)


@dataclass
class Lacking:
    """Calls without a curve, of all ranks."""

    name: str
    calls: int = 0
    recorded: float = 0.0
    measure: str = ""


@dataclass
class Place:
    """What of a rank's time depends on one placement class."""

    latencies: Span = NOTHING
    latency_s: Span = NOTHING
    bytes_s: Span = NOTHING
    overhead: Span = NOTHING

    def add(self, span: Span, latencies: Span, bytes_s: Span, overhead: Span = NOTHING) -> None:
        """Adds calls; `span` is what they take."""
        self.latencies += latencies
        self.latency_s += span.less(bytes_s) if latencies.high > 0 else NOTHING
        self.bytes_s += bytes_s
        self.overhead += overhead


@dataclass
class RankNeed:
    """What the calls of one rank need."""

    span: Span = NOTHING
    recorded: float = 0.0
    """Of calls that have a curve."""
    kept: float = 0.0
    """Of calls that have none, or that stay on the rank: as recorded."""
    places: dict[str, Place] = field(default_factory=lambda: defaultdict(Place))
    piles: dict[str, Pile] = field(default_factory=lambda: defaultdict(Pile))
    waits: int = 0

    def close(self) -> Span:
        """Takes the messages together, when all are known; returns what they need."""
        needs: dict[str, Need] = {
            place: pile.need(self.waits, place) for place, pile in self.piles.items()
        }
        for place, need in needs.items():
            self.places[place].add(need.span, need.latencies, need.bytes_s, need.overhead)
        span = both_placed(needs)
        self.span += span
        return span


STARTED = {Kind.SEND_KEPT: Kind.SEND_BEGUN, Kind.RECEIVE_KEPT: Kind.RECEIVE_BEGUN}


@dataclass(frozen=True)
class Kept:
    """Requests of a rank that are started again and again."""

    function: str
    kind: Kind
    place: str
    size: int
    requests: int
    message: Message


@dataclass
class Table:
    """A record times a machine."""

    record: Record
    curves: Curves
    ranks: dict[int, RankNeed] = field(default_factory=lambda: defaultdict(RankNeed))
    parts: dict[tuple[str, int | None, str], Part] = field(default_factory=dict)
    lacking: dict[str, Lacking] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    _messages: Messages = field(init=False)
    _kept: dict[int, list[Kept]] = field(default_factory=lambda: defaultdict(list))
    _filled: dict[int, float] = field(init=False)
    """Of each rank: which share of the room that its receives offered was filled."""

    def __post_init__(self) -> None:
        self._messages = Messages(self.curves)
        self._filled = filled(self.record)
        # What waits comes behind what it waits for.
        for key in sorted(self.record.keys, key=lambda each: each.call.for_ is not None):
            self._add(key)
        spans = [need.close() for need in self.ranks.values()]
        if part := self.parts.get((MESSAGE_PART, None, "")):
            part.span = total(spans)
            places = {place for need in self.ranks.values() for place in need.piles}
            part.where = ", ".join(sorted(places))

    def sorted_parts(self) -> list[Part]:
        """Most time first."""
        return sorted(self.parts.values(), key=lambda part: -part.span.high)

    def sorted_lacking(self) -> list[Lacking]:
        """Most time first."""
        return sorted(self.lacking.values(), key=lambda each: -each.recorded)

    def _add(self, key: Key) -> None:
        kind = kind_of(key.name)
        begun = plain_name(key.call.for_) if key.call.for_ else ""
        others = begun not in ("", "mixed") and kind_of(begun) not in MESSAGES
        if kind in (Kind.WAIT, Kind.POLL) and others:
            self._waited_for(key, begun)
        elif kind is Kind.START:
            self._start(key, begun)
        elif kind in MESSAGES:
            self._add_message(key, kind)
        elif kind is Kind.LOCAL:
            for rank in key.ranks:
                self.ranks[rank].kept += key.call.total_s
        else:
            self._add_call(key, cost_of(self.record, self.curves, key))

    def _waited_for(self, key: Key, begun: str) -> None:
        """What a call that began something takes later, is of that call."""
        part = next((part for part in self.parts.values() if part.name == begun), None)
        if part is None or begun in self.lacking:
            self._lack(key, begun, 0)
            return
        part.recorded += key.total_s
        for rank in key.ranks:
            self.ranks[rank].recorded += key.call.total_s

    def _add_message(self, key: Key, kind: Kind) -> None:
        place, size = place_of(self.record, key), key.call.bytes or 0
        if kind is Kind.RECEIVE_BEGUN:
            size = round(size * max(self._filled.get(rank, 1.0) for rank in key.ranks))
        moves = kind not in (Kind.WAIT, Kind.POLL)
        each = self._messages.of(place, size) if moves else None
        if moves and each is None:
            self._lack(key, key.name, key.count, "ping-pong")
            return
        part = self._part(MESSAGE_PART, None, "")
        part.recorded += key.total_s
        if each:
            part.calls += key.count if kind not in STARTED else 0
            part.curves[each.curve] = None
            self._note(each.note)
        for rank in key.ranks:
            need = self.ranks[rank]
            need.recorded += key.call.total_s
            if kind in STARTED and each:
                kept = Kept(key.name, STARTED[kind], place, size, key.call.count, each)
                self._kept[rank].append(kept)
            elif each:
                need.piles[place].add(kind, key.call.count, each)
            if kind in (Kind.WAIT, Kind.BOTH):
                need.waits += key.call.count

    def _start(self, key: Key, begun: str) -> None:
        """Messages of requests that are kept: those whose bytes together are what was started."""
        chosen = {rank: _started(self._kept[rank], key, begun) for rank in key.ranks}
        if not all(chosen.values()):
            self._lack(key, key.name, key.count)
            return
        part = self._part(MESSAGE_PART, None, "")
        part.recorded += key.total_s
        for rank, kept in chosen.items():
            need = self.ranks[rank]
            need.recorded += key.call.total_s
            for each in kept:
                count = key.call.count * (1 if key.name == "Start" else each.requests)
                part.calls += count
                need.piles[each.place].add(each.kind, count, each.message)

    def _add_call(self, key: Key, cost: Cost | None) -> None:
        if cost is None:
            self._lack(key, key.name, key.count)
            return
        size = None if kind_of(key.name) in BEGUN else key.call.bytes
        part = self._part(key.name, size, self._where(key, cost))
        part.calls += key.count
        part.recorded += key.total_s
        part.span += cost.span.times(key.count)
        part.curves[cost.curve] = None
        self._note(cost.note)
        count = key.call.count
        for rank in key.ranks:
            need = self.ranks[rank]
            need.span += cost.span.times(count)
            need.recorded += key.call.total_s
            need.places[cost.place].add(
                cost.span.times(count), cost.latencies.times(count), cost.bytes_s.times(count)
            )

    def _where(self, key: Key, cost: Cost) -> str:
        if key.call.place:
            return key.call.place
        if cost.place == "storage":
            return "storage"
        ranks, nodes = self.record.nodes_of(key.call.comm)
        return f"{ranks} on {nodes}"

    def _part(self, name: str, size: int | None, where: str) -> Part:
        return self.parts.setdefault((name, size, where), Part(name, size, where))

    def _lack(self, key: Key, name: str, calls: int, measure: str = "") -> None:
        each = self.lacking.setdefault(name, Lacking(name))
        each.calls += calls
        each.recorded += key.total_s
        each.measure = measure or measurement(name)
        for rank in key.ranks:
            self.ranks[rank].kept += key.call.total_s

    def _note(self, note: str) -> None:
        if note:
            self.notes[note] = None


def _started(kept: list[Kept], key: Key, begun: str) -> list[Kept]:
    """Which of a rank's requests a call starts; none if that is not clear."""
    own = [each for each in kept if begun in ("", "mixed", each.function)]
    size = key.call.bytes or 0
    if key.name == "Start":
        return [each for each in own if each.size == size][:1]
    return own if sum(each.size * each.requests for each in own) == size else []


def filled(record: Record) -> dict[int, float]:
    """Of each rank for which that is less than all: the share of the room of its begun receives
    that messages filled, which the record has not call by call."""
    came: dict[int, int] = defaultdict(int)
    for line in record.traffic:
        if line.way == "message":
            for to, size in zip(line.to, line.bytes, strict=True):
                came[to] += size
    room: dict[int, int] = defaultdict(int)
    for key in record.keys:
        kind, size = kind_of(key.name), key.call.count * (key.call.bytes or 0)
        for rank in key.ranks:
            if kind is Kind.RECEIVE_BEGUN:
                room[rank] += size
            elif kind in (Kind.RECEIVE, Kind.BOTH):
                came[rank] -= size
    if not record.traffic:
        return {}
    return {rank: max(came[rank], 0) / size for rank, size in room.items() if came[rank] < size}
