"""What each kind of calls of a record costs on a machine: its curve, at its size, as an interval.

A cost has the parts of which its change with the machine follows: how many latencies are one after
the other in it, what they take, and what the bytes take.
"""

from __future__ import annotations

from dataclasses import dataclass

from haichi.predict.curves import PING_PONG, Curves, Found
from haichi.predict.kinds import TO_ALL, Kind, kind_of, measurement
from haichi.predict.span import NOTHING, Span
from haichi.record.read import Key, Record

ACCESSES = ("flush", "fence", "lock", "pscw")  # how one-sided accesses are measured, in turn


@dataclass(frozen=True)
class Cost:
    """Of one call."""

    span: Span
    latencies: Span = NOTHING
    """How many, one after the other."""
    bytes_s: Span = NOTHING
    """Of `span`: what the bytes take."""
    place: str = "network"
    """The placement class whose latency and bandwidth it is."""
    curve: str = ""
    note: str = ""


def place_of(record: Record, key: Key) -> str:
    """The placement class of a call with one peer; the farthest of the job where it is not told, as
    of a receive from any source."""
    return key.call.place or ("network" if len(record.node_names) > 1 else "node")


def measured_size(record: Record, key: Key) -> int:
    """The bytes of a call as the suite counts them: to each rank, not to all together."""
    size = key.call.bytes or 0
    return size // record.nodes_of(key.call.comm)[0] if key.name in TO_ALL else size


def cost_of(record: Record, curves: Curves, key: Key) -> Cost | None:
    """What one call of a kind takes that is no message; None if no curve tells."""
    kind = kind_of(key.name)
    if kind in (Kind.COLLECTIVE, Kind.COLLECTIVE_BEGUN, Kind.FENCE):
        return _collective(record, curves, key, kind)
    if kind is Kind.ACCESS:
        return _access(curves, key, place_of(record, key))
    if kind is Kind.SYNCHRONISE:
        return Cost(NOTHING, curve="in the accesses' curves")
    if kind in (Kind.READ, Kind.WRITE, Kind.READ_ALL, Kind.WRITE_ALL):
        return _file(record, curves, key, kind)
    if kind in (Kind.OPEN, Kind.CLOSE):
        return _opened(curves, kind)
    if kind is Kind.MAKE:
        ranks, nodes = record.nodes_of(key.call.comm)
        found = curves.job(measurement(key.name), ranks, nodes, key.call.bytes or 0)
        return _of_job(found, ranks, nodes) if found else None
    return None


def _collective(record: Record, curves: Curves, key: Key, kind: Kind) -> Cost | None:
    ranks, nodes = record.nodes_of(key.call.comm)
    size = measured_size(record, key)
    if ranks < 2:
        return Cost(NOTHING, curve="one rank alone")
    if kind is Kind.FENCE:
        found = curves.job("fence", ranks, nodes, 0)
        return _of_job(found, ranks, nodes) if found else None
    name = measurement(key.name)
    found = curves.job(name, ranks, nodes, size)
    if kind is Kind.COLLECTIVE_BEGUN:
        found = found or curves.job(name.removeprefix("i"), ranks, nodes, size)
        if found is None:
            return None
        # What computing hides of it only the order of events tells.
        issue = curves.job(f"{name}-issue", ranks, nodes, size)
        least = min(issue.span.low if issue else 0.0, found.span.low)
        cost = _of_job(found, ranks, nodes)
        span, bytes_s = Span(least, found.span.high), Span(0.0, cost.bytes_s.high)
        return Cost(
            span, Span(0.0, cost.latencies.high), bytes_s, cost.place, cost.curve, cost.note
        )
    return _of_job(found, ranks, nodes) if found else None


def _of_job(found: Found, ranks: int, nodes: int) -> Cost:
    """At least the latencies of a tree are one after the other, at most one for each rank."""
    depth = max(ranks - 1, 1).bit_length()
    latencies = Span(min(depth, ranks - 1), max(ranks - 1, 1)) if ranks > 1 else NOTHING
    place = "network" if nodes > 1 else "node"
    return Cost(found.span, latencies, found.span.less(found.start), place, found.curve, found.note)


def _access(curves: Curves, key: Key, place: str) -> Cost | None:
    """At least its bytes, if the next synchronisation waits for many; at most alone."""
    name, size = measurement(key.name), key.call.bytes or 0
    plain = name.removeprefix("r") if name.startswith(("rput", "rget", "racc")) else name
    names = (name, plain, *(f"{plain}-{how}" for how in ACCESSES))
    found = curves.pair(names, place, size)
    note = ""
    if found is None:
        found = curves.pair((PING_PONG,), place, size)
        note = f"{key.name} at {place} by {PING_PONG}, as no curve of it is there"
    if found is None:
        return None
    bytes_s = found.span.less(found.start)
    span = Span(min(bytes_s.low, found.span.low), found.span.high)
    return Cost(span, Span(0.0, 1.0), bytes_s, place, found.curve, note or found.note)


def _file(record: Record, curves: Curves, key: Key, kind: Kind) -> Cost | None:
    """By its own curve, else by the file system's rates: as if alone at best, as a share of what
    all ranks together get at worst."""
    together = kind in (Kind.READ_ALL, Kind.WRITE_ALL)
    ranks, nodes = record.nodes_of(key.call.comm)
    size = key.call.bytes or 0
    if key.name.endswith("_end"):
        return Cost(NOTHING, place="storage", curve="in what began it")
    if found := curves.job(measurement(key.name), ranks, nodes, size):
        cost = _of_job(found, ranks, nodes)
        return Cost(cost.span, NOTHING, cost.bytes_s, "storage", cost.curve, cost.note)
    reads = kind in (Kind.READ, Kind.READ_ALL)
    spans, request = [], NOTHING
    for store in curves.storage:
        rates, of_all, extra = (
            (pair.read if reads else pair.write) if pair else None
            for pair in (store.client_gbs, store.all_gbs, store.request_s)
        )
        if not rates:
            continue
        slowest = min(rates, of_all / max(ranks, 1)) if of_all else rates
        start = extra or 0.0
        request = Span(start, start)
        spans.append(Span(start + size / rates / 1e9, start + size / slowest / 1e9))
    if not spans:
        return None
    span = Span(min(each.low for each in spans), max(each.high for each in spans))
    note = f"{key.name} by the file system's rates, without what ranks exchange"
    less = span.less(request)
    return Cost(span, NOTHING, less, "storage", "storage", note if together else "")


def _opened(curves: Curves, kind: Kind) -> Cost | None:
    times = [
        seconds
        for store in curves.storage
        if (seconds := store.open_s if kind is Kind.OPEN else store.close_s) is not None
    ]
    if not times:
        return None
    return Cost(Span(min(times), max(times)), NOTHING, NOTHING, "storage", "storage")
