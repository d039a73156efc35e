"""The numbers of `haichi.machine/1` from samples, each with its interval and where it comes from.

They are made so that the simulator's account of a message (docs/guide/simulation.md) adds up to
what was measured: issuing + latency + matching is the shortest ping-pong, one copy or the port is
what a long one's bytes take. What the samples do not tell is left out, with a reason.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import combinations

from haichi.fit.curves import LOCAL, NETWORK, PING_PONG, Fitted
from haichi.fit.gather import Curve, Estimate, Gathered, Job
from haichi.fit.loggp import ISEND, RECV
from haichi.fit.model import Number, NumberName, Place, ReadWrite, StorageCosts

IRECV = "call-irecv"
SEARCH = "queue-search"
NANO = 1e9
# How much dearer the next protocol's line must be where it begins: a smaller step is as likely a
# cache as a rendezvous.
STEP = 1.1
FEWEST_QUEUES = 3  # lengths, for a slope
UNSEEN_NETWORK: tuple[NumberName, ...] = ("link_gbs", "hop_ns")
MEASURED_STORAGE: tuple[NumberName, ...] = ("client_gbs", "request_us")
UNSEEN_STORAGE: tuple[NumberName, ...] = (
    "servers",
    "stripe_bytes",
    "server_gbs",
    "handover_us",
    "storage_gbs",
)
Choice = Callable[[list[float]], float]


@dataclass
class Numbers:
    """What was made, and in a line each what could not be."""

    made: dict[NumberName, Number] = field(default_factory=dict)
    lacking: dict[NumberName, str] = field(default_factory=dict)

    def reasons(self) -> list[str]:
        """What could not be made, those together that have one reason."""
        names: dict[str, list[str]] = {}
        for name, why in self.lacking.items():
            names.setdefault(why, []).append(name)
        return [f"{', '.join(those)}: {why}" for why, those in names.items()]


def numbers(found: Gathered, fitted: dict[Place, Fitted], storage: StorageCosts | None) -> Numbers:
    """All that the samples tell."""
    result = Numbers()
    local = next((fitted[place] for place in LOCAL if place in fitted), None)
    network = fitted.get(NETWORK)
    _processor(result, found, local or network)
    _latency(result, "local_latency_ns", local, "inside a node")
    _latency(result, "latency_ns", network, "between nodes")
    _copy(result, local)
    _ports(result, network)
    _eager(result, [each for each in (network, local) if each])
    _search(result, found)
    _storage(result, storage)
    for name in UNSEEN_NETWORK:
        _lack(result, name, "switches and hops are not told apart by any measurement")
    return result


def _lack(result: Numbers, name: NumberName, why: str) -> None:
    result.lacking[name] = why


def _smallest(curve: Curve) -> tuple[int, Estimate] | None:
    return min(curve.items(), default=None)


def _less(time: Estimate, ns: float, words: str) -> Number:
    """What is left of a time, in ns, without what others are known to take of it."""
    value, low, high = (max(each * NANO - ns, 0) for each in (time.value, time.low, time.high))
    return Number(value=value, low=low, high=high, from_=words)


def _processor(result: Numbers, found: Gathered, fitted: Fitted | None) -> None:
    """The calls' own times, of 200 in a row."""
    names: tuple[tuple[NumberName, str], ...] = (
        ("send_ns", ISEND),
        ("receive_ns", IRECV),
        ("match_ns", RECV),
    )
    for name, measurement in names:
        smallest = _smallest(found.pair(measurement, fitted.place)) if fitted else None
        if fitted is None or smallest is None:
            where = f" at {fitted.place}" if fitted else ""
            _lack(result, name, f"no samples of {measurement}{where}")
            continue
        size, time = smallest
        words = f"{measurement} at {fitted.place}, {size} B: {time.said()}"
        less = 0.0
        if name == "match_ns" and (posted := result.made.get("receive_ns")):
            # MPI_Recv posts, too.
            less = posted.value
            words += "; less receive_ns"
        result.made[name] = _less(time, less, words)
    if fitted:
        _bound_work(result, fitted)


def _bound_work(result: Numbers, fitted: Fitted) -> None:
    """What a rank does for a message is a part of its way: calls many in a row may also wait for
    room, which a message by itself does not."""
    send, match = result.made.get("send_ns"), result.made.get("match_ns")
    smallest = _smallest(fitted.curve)
    if send is None or smallest is None:
        return
    size, time = smallest
    room = max(time.value * NANO - (match.value if match else 0), 0)
    if send.value > room:
        result.made["send_ns"] = Number(
            value=room,
            low=min(send.low or 0, room),
            high=send.high,
            from_=f"{PING_PONG} at {fitted.place}, {size} B: {time.said()}; less match_ns, as "
            f"{ISEND} many in a row takes {send.value:.4g} ns and so waits for room",
        )


def _latency(result: Numbers, name: NumberName, fitted: Fitted | None, where: str) -> None:
    smallest = _smallest(fitted.curve) if fitted else None
    if fitted is None or smallest is None:
        _lack(result, name, f"no samples of {PING_PONG} {where}")
        return
    size, time = smallest
    own: tuple[NumberName, ...] = ("send_ns", "match_ns")
    work = [each for each in own if each in result.made]
    less = sum(result.made[each].value for each in work)
    words = f"less {' and '.join(work)}" if work else "with the ranks' own work"
    words = f"{PING_PONG} at {fitted.place}, {size} B: {time.said()}; {words}"
    result.made[name] = _less(time, less, words)


def _rate(fitted: Fitted) -> Number | None:
    """GB/s of long messages."""
    slope = fitted.slope()
    if slope is None:
        return None
    per_byte, low, high = slope
    # The upper ends of the times' intervals are the lower end of the rate's.
    least, most = 1 / (high * NANO), 1 / (low * NANO) if low > 0 else None
    return Number(
        value=1 / (per_byte * NANO),
        low=least,
        high=most,
        from_=f"a byte's time of {PING_PONG} at {fitted.place} from "
        f"{fitted.range_of(fitted.lines[-1])}",
    )


def _copy(result: Numbers, local: Fitted | None) -> None:
    rate = _rate(local) if local else None
    if rate is None:
        _lack(result, "copy_gbs", f"no samples of {PING_PONG} inside a node, of several sizes")
    else:
        result.made["copy_gbs"] = rate


def _ports(result: Numbers, network: Fitted | None) -> None:
    rate = _rate(network) if network else None
    both: tuple[NumberName, ...] = ("out_gbs", "in_gbs")
    for name in both:
        if rate is None:
            _lack(result, name, f"no samples of {PING_PONG} between nodes, of several sizes")
        else:
            result.made[name] = rate


def _eager(result: Numbers, curves: Iterable[Fitted]) -> None:
    """The dearest change of protocol, between nodes if that is seen there."""
    for fitted in curves:
        sizes, lines = fitted.sizes, fitted.lines
        steps = []
        for before, after in zip(lines, lines[1:], strict=False):
            last, first = sizes[before.last], sizes[after.first]
            middle = (last * first) ** 0.5
            if before.at(middle) > 0:
                steps.append((after.at(middle) / before.at(middle), last, first))
        step, last, first = max(steps, default=(0.0, 0, 0))
        if step >= STEP:
            result.made["eager_bytes"] = Number(
                value=last,
                low=last,
                high=first - 1,
                from_=f"{PING_PONG} at {fitted.place}: between {last} and {first} B a message "
                f"becomes {step:.2f} times dearer",
            )
            return
    _lack(
        result, "eager_bytes", f"{PING_PONG} shows no size from which it is {STEP:g} times dearer"
    )


def _search(result: Numbers, found: Gathered) -> None:
    """By how much a message takes longer for each receive that is posted before its own: the middle
    one of the slopes between any two numbers of receives, which a disturbed one does not move."""
    name: NumberName = "search_ns"
    receives = _queues(found)
    if len(receives) < FEWEST_QUEUES:
        _lack(result, name, f"no samples of {SEARCH} with {FEWEST_QUEUES} numbers of receives")
        return
    slopes = []
    for least, most in combinations(sorted(receives), 2):
        one, other, more = receives[least], receives[most], (most - least) / NANO
        slopes.append(
            (
                (other.value - one.value) / more,
                (other.low - one.high) / more,
                (other.high - one.low) / more,
            )
        )
    # Of an even number the lower one: half of them may hang on one number of receives.
    value, low, high = (max(statistics.median_low(each), 0.0) for each in zip(*slopes, strict=True))
    said = receives[max(receives)].said()
    told = f"{SEARCH}, behind {min(receives)} to {max(receives)} receives: {said}"
    # Where it cannot be told from none, there is no list to speak of.
    less = "" if low > 0 else f"; {value:.3g} ns, no more than the times are apart"
    result.made[name] = Number(value=value if low > 0 else 0, low=low, high=high, from_=told + less)


def _queues(found: Gathered) -> dict[int, Estimate]:
    """By how many receives were posted, a message of the smallest job that has several."""
    jobs: dict[Job, dict[int, Estimate]] = {}
    for (name, job), curve in found.jobs.items():
        if length := re.fullmatch(f"{SEARCH}-([0-9]+)", name):
            jobs.setdefault(job, {}).update({int(length[1]): each for each in curve.values()})
    whole = [job for job, lengths in jobs.items() if len(lengths) >= FEWEST_QUEUES]
    return jobs[min(whole)] if whole else {}


def _storage(result: Numbers, storage: StorageCosts | None) -> None:
    if storage is None:
        for name in MEASURED_STORAGE:
            _lack(result, name, "no samples of file-write-at or file-read-at")
    else:
        where = f" in {storage.path}" if storage.path else ""
        if slower := _known(storage.client_gbs, min):
            result.made["client_gbs"] = Number(
                value=slower, from_=f"the slower of reading and writing{where}: {storage.from_}"
            )
        if dearer := _known(storage.request_s, max):
            result.made["request_us"] = Number(
                value=dearer * 1e6,
                from_=f"the dearer of reading and writing{where}: {storage.from_}",
            )
    for name in UNSEEN_STORAGE:
        _lack(result, name, "one file system is measured as a whole; say it with --set if you know")


def _known(pair: ReadWrite | None, choose: Choice) -> float | None:
    values = [each for each in (pair.read, pair.write) if each] if pair else []
    return choose(values) if values else None
