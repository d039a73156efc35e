"""What the curves of a profile say of a size that lies between the measured ones, as an interval.

Between two sizes a line and the piece of the Hockney model that the size is in are two readings of
the same curve; the interval holds both, and the ends of the points' own intervals. Curves of one
name that were measured in several ways (buffers hot and cold, calls isolated and back to back) are
one interval. Beyond the measured sizes the curve's own slope goes on, as far as `REACH` times.
"""

from __future__ import annotations

import bisect
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from haichi.fit.model import LogGP, Piece, PlaceCurve, Profile, SizeCurve, StorageCosts
from haichi.predict.span import Span, around
from haichi.units import plural

PING_PONG = "ping-pong"
SHORT = 1024  # bytes: what a message of so few takes is its start
REACH = 16.0  # times the largest size that was measured
RANKS_REACH = 8.0  # times more or fewer ranks than a collective was measured with
INSIDE = ("core", "numa", "node")
# Each rank has a part of its own in them, so that they grow with the number of ranks; others go
# through a tree.
LINEAR = frozenset(
    {
        "allgather",
        "allgatherv",
        "alltoall",
        "alltoallv",
        "alltoallw",
        "gather",
        "gatherv",
        "scatter",
        "scatterv",
    }
)


@dataclass(frozen=True)
class Found:
    """What a curve says, and which it was."""

    span: Span
    start: Span
    """The same at the smallest size: what does not come from the bytes."""
    curve: str
    note: str = ""
    """Why the interval is less sure than others, in a line."""


@dataclass
class Curves:
    """The curves of a profile by name."""

    profile: Profile
    _pairs: dict[tuple[str, str], list[PlaceCurve]] = field(default_factory=dict)
    _jobs: dict[str, dict[tuple[int, int], list[SizeCurve]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        pairs: dict[tuple[str, str], list[PlaceCurve]] = defaultdict(list)
        jobs: dict[str, dict[tuple[int, int], list[SizeCurve]]]
        jobs = defaultdict(lambda: defaultdict(list))
        for curve in self.profile.curves:
            pairs[curve.name, curve.place].append(curve)
        for each in self.profile.collectives:
            jobs[each.name][each.ranks, each.nodes].append(each)
        self._pairs, self._jobs = dict(pairs), {name: dict(of) for name, of in jobs.items()}

    def pair(self, names: Sequence[str], place: str, size: int) -> Found | None:
        """What two ranks need, by the first of the measurements that the profile has; None if it
        has none of them, or none near the size."""
        for name in names:
            for where, note in _places(place):
                if curves := self._pairs.get((name, where)):
                    return _of_all(curves, size, f"{name} at {where}", note)
        return None

    def job(self, name: str, ranks: int, nodes: int, size: int) -> Found | None:
        """What a collective of so many ranks on so many nodes needs; of another number of ranks it
        is scaled, and the interval wider."""
        shapes = self._jobs.get(name, {})
        fitting = [shape for shape in shapes if (shape[1] > 1) == (nodes > 1)]
        if not fitting or ranks < 1:
            return None
        nearest = min(fitting, key=lambda shape: _distance(shape, (ranks, nodes)))
        curve = f"{name} of {plural(nearest[0], 'rank')} on {plural(nearest[1], 'node')}"
        found = _of_all(shapes[nearest], size, curve, "")
        if found is None or nearest == (ranks, nodes):
            return found
        low, high = _scale(name, nearest[0], ranks)
        if not 1 / RANKS_REACH <= ranks / nearest[0] <= RANKS_REACH:
            return None
        span = Span(found.span.low * low, found.span.high * high)
        start = Span(found.start.low * low, found.start.high * high)
        note = (
            f"{name} of {plural(ranks, 'rank')} on {plural(nodes, 'node')} by that of "
            f"{nearest[0]} on {nearest[1]}"
        )
        return Found(span, start, curve, note)

    def loggp(self, place: str) -> LogGP | None:
        """The parameters of a place, or of the nearest inside a node."""
        for where, _ in _places(place):
            for model in self.profile.loggp:
                if model.place == where:
                    return model
        return None

    def byte_s(self, place: str, size: int) -> float | None:
        """What a byte of a message of this size takes, by the model's piece or LogGP."""
        for where, _ in _places(place):
            for curve in self._pairs.get((PING_PONG, where), []):
                if piece := _piece_of(curve.pieces, size):
                    return piece.s_per_byte
        model = self.loggp(place)
        return model.gap_s_per_byte if model else None

    @property
    def eager_bytes(self) -> float | None:
        """The largest message that is sent without asking the receiver."""
        number = self.profile.numbers.get("eager_bytes")
        return number.value if number else None

    @property
    def storage(self) -> list[StorageCosts]:
        """File systems."""
        return self.profile.storage


def _places(place: str) -> list[tuple[str, str]]:
    """A placement class, then what stands in for it inside a node, with what is said then."""
    if place == "self":
        place = "core"
    if place not in INSIDE:
        return [(place, "")]
    at = INSIDE.index(place)
    others = sorted((each for each in INSIDE if each != place),
                    key=lambda each: abs(INSIDE.index(each) - at))  # fmt: skip
    return [(place, ""), *((each, f"messages at {place} by those at {each}") for each in others)]


def _of_all(curves: Sequence[SizeCurve], size: int, name: str, note: str) -> Found | None:
    """The interval of several curves of one thing."""
    spans = [span for curve in curves if (span := at(curve, size))]
    if not spans:
        return None
    joined, start = spans[0], _start(curves[0])
    for span in spans[1:]:
        joined = joined.join(span)
    for curve in curves[1:]:
        start = start.join(_start(curve))
    largest = max(curve.bytes[-1] for curve in curves)
    if size > largest:
        note = f"{name} ends at {largest} B: larger ones by its slope"
    return Found(joined, Span(min(start.low, joined.low), min(start.high, joined.high)), name, note)


def _start(curve: SizeCurve) -> Span:
    """What does not come from the bytes: the line at 0 bytes, if the smallest size is a large one,
    at most what that takes."""
    sizes = curve.bytes
    if sizes[0] <= SHORT or len(sizes) < 2:
        return around(ends[0] if sizes[0] <= SHORT else 0.0 for ends in _ends(curve))
    starts = []
    for ends in _ends(curve):
        slope = (ends[1] - ends[0]) / (sizes[1] - sizes[0])
        starts.append(min(max(ends[0] - slope * sizes[0], 0.0), ends[0]))
    return around(starts)


def at(curve: SizeCurve, size: int) -> Span | None:
    """A curve at a size; None if it ends too far below it."""
    if curve.bytes == [0]:
        return around(ends[0] for ends in _ends(curve))
    if size > REACH * curve.bytes[-1]:
        return None
    readings = [_between(curve.bytes, ends, size) for ends in _ends(curve)]
    pieces = curve.pieces if isinstance(curve, PlaceCurve) else []
    # Below the first size nothing was measured, and a line may fall short of a message's start.
    if (piece := _piece_of(pieces, size)) and size >= curve.bytes[0]:
        line = piece.latency_s + piece.s_per_byte * size
        readings.append(line)
    return around(readings)


def _ends(curve: SizeCurve) -> list[list[float]]:
    return [curve.seconds, *(ends for ends in (curve.low, curve.high) if ends is not None)]


def _piece_of(pieces: Sequence[Piece], size: int) -> Piece | None:
    """The line whose sizes hold this one, beyond all of them the last; None between two."""
    for piece in pieces:
        if piece.from_ <= size <= piece.to:
            return piece
    return pieces[-1] if pieces and size > pieces[-1].to else None


def _between(sizes: Sequence[int], seconds: Sequence[float], size: int) -> float:
    """On the line between two neighbours; the last one's slope goes on, the first time stays."""
    if size <= sizes[0] or len(sizes) == 1:
        scale = size / sizes[0] if len(sizes) == 1 and size > sizes[0] > 0 else 1.0
        return seconds[0] * scale
    after = min(bisect.bisect_left(sizes, size), len(sizes) - 1)
    before = after - 1
    share = (size - sizes[before]) / (sizes[after] - sizes[before])
    return max(seconds[before] + share * (seconds[after] - seconds[before]), 0.0)


def _distance(shape: tuple[int, int], wanted: tuple[int, int]) -> float:
    """How far a job of so many ranks and nodes is from another: in ranks, and in ranks a node."""
    ranks, per_node = shape[0] / wanted[0], shape[0] * wanted[1] / shape[1] / wanted[0]
    return abs(math.log(ranks)) + abs(math.log(per_node))


def _scale(name: str, measured: int, wanted: int) -> tuple[float, float]:
    """Least and most factor from so many ranks to others: none, that of a tree, and for calls with
    a part for each rank that of a list."""
    tree = math.log2(max(wanted, 2)) / math.log2(max(measured, 2))
    factors = [tree, 1.0]
    if name in LINEAR:
        factors = [tree, max(wanted - 1, 1) / max(measured - 1, 1)]
    return min(factors), max(factors)
