"""What two ways to run a program took, and what can be said of it. Times are in seconds."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from haichi.report.model import Report

UNTOLD = "no difference that can be told"


@dataclass
class Runs:
    """One way, run several times: each list has an entry for each run."""

    whole: list[float] = field(default_factory=list)
    """From the launch to the launcher's end."""
    access: list[float] = field(default_factory=list)
    """In collective file accesses, of the rank that spent most there."""
    reports: list[Report] = field(default_factory=list)

    def add(self, seconds: float, report: Report) -> None:
        self.whole.append(seconds)
        self.access.append(report.access_seconds())
        self.reports.append(report)

    def median_run(self) -> int:
        """The run that stands for all: that of the median time as a whole."""
        return self.whole.index(statistics.median_low(self.whole))


def headline(stock: Runs, haichi: Runs) -> str:
    """What was gained, in one line."""
    whole = f"{_speed(stock.whole, haichi.whole)} as a whole"
    if not stock.reports[0].access_calls():
        return f"{whole}; the program has no collective file access"
    return f"{_speed(stock.access, haichi.access)} in collective file access, {whole}"


def _speed(stock: Sequence[float], haichi: Sequence[float]) -> str:
    """Stock ÷ haichi of the medians, in words; ranges that overlap tell nothing."""
    if len(stock) > 1 and _overlap(_range(stock), _range(haichi)):
        return UNTOLD
    above, below = statistics.median(stock), statistics.median(haichi)
    if min(above, below) <= 0:
        return UNTOLD
    ratio = max(above, below) / min(above, below)
    digits = 1 if ratio >= 1.95 else 2
    return f"{ratio:.{digits}f}× {'faster' if above >= below else 'slower'}"


def _range(samples: Sequence[float]) -> tuple[float, float]:
    """Without the smallest and the largest where there are five or more: a busy machine makes
    outliers."""
    ordered = sorted(samples)
    inner = ordered[1:-1] if len(ordered) >= 5 else ordered
    return inner[0], inner[-1]


def _overlap(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]
