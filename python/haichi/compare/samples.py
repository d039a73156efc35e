"""Comparing two sets of samples, point by point."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from haichi.compare import significance
from haichi.compare.model import ComparedPoint, Comparison, Verdict
from haichi.compare.sets import Key, Set, measurement_of, same_quantity
from haichi.report.load import ReportError
from haichi.report.units import plural, printable

ALPHA = 0.01
AT_LEAST = 0.02
FEWEST = 2  # launches of a point that are compared


def compare_sets(
    a: Set, b: Set, noise: Set | None = None, *, alpha: float = ALPHA, at_least: float = AT_LEAST
) -> Comparison:
    """What differs of B, compared with A. Runs in `noise`, in which nothing changed, widen the band
    of each point from `at_least` to what they show.

    Raises:
        ReportError: the sets have no point in common.
        significance.Missing: SciPy is not installed.
    """
    keys, notes = _common(a, b)
    if not keys:
        raise ReportError(
            f"{printable(str(a.files[0]))} and {printable(str(b.files[0]))} have no point in "
            f"common{': ' + notes[0] if notes else ''}; measure the same in both"
        )
    bands = {key: _band(noise, key, at_least) for key in keys}
    p = _p_values(a, b, keys)
    corrected = dict(zip(p, significance.holm(list(p.values())), strict=True))
    points = [
        _point(
            key, a.medians[key], b.medians[key], p.get(key), corrected.get(key), bands[key], alpha
        )
        for key in keys
    ]
    return Comparison(
        a=a.side(),
        b=b.side(),
        alpha=alpha,
        at_least=at_least,
        noise=noise.side() if noise else None,
        points=points,
        notes=[*notes, *_notes(a, b), *_of_noise(noise, keys), *_of_power(points, alpha)],
    )


def _common(a: Set, b: Set) -> tuple[list[Key], list[str]]:
    """Points that both sets have and that are of the same quantity; what is left out and why."""
    notes = []
    left: set[str] = set()
    for name, description in a.descriptions.items():
        other = b.descriptions.get(name)
        if other and not same_quantity(description, other):
            left.add(name)
    if left:
        notes.append(
            f"left out, as what a sample is differs: {', '.join(sorted(left))}; were the files "
            "written by different versions?"
        )
    ranks = [sorted({launch.job_ranks for launch in each.launches}) for each in (a, b)]
    if ranks[0] != ranks[1]:
        notes.append(
            f"left out, as all ranks take part and A has {_listed(ranks[0])}, B "
            f"{_listed(ranks[1])}: the points of `all`"
        )
    keys = [
        key
        for key in a.medians
        if key in b.medians
        and measurement_of(key) not in left
        and (ranks[0] == ranks[1] or key[1] != "all")
    ]
    for letter, one, rest in (("A", a, b), ("B", b, a)):
        if alone := len(one.medians.keys() - rest.medians.keys()):
            notes.append(f"{plural(alone, 'point')} of {letter} alone")
    return keys, notes


def _listed(values: Sequence[object]) -> str:
    return " and ".join(map(str, values))


def _p_values(a: Set, b: Set, keys: Sequence[Key]) -> dict[Key, float]:
    """Of the points that have launches enough, many at once: those of equal sizes together."""
    alike: dict[tuple[int, int], list[Key]] = defaultdict(list)
    for key in keys:
        alike[len(a.medians[key]), len(b.medians[key])].append(key)
    found: dict[Key, float] = {}
    for sizes, of_size in alike.items():
        if min(sizes) < FEWEST:
            continue
        rows = [np.array([each.medians[key] for key in of_size]) for each in (a, b)]
        found |= zip(of_size, map(float, significance.p_values(*rows)), strict=True)
    return {key: found[key] for key in keys if key in found}


def _band(noise: Set | None, key: Key, at_least: float) -> float:
    launches = noise.medians.get(key, []) if noise else []
    if len(launches) < FEWEST:
        return at_least
    return max(at_least, significance.noise_band(np.array(launches)))


def _point(
    key: Key,
    of_a: Sequence[float],
    of_b: Sequence[float],
    p: float | None,
    corrected: float | None,
    band: float,
    alpha: float,
) -> ComparedPoint:
    a, b = np.array(of_a), np.array(of_b)
    ratio = significance.ratio(a, b)
    low, high = (None, None) if p is None else significance.ratio_interval(a, b)
    return ComparedPoint(
        name=key[0],
        place=key[1],
        bytes=key[2],
        a=float(np.median(a)),
        b=float(np.median(b)),
        a_launches=len(a),
        b_launches=len(b),
        ratio=ratio,
        low=low,
        high=high,
        superiority=significance.superiority(a, b),
        p=p,
        p_corrected=corrected,
        band=band,
        verdict=_verdict(ratio, low, high, corrected, band, alpha),
    )


def _verdict(
    ratio: float,
    low: float | None,
    high: float | None,
    corrected: float | None,
    band: float,
    alpha: float,
) -> Verdict:
    if low is None or high is None or corrected is None:
        return "one launch"
    if corrected <= alpha and ratio > 1 + band:
        return "slower"
    if corrected <= alpha and ratio < 1 / (1 + band):
        return "faster"
    return "same" if 1 / (1 + band) <= low and high <= 1 + band else "unclear"


def _notes(a: Set, b: Set) -> Iterator[str]:
    """What differs between the launches besides what was meant to differ, perhaps."""
    for what, field in (
        ("MPI library", "library"),
        ("haichi underneath", "under"),
        ("nodes of the ranks", "nodes_of_ranks"),
        ("node names", "node_names"),
        ("kernel", "kernel"),
        ("processor", "processor"),
        ("tuning variables", "tuning"),
    ):
        values = [
            list(dict.fromkeys(str(getattr(launch, field)) for launch in each.launches))
            for each in (a, b)
        ]
        if sorted(values[0]) != sorted(values[1]):
            yield f"{what}: A has {_listed(values[0])}, B {_listed(values[1])}"
    for letter, each in (("A", a), ("B", b)):
        if any(launch.oversubscribed for launch in each.launches):
            yield f"{letter} has launches with more ranks than cores"
        for path in each.cut:
            yield f"{printable(str(path))} is cut off: its last line is left out"
    if _apart(a, b) and min(len(a.launches), len(b.launches)) >= FEWEST:
        yield (
            "launches of A and B did not take turns: what the machine drifts by between them looks "
            "like a difference"
        )


def _apart(a: Set, b: Set) -> bool:
    """Whether all launches of one set came before all of the other."""
    of_a, of_b = a.side(), b.side()
    return of_a.last < of_b.first or of_b.last < of_a.first


def _of_noise(noise: Set | None, keys: Sequence[Key]) -> Iterator[str]:
    if noise is None:
        return
    bare = sum(len(noise.medians.get(key, [])) < FEWEST for key in keys)
    if bare:
        yield (
            f"the noise files have no two launches of {plural(bare, 'point')}: only the narrowest "
            "band holds there"
        )


def _of_power(points: Sequence[ComparedPoint], alpha: float) -> Iterator[str]:
    """Whether the launches are enough for what is asked of them."""
    lone = sum(point.verdict == "one launch" for point in points)
    if lone:
        yield (
            f"{plural(lone, 'point')} with one launch in a set: nothing of them is significant, "
            "since launches of one program differ; measure several, in turns"
        )
    tested = [point for point in points if point.p is not None]
    if not tested:
        return
    wanted = alpha / len(tested)
    best = min(significance.smallest_p(p.a_launches, p.b_launches) for p in tested)
    if best > wanted:
        need = next(n for n in range(2, 99) if significance.smallest_p(n, n) <= wanted)
        yield (
            f"too few launches: of {plural(len(tested), 'point')} at once none can come out "
            f"significant; {need} launches on each side can, or fewer points (--only)"
        )
