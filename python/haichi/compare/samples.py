"""Comparing two sets of samples, point by point."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from haichi.compare import significance
from haichi.compare.model import ComparedPoint, Comparison, Verdict
from haichi.compare.sets import Key, Set, measurement_of, same_quantity
from haichi.compare.significance import Values
from haichi.report.load import ReportError
from haichi.units import plural, printable

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
    told = _told(a, b, keys)
    p = {key: each.p for key, each in told.items() if each.p is not None}
    corrected = dict(zip(p, significance.holm(list(p.values())), strict=True))
    points = [
        _point(key, a, b, each, corrected.get(key), _band(noise, key, at_least), alpha)
        for key, each in told.items()
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


@dataclass(frozen=True)
class _Told:
    """What the tests say of a point, and the values that they say it of."""

    a: Values
    b: Values
    far_out: int
    speeds: int
    p: float | None


def _told(a: Set, b: Set, keys: Sequence[Key]) -> dict[Key, _Told]:
    whole: dict[Key, tuple[Values, Values]] = {}
    within: dict[Key, tuple[Values, Values]] = {}
    speeds: dict[Key, int] = {}
    for key in keys:
        of_a, of_b = np.array(a.medians[key]), np.array(b.medians[key])
        whole[key] = significance.without_far(of_a, of_b)
        over_a, over_b, speeds[key] = significance.within_speeds(of_a, of_b)
        within[key] = over_a, over_b
    p = _p_values(whole)
    p_within = _p_values({key: sides for key, sides in within.items() if speeds[key] > 1})
    found = {}
    for key in keys:
        first, second = p.get(key), p_within.get(key, 1.0)
        # Two tests of one point: either may come out by chance.
        tests = 2 if key in p_within else 1
        best = None if first is None else min(1.0, tests * min(first, second))
        by_speed = first is not None and second < first
        used_a, used_b = within[key] if by_speed else whole[key]
        launches = len(a.medians[key]) + len(b.medians[key])
        far = 0 if by_speed else launches - len(used_a) - len(used_b)
        found[key] = _Told(used_a, used_b, far, speeds[key], best)
    return found


def _p_values(rows: Mapping[Key, tuple[Values, Values]]) -> dict[Key, float]:
    """Of the points that have launches enough, many at once: those of equal sizes together."""
    alike: dict[tuple[int, int], list[Key]] = defaultdict(list)
    for key, (a, b) in rows.items():
        alike[len(a), len(b)].append(key)
    found: dict[Key, float] = {}
    for sizes, keys in alike.items():
        if min(sizes) >= FEWEST:
            sides = [np.array([rows[key][side] for key in keys]) for side in (0, 1)]
            found |= zip(keys, map(float, significance.p_values(*sides)), strict=True)
    return found


def _band(noise: Set | None, key: Key, at_least: float) -> float:
    launches = noise.medians.get(key, []) if noise else []
    if len(launches) < FEWEST:
        return at_least
    return max(at_least, significance.noise_band(np.array(launches)))


def _point(
    key: Key, a: Set, b: Set, told: _Told, corrected: float | None, band: float, alpha: float
) -> ComparedPoint:
    of_a, of_b = a.medians[key], b.medians[key]
    ratio = significance.ratio(told.a, told.b)
    interval = None if told.p is None else significance.ratio_interval(told.a, told.b)
    return ComparedPoint(
        name=key[0],
        place=key[1],
        bytes=key[2],
        a=float(np.median(of_a)),
        b=float(np.median(of_b)),
        a_launches=len(of_a),
        b_launches=len(of_b),
        far_out=told.far_out,
        speeds=told.speeds,
        ratio=ratio,
        low=interval[0] if interval else None,
        high=interval[1] if interval else None,
        superiority=significance.superiority(told.a, told.b),
        p=told.p,
        p_corrected=corrected,
        band=band,
        verdict=_verdict(ratio, interval, corrected, band, alpha),
    )


def _verdict(
    ratio: float,
    interval: tuple[float, float] | None,
    corrected: float | None,
    band: float,
    alpha: float,
) -> Verdict:
    if interval is None or corrected is None:
        return "one launch"
    least, most = 1 / (1 + band), 1 + band
    if corrected <= alpha and not least <= ratio <= most:
        return "slower" if ratio > 1 else "faster"
    return "same" if least <= interval[0] and interval[1] <= most else "unclear"


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
    far = sum(point.far_out for point in points)
    if far:
        yield (
            f"{plural(far, 'value')} of launches took twice their point's median or more and are "
            "left out, a tenth of a point's at most: launches that went wrong"
        )
    several = sum(point.speeds > 1 and point.p is not None for point in points)
    if several:
        yield (
            f"at {plural(several, 'point')} launches ran at several speeds, 15 % apart or more, "
            "whatever was compared: each was held against those of its speed too"
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
