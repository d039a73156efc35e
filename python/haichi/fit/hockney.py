"""A curve of times by size as a few lines, one for each protocol of the library: a piecewise
Hockney model, `latency + bytes x time of a byte`.

Where the lines meet is part of what is looked for: of all ways to cut the sizes into runs, dynamic
programming finds the one whose lines have the least relative error, where each further line costs
as much as the Bayesian information criterion says (three parameters: latency, slope, place of the
cut). A point that is far off counts no more than one that is three sigma off, so that a disturbed
one neither bends a line nor makes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

FEWEST = 3  # points of a line: two have one through them, whatever they are
SIGMA = 0.03  # relative: how far a real library's times lie off such a line at least
CAP = 3.0  # sigmas that a point may be off before it counts as disturbed
ROUNDS = 12  # of weighing; they settle earlier


@dataclass(frozen=True)
class Line:
    """One piece: which of the points it is for (the last one too), and its two parameters."""

    first: int
    last: int
    latency: float
    per_byte: float

    def at(self, size: float) -> float:
        """The time of a size, seconds."""
        return self.latency + size * self.per_byte


def pieces(
    sizes: Sequence[int], seconds: Sequence[float], widths: Sequence[float] | None = None
) -> list[Line]:
    """The lines of a curve, by ascending size; none for fewer than two points.

    Args:
        sizes: bytes, ascending.
        seconds: of each, above 0.
        widths: half of each one's interval, relative to it; what is known less well counts less.
    """
    x, y = np.asarray(sizes, dtype=np.float64), np.asarray(seconds, dtype=np.float64)
    count = len(x)
    if count < 2:
        return []
    sigma = np.full(count, SIGMA)
    if widths is not None:
        sigma = np.maximum(sigma, np.asarray(widths, dtype=np.float64))
    if count < 2 * FEWEST:
        return [_line(x, y, sigma, 0, count - 1)[0]]
    price = 3 * np.log(count)
    best = [(0.0, list[Line]())] + [(np.inf, list[Line]())] * count  # of the first so many points
    for end in range(FEWEST, count + 1):
        for begin in (0, *range(FEWEST, end - FEWEST + 1)):
            if end - begin < FEWEST or not np.isfinite(best[begin][0]):
                continue
            line, cost = _line(x, y, sigma, begin, end - 1)
            total = best[begin][0] + cost + price
            if total < best[end][0]:
                best[end] = (total, [*best[begin][1], line])
    return best[count][1]


def residual(lines: Sequence[Line], sizes: Sequence[int], seconds: Sequence[float]) -> list[float]:
    """Of each line: the mean of |line - time| / time over its points."""
    return [
        float(
            np.mean(
                [
                    abs(line.at(sizes[i]) - seconds[i]) / seconds[i]
                    for i in range(line.first, line.last + 1)
                ]
            )
        )
        for line in lines
    ]


def _line(x: Values, y: Values, sigma: Values, first: int, last: int) -> tuple[Line, float]:
    """The line through a run of points, and what is left of them: squares of sigmas, capped."""
    part = slice(first, last + 1)
    size, time = x[part], y[part]
    scale = 1 / (time * sigma[part])
    weight = np.ones(len(size))
    from_zero = first == 0
    latency, slope = _weighted(size, time, scale, weight, from_zero)
    for _ in range(ROUNDS):
        off = np.abs(latency + slope * size - time) * scale
        # Tukey's weights, wide at first: a line that is bent by a disturbed point finds back.
        wide = max(CAP, 2.5 * float(np.median(off)))
        weight = np.clip(1 - (off / (2 * wide)) ** 2, 0, 1) ** 2
        if np.count_nonzero(weight) < 2:
            break
        before = latency, slope
        latency, slope = _weighted(size, time, scale, weight, from_zero)
        if np.allclose(before, (latency, slope), rtol=1e-6, atol=0):
            break
    off = np.abs(latency + slope * size - time) * scale
    cost = float(np.sum(np.minimum(off, CAP) ** 2))
    return Line(first, last, latency, slope), cost


def _weighted(
    size: Values, time: Values, scale: Values, weight: Values, from_zero: bool
) -> tuple[float, float]:
    """Least squares of the scaled differences. A byte never saves time, and no size that the line
    is for (0 bytes too, if `from_zero`) takes less than none."""
    w = weight * scale**2
    total = np.sum(w)
    mean_size, mean_time = np.sum(w * size) / total, np.sum(w * time) / total
    spread = np.sum(w * (size - mean_size) ** 2)
    slope = np.sum(w * (size - mean_size) * (time - mean_time)) / spread if spread > 0 else 0.0
    slope = max(float(slope), 0.0)
    latency = float(mean_time - slope * mean_size)
    if latency + slope * (0 if from_zero else size[0]) < 0:
        return 0.0, float(np.sum(w * size * time) / np.sum(w * size**2))
    return latency, slope
