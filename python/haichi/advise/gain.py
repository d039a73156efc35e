"""What another placement gains, by the curves of a profile, as an interval.

Two readings of the same messages, each for the recorded and for the advised placement, and the
interval holds the gain by either: at least, a rank's messages follow each other at the rate at
which the machine takes them, both directions at once, and the slowest rank counts; at most, each is
alone on its way, those that come in behind those that go out, and besides, what goes in and out of
the busiest node passes its port one after the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from haichi.advise.traffic import Traffic
from haichi.predict.curves import Curves
from haichi.predict.messages import Messages
from haichi.predict.places import Places
from haichi.predict.span import Span


class Times:
    """What all messages take with the ranks on given seats."""

    def __init__(self, traffic: Traffic, places: Places, curves: Curves) -> None:
        self._traffic, self._places = traffic, places
        self._messages = Messages(curves)

    def of(self, seats: Sequence[int]) -> Span | None:
        """None if the profile has no curve for them."""
        out: dict[int, Span] = defaultdict(lambda: Span(0.0, 0.0))
        into: dict[int, Span] = defaultdict(lambda: Span(0.0, 0.0))
        port: dict[int, float] = defaultdict(float)
        for (source, to), sent in self._traffic.sent.items():
            a, b = seats[source], seats[to]
            place = self._places.between(a, b)
            each = self._messages.of(place, sent.bytes // sent.messages)
            if each is None:
                return None
            span = Span(each.behind, each.alone.high).times(sent.messages)
            out[source] += span
            into[to] += span
            if place == "network":
                for seat in (a, b):
                    port[self._places.node[seat]] += each.bytes_s.high * sent.messages
        ranks = set(out) | set(into)
        low = max((max(out[rank].low, into[rank].low) for rank in ranks), default=0.0)
        high = max((out[rank].high + into[rank].high for rank in ranks), default=0.0)
        return Span(low, high + max(port.values(), default=0.0))


def gain(before: Span, after: Span, most: float) -> Span:
    """From placement to placement; no more than the time in MPI."""
    low, high = sorted((before.low - after.low, before.high - after.high))
    return Span(min(max(low, 0.0), most), min(max(high, 0.0), most))
