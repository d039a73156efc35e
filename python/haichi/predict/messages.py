"""Point to point as a whole: what the messages of one rank need.

A call that begins a message has not its time, and one that waits has that of several; so all
messages of a rank are taken together, by placement class. At least they follow each other at the
rate at which the machine takes them, both directions at once, with one latency for each time that
the rank waits. At most each is alone on its way, and what a rank receives by MPI_Recv comes behind
what it sends.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from haichi.predict.curves import PING_PONG, Curves
from haichi.predict.kinds import Kind
from haichi.predict.span import NOTHING, Span

STREAM = 64  # messages of the measurement `stream`
EVEN = 0.9  # of the bytes one way, from which on those the other way are beside them all the time
BOTH_WAYS = "bidirectional"


@dataclass(frozen=True)
class Message:
    """A message between two ranks."""

    alone: Span
    """On its way by itself."""
    behind: float
    """What it adds at least behind another one."""
    both: Span | None
    """Together with one the other way, if that was measured."""
    bytes_s: Span
    """Of `alone`: what its bytes take."""
    asks: bool
    """Whether it is so long that the sender waits for the receiver."""
    overhead: Span
    """What it takes the rank that sends it, and the one that receives it."""
    curve: str
    note: str

    @property
    def beside(self) -> float:
        """How many times longer a long one takes beside another the other way."""
        if not self.asks or self.both is None or self.alone.low <= 0:
            return 1.0
        return max(self.both.low / self.alone.low, 1.0)


@dataclass
class Messages:
    """What the curves of a profile say of messages, each looked up once."""

    curves: Curves
    _known: dict[tuple[str, int], Message | None] = field(default_factory=dict)

    def of(self, place: str, size: int) -> Message | None:
        """By the ping-pong; None if the profile has none that fits."""
        if (place, size) not in self._known:
            self._known[place, size] = _message(self.curves, place, size)
        return self._known[place, size]


def _message(curves: Curves, place: str, size: int) -> Message | None:
    found = curves.pair((PING_PONG,), place, size)
    if found is None:
        return None
    model = curves.loggp(place)
    behind = found.span.low
    if (byte := curves.byte_s(place, size)) is not None:
        behind = min(max(byte * size, model.gap_s if model else 0.0), behind)
    if stream := curves.pair(("stream",), place, size):
        behind = min(behind, stream.span.low / STREAM)
    both = curves.pair((BOTH_WAYS,), place, size)
    eager = curves.eager_bytes
    work = (model.o_send_s, model.o_receive_s) if model else (0.0, 0.0)
    return Message(
        alone=found.span,
        behind=behind,
        both=both.span if both else None,
        bytes_s=found.span.less(found.start),
        asks=eager is not None and size > eager,
        overhead=Span(min(work), max(work)),
        curve=found.curve,
        note=found.note,
    )


@dataclass
class Way:
    """Messages of one rank in one direction."""

    calls: int = 0
    """Made by calls that return when they are through."""
    begun: int = 0
    """That something else waits for."""
    alone_calls: float = 0.0
    alone_begun: float = 0.0
    least: float = 0.0
    least_beside: float = 0.0
    """The same beside as much the other way."""
    latency: float = 0.0
    """Sum over `begun` of what one takes alone beyond what it adds behind another."""
    both_calls: float = 0.0
    """Of `calls`, beside as many the other way; so of `begun`."""
    both_begun: float = 0.0
    measured_both: bool = True
    bytes_low: float = 0.0
    bytes_calls: float = 0.0
    """Of `alone_calls`: what the bytes take; so of `alone_begun`."""
    bytes_begun: float = 0.0
    asking: int = 0
    overhead: float = 0.0

    def add(self, count: int, each: Message, begun: bool) -> None:
        """Adds messages of one size."""
        both = count * (each.both.high if each.both else each.alone.high)
        self.measured_both = self.measured_both and each.both is not None
        least = each.behind
        if begun:
            self.begun += count
            self.bytes_begun += count * each.bytes_s.high
            self.alone_begun += count * each.alone.high
            self.both_begun += both
            self.latency += count * (each.alone.low - each.behind)
        else:
            self.calls += count
            self.bytes_calls += count * each.bytes_s.high
            self.alone_calls += count * each.alone.high
            self.both_calls += both
            self.asking += count * each.asks
            least = each.alone.low if each.asks else each.behind
        self.least += count * least
        self.least_beside += count * least * each.beside
        self.bytes_low += count * each.bytes_s.low
        self.overhead += count * each.overhead.high


@dataclass(frozen=True)
class Need:
    """What messages of one placement class need on one rank."""

    span: Span
    latencies: Span
    bytes_s: Span
    overhead: Span


@dataclass(frozen=True)
class Most:
    """The most that messages take, with its parts."""

    seconds: float
    latencies: int
    bytes_s: float


@dataclass
class Pile:
    """All messages of a rank at one placement class."""

    out: Way = field(default_factory=Way)
    into: Way = field(default_factory=Way)

    def add(self, kind: Kind, count: int, each: Message) -> None:
        """Adds what a call of a kind sends or receives."""
        if kind in (Kind.SEND, Kind.SEND_BEGUN, Kind.BOTH):
            self.out.add(count, each, kind is not Kind.SEND)
        if kind in (Kind.RECEIVE, Kind.RECEIVE_BEGUN, Kind.BOTH):
            self.into.add(count, each, kind is not Kind.RECEIVE)

    def need(self, waits: int, place: str) -> Need:
        """With so many calls that waited for messages, of all placement classes together."""
        out, into = self.out, self.into
        begun = out.begun + into.begun
        groups = min(waits, max(out.begun, into.begun))
        latency = (out.latency + into.latency) / begun if begun else 0.0
        ahead, other = (out, into) if out.least >= into.least else (into, out)
        even = other.bytes_low >= EVEN * ahead.bytes_low > 0
        low = (ahead.least_beside if even else ahead.least) + groups * latency
        most = self._most(place)
        high = most.seconds + into.alone_calls
        many = most.latencies + into.calls
        return Need(
            Span(min(low, high), max(low, high)),
            Span(min(groups + out.asking, many), many),
            Span(min(ahead.bytes_low, low), most.bytes_s + into.bytes_calls),
            Span(0.0, out.overhead + into.overhead),
        )

    def _most(self, place: str) -> Most:
        """At most, without what comes in by calls that return when it is there. Where both ways at
        once were not measured, what comes in does not slow what goes out between nodes; inside a
        node the ranks copy both."""
        out, into = self.out, self.into
        sent = Most(
            out.alone_calls + out.alone_begun,
            out.calls + out.begun,
            out.bytes_calls + out.bytes_begun,
        )
        received = Most(into.alone_begun, into.begun, into.bytes_begun)
        more = max(sent, received, key=lambda each: each.seconds)
        serial = sent.seconds + received.seconds
        both = max(out.both_calls + out.both_begun, into.both_begun)
        known = out.measured_both and into.measured_both and sent.latencies and received.latencies
        if place == "network":
            seconds = max(more.seconds, both) if known else more.seconds
            return Most(seconds, more.latencies, more.bytes_s + seconds - more.seconds)
        many = sent.latencies + received.latencies
        seconds = min(serial, both) if known else serial
        return Most(seconds, many, min(sent.bytes_s + received.bytes_s, seconds))


def both_placed(needs: dict[str, Need]) -> Span:
    """Messages of several placement classes: at least all at once, at most one after the other."""
    if not needs:
        return NOTHING
    spans = [need.span for need in needs.values()]
    return Span(max(each.low for each in spans), sum(each.high for each in spans))
