"""Intervals: the only kind of number that a prediction has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """From `low` to `high`, both at least 0, in seconds unless a name says otherwise."""

    low: float
    high: float

    def __add__(self, other: Span) -> Span:
        return Span(self.low + other.low, self.high + other.high)

    def times(self, factor: float) -> Span:
        """A number of them, one after the other."""
        return Span(self.low * factor, self.high * factor)

    def join(self, other: Span) -> Span:
        """The smallest that holds both."""
        return Span(min(self.low, other.low), max(self.high, other.high))

    def less(self, part: Span) -> Span:
        """What is left at either end without a part, which may be more at the low end."""
        ends = max(self.low - part.low, 0.0), max(self.high - part.high, 0.0)
        return Span(min(ends), max(ends))


NOTHING = Span(0.0, 0.0)


def total(spans: Iterable[Span]) -> Span:
    """One after the other."""
    made = NOTHING
    for each in spans:
        made += each
    return made


def around(values: Iterable[float]) -> Span:
    """The smallest that holds them all; at least one is given."""
    each = list(values)
    return Span(max(min(each), 0.0), max(max(each), 0.0))
