"""By how much the time of the slowest rank changes with latency, bandwidth and overhead of each
placement class: for a table these are sums, so what a number's change costs is exact for it."""

from __future__ import annotations

from haichi.predict.model import Interval, Sensitivity, interval
from haichi.predict.span import Span
from haichi.predict.table import RankNeed

COSTS = (1, 2, 5)  # per cent of the time


def of_rank(need: RankNeed, seconds: Span) -> list[Sensitivity]:
    """Of each placement class that the rank uses, most time first.

    Args:
        seconds: what the program takes.
    """
    used = sorted(
        need.places.items(), key=lambda each: -(each[1].latency_s.high + each[1].bytes_s.high)
    )
    return [
        Sensitivity(
            place=place,
            latencies=interval(each.latencies),
            latency_s=interval(each.latency_s),
            bytes_s=interval(each.bytes_s),
            overhead_s=interval(each.overhead),
            added_latency_s={
                str(cost): _added(each.latencies, seconds, cost / 100) for cost in COSTS
            },
        )
        for place, each in used
    ]


def _added(latencies: Span, seconds: Span, share: float) -> Interval | None:
    """Which latency more costs a share of the time: the least where most are in a row."""
    if latencies.high <= 0:
        return None
    least = share * seconds.low / latencies.high
    most = share * seconds.high / max(latencies.low, 1.0)
    return Interval(low=least, high=max(most, least))
