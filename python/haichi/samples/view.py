"""Samples files as the page shows them: launches alike put together, each point one value."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from haichi.samples.model import Description, Launch, Left, Point, Switch
from haichi.samples.read import SamplesFile

Key = tuple[str, str, int]
"""Measurement, placement class, bytes."""
DISTANCES = ("network", "node", "numa", "core", "all")  # placement classes, the farthest first


@dataclass(frozen=True)
class Value:
    """A measurement at one placement class and size. Times are in seconds."""

    name: str
    place: str
    bytes: int
    median: float
    """Of launches' medians, where there are several launches."""
    low: float | None
    """Its interval: of the samples of one launch, or the launches' range; None if too few."""
    high: float | None
    mean: float
    first: float | None
    narrow: bool
    ranks: tuple[int, ...] = ()

    @property
    def rate(self) -> float:
        """Bytes per second."""
        return self.bytes / self.median if self.median > 0 else 0.0

    def point(self) -> str:
        """What a reader finds it by in the file."""
        size = f", {self.bytes} bytes" if self.bytes else ""
        return f"{self.name}, {self.place}{size}"

    def above(self, other: Value, factor: float) -> bool:
        """Whether it took `factor` times as long or longer, and the intervals are apart."""
        if self.low is None or other.high is None:
            return False
        return self.median >= factor * other.median and self.low > other.high


@dataclass
class Job:
    """Launches of one MPI library on the same placement, haichi underneath all of them or none.

    `jobs` fills it; `values` are not changed after that.
    """

    launches: list[Launch]
    descriptions: dict[str, Description] = field(default_factory=dict)
    values: dict[Key, Value] = field(default_factory=dict)
    pairs: dict[Key, list[Value]] = field(default_factory=dict)
    """Where several pairs of ranks of one placement class have been measured: each of them."""
    left: list[Left] = field(default_factory=list)
    switches: list[Switch] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)

    @property
    def launch(self) -> Launch:
        """What all have in common, by the first."""
        return self.launches[0]

    @property
    def library(self) -> str:
        """Name and version, on one line."""
        return " ".join((self.launch.library or self.launch.source or "").split())

    @cached_property
    def _curves(self) -> dict[str, dict[str, list[Value]]]:
        """All values by measurement and placement class, the farthest first, and by size."""
        found: dict[str, dict[str, list[Value]]] = defaultdict(dict)
        for (name, place, _), value in sorted(self.values.items(), key=_by_distance):
            found[name].setdefault(place, []).append(value)
        return dict(found)

    def curve(self, name: str, place: str | None = None) -> Sequence[Value]:
        """The values of a measurement by size; at the farthest placement class unless told."""
        by_place = self._curves.get(name, {})
        return by_place.get(place or next(iter(by_place), ""), ())

    def places(self, name: str) -> list[str]:
        """The classes at which a measurement was made, the farthest first."""
        return list(self._curves.get(name, ()))

    def at(self, name: str, size: int = 0) -> Value | None:
        """One value, at the farthest class."""
        place = next(iter(self._curves.get(name, ())), "")
        return self.values.get((name, place, size))

    def names(self, *groups: str) -> list[str]:
        """The measurements of these groups that have values, in the alphabet's order."""
        of_groups = (name for name, about in self.descriptions.items() if about.group in groups)
        return sorted(name for name in of_groups if name in self._curves)


def _by_distance(item: tuple[Key, Value]) -> tuple[int, str, int]:
    """Where a value stands among those of its measurement."""
    _, place, size = item[0]
    return DISTANCES.index(place) if place in DISTANCES else len(DISTANCES), place, size


def jobs(files: Iterable[SamplesFile]) -> list[Job]:
    """The files' launches, put together where they are alike."""
    found: dict[tuple[object, ...], Job] = {}
    points: dict[tuple[object, ...], list[Point]] = defaultdict(list)
    for file in files:
        kinds = {launch.launch: _alike(launch) for launch in file.launches}
        for launch in file.launches:
            job = found.setdefault(kinds[launch.launch], Job([]))
            job.launches.append(launch)
            if str(file.path) not in job.files:
                job.files.append(str(file.path))
                job.cut += [str(file.path)] if file.cut else []
            job.descriptions |= file.descriptions
        for point in (*file.points, *file.variants):
            points[kinds[file.launch_of(point).launch]].append(point)
        for switch in file.switches:
            found[kinds[file.launch_of(switch).launch]].switches.append(switch)
        for left in file.left:
            found[kinds[file.launch_of(left).launch]].left.append(left)
    for kind, job in found.items():
        _fill(job, points[kind])
    return list(found.values())


def _alike(launch: Launch) -> tuple[object, ...]:
    return (launch.library, launch.under, *launch.nodes_of_ranks, *launch.node_names)


def _fill(job: Job, points: Sequence[Point]) -> None:
    together: dict[tuple[Key, tuple[int, ...]], list[Point]] = defaultdict(list)
    for point in points:
        if point.median > 0:
            label = point.label()
            if label not in job.descriptions and point.name in job.descriptions:
                job.descriptions[label] = job.descriptions[point.name]
            key = (label, point.place, point.bytes)
            together[key, tuple(point.ranks or ())].append(point)
    pairs: dict[Key, list[Value]] = defaultdict(list)
    for (key, ranks), each in together.items():
        value = _value(key, ranks, each)
        if ranks:
            pairs[key].append(value)
        known = job.values.get(key)
        # Of several pairs of a class the slowest stands for it: what is odd is to be seen.
        if known is None or known.median < value.median:
            job.values[key] = value
    job.pairs = {key: values for key, values in pairs.items() if len(values) > 1}


def _value(key: Key, ranks: tuple[int, ...], points: Sequence[Point]) -> Value:
    medians = [point.median for point in points]
    one = points[0] if len(points) == 1 else None
    return Value(
        *key,
        median=statistics.median(medians),
        low=one.median_low if one else min(medians),
        high=one.median_high if one else max(medians),
        mean=statistics.median(point.mean for point in points),
        first=statistics.median(first) if (first := [p.first for p in points if p.first]) else None,
        narrow=all(point.narrow for point in points),
        ranks=ranks,
    )
