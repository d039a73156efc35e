"""How sure a median is, by the order of the values alone."""

from __future__ import annotations

import math


def interval_rank(count: int) -> int:
    """How many of `count` values may be left out at each end, so that the rest holds the median
    with 95 %."""
    tail, rank = 0.0, 0
    while True:
        tail += math.comb(count, rank) / 2**count
        if 2 * tail > 0.05:
            return max(rank - 1, 0)
        rank += 1
