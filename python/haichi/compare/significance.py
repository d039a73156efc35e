"""What can be said of two samples of launches, without assuming a distribution.

The test is that of Mann and Whitney (1947), exact; the ratio is Hodges' and Lehmann's (1963)
estimate on logarithms, and its interval the one that belongs to the test. Many points are compared
at once, so probabilities are corrected as Holm (1979) says.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from haichi.report.load import ReportError

Values = NDArray[np.float64]

LEVEL = 0.95  # of the ratio's interval
EXACT_UP_TO = 100  # launches in all; above, the normal approximation is as good
SPLITS = 200  # of noise runs in halves
ALL_SPLITS_UP_TO = 8  # runs


FAR, FAR_SHARE = 2.0, 0.1  # times the median of all launches; of all launches
LEAST_LEFT = 2  # launches of a set
APART = 0.15  # between two speeds that a machine runs at, as a share


class Missing(ReportError):
    """SciPy is not here; the message says how to get it."""


def without_far(a: Values, b: Values) -> tuple[Values, Values]:
    """Both sets without launches that went wrong: those that took FAR times the median of all or
    more, the farthest first, a share of FAR_SHARE at most.

    Which are left out does not depend on whose they are, so the test of what is left is as exact.
    """
    every = np.concatenate([a, b])
    most = min(int(FAR_SHARE * len(every)), len(a) - LEAST_LEFT, len(b) - LEAST_LEFT)
    far = np.argsort(-every, kind="stable")[: max(most, 0)]
    far = far[every[far] >= FAR * np.median(every)]
    kept = np.ones(len(every), dtype=bool)
    kept[far] = False
    return a[kept[: len(a)]], b[kept[len(a) :]]


def within_speeds(a: Values, b: Values) -> tuple[Values, Values, int]:
    """Each launch over the median of those that ran at its speed, and how many speeds there are.

    A machine whose host moves its cores runs launches at several speeds, whatever is compared. All
    launches in order are parted where the next one takes longer by APART or more. How does not
    depend on whose they are, so the test of what comes out is as exact.
    """
    every = np.concatenate([a, b])
    order = np.argsort(every, kind="stable")
    steps = np.diff(np.log(every[order])) >= math.log1p(APART)
    speeds = np.concatenate([[0], np.cumsum(steps)])
    over = np.empty_like(every)
    for speed in range(speeds[-1] + 1):
        own = order[speeds == speed]
        over[own] = every[own] / np.median(every[own])
    return over[: len(a)], over[len(a) :], int(speeds[-1]) + 1


def p_values(a: Values, b: Values) -> Values:
    """Two-sided probabilities of rows at least as far apart if nothing differed.

    Medians that are equal make the test a little more careful than it says.

    Raises:
        Missing: SciPy is not installed.
    """
    try:
        from scipy.stats import mannwhitneyu  # 35 MB, which nothing else of haichi needs
    except ImportError:
        raise Missing(
            f"comparing samples needs SciPy: {sys.executable} -m pip install scipy"
        ) from None
    method = "exact" if a.shape[-1] + b.shape[-1] <= EXACT_UP_TO else "asymptotic"
    found: Values = mannwhitneyu(a, b, axis=-1, method=method).pvalue
    return np.minimum(found, 1.0)


def smallest_p(count_a: int, count_b: int) -> float:
    """What the test says at most: of samples of these sizes that do not overlap at all."""
    return min(1.0, 2 / math.comb(count_a + count_b, count_a))


def holm(p: Sequence[float]) -> list[float]:
    """Probabilities that hold for all at once: of one mistake or more among them."""
    corrected = [1.0] * len(p)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p)), key=lambda each: p[each])):
        largest = max(largest, min(1.0, (len(p) - rank) * p[index]))
        corrected[index] = largest
    return corrected


def _differences(a: Values, b: Values) -> Values:
    """Of each logarithm in `b` and each in `a`, sorted."""
    return np.sort(np.subtract.outer(np.log(b), np.log(a)), axis=None)


def ratio(a: Values, b: Values) -> float:
    """b ÷ a: the middle of the ratios of all pairs."""
    return float(np.exp(np.median(_differences(a, b))))


def ratio_interval(a: Values, b: Values) -> tuple[float, float]:
    """The interval of `ratio` at LEVEL. Of samples so small that the level can't be reached, the
    widest that there is.

    Raises:
        Missing: as p_values().
    """
    apart = _differences(a, b)
    cut = _cut(len(a), len(b))
    return float(np.exp(apart[cut])), float(np.exp(apart[-1 - cut]))


@lru_cache(maxsize=256)
def _cut(count_a: int, count_b: int) -> int:
    """How many of the sorted differences lie outside the interval, at each end: the largest value
    of the test's statistic that rejects at LEVEL."""
    low, high = 0, count_a * count_b // 2 + 1  # the answer is in [low, high)
    while high - low > 1:
        middle = (low + high) // 2
        if _p_of(middle, count_a, count_b) <= 1 - LEVEL:
            low = middle
        else:
            high = middle
    return low


def _p_of(u: int, count_a: int, count_b: int) -> float:
    """The probability of the test's statistic `u`, by two samples that have it."""
    above, rest = divmod(u, count_b)
    b = np.arange(count_b, dtype=float)
    a = np.full(count_a, -1.0) - np.arange(count_a) / count_a
    a[:above] = count_b + np.arange(above)
    if rest:
        a[above] = rest - 0.5
    return float(p_values(a, b))


def superiority(a: Values, b: Values) -> float:
    """The effect's size: the share of pairs in which b is larger; half where nothing differs."""
    apart = np.subtract.outer(b, a)
    return float(((apart > 0).sum() + 0.5 * (apart == 0).sum()) / apart.size)


def noise_band(launches: Values) -> float:
    """How far two halves of runs in which nothing changed are apart: 95 of a hundred ways to halve
    them give a ratio of at most 1 + this, or its inverse."""
    ratios = []
    for half in _halves(len(launches)):
        rest = np.setdiff1d(np.arange(len(launches)), half)
        ratios.append(abs(math.log(ratio(launches[half], launches[rest]))))
    return math.expm1(float(np.quantile(ratios, 0.95)))


@lru_cache(maxsize=16)
def _halves(count: int) -> tuple[NDArray[np.intp], ...]:
    """Ways to take half of so many; drawn with a fixed seed where there are many."""
    if count <= ALL_SPLITS_UP_TO:
        taken = itertools.combinations(range(count), count // 2)
        return tuple(np.array(each, dtype=np.intp) for each in taken)
    draw = np.random.default_rng(1)
    return tuple(draw.permutation(count)[: count // 2] for _ in range(SPLITS))
