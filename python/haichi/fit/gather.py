"""The samples of several files and launches as one: for each measurement, placement class and size
the median of its launches' medians.

The launch is the unit: what a launch has wrong (where its pages lie, which cores it got) all of its
samples have, so that a thousand of them say no more of it than ten.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from haichi.median_interval import interval_rank
from haichi.report.load import ReportError
from haichi.samples.model import Launch, Point
from haichi.samples.read import SamplesFile
from haichi.units import plural, printable

FILES = "file-"  # how measurements of files begin
ALL = "all"  # the placement class of what all ranks do
FEWEST_FOR_RANKS = 6  # below, the extremes of so few launches are no interval of 95 %
FEWEST_SAMPLES = 6  # of a launch, for the same reason
APART = 1.5  # times: two launches of which nobody can say which one is wrong
LAUNCHES = 3  # of which one may be


@dataclass(frozen=True)
class Estimate:
    """A time in seconds, with its interval."""

    value: float
    low: float
    high: float
    samples: int
    launches: int
    least: bool = False
    oversubscribed: bool = False
    """Whether it is of launches with more ranks than cores."""

    def said(self) -> str:
        """How much it rests on, in words."""
        launches = plural(self.launches, "launch", "launches")
        which = "the least of " if self.least else ""
        more = " with more ranks than cores" if self.oversubscribed else ""
        return f"{which}{plural(self.samples, 'sample')} of {launches}{more}"


Curve = dict[int, Estimate]  # by size


class Job(NamedTuple):
    """The shape of a job whose ranks all take part."""

    ranks: int
    nodes: int


class Store(NamedTuple):
    """Where files were made."""

    directory: str
    file_system: str


class Way(NamedTuple):
    """How a measurement was made, other than as usual."""

    buffers: Literal["hot", "cold"]
    spacing: Literal["isolated", "back to back"] | None


Jobs = dict[tuple[str, Job], Curve]  # by measurement and shape of the job


def jobs_of(jobs: Jobs, name: str) -> dict[Job, Curve]:
    """A measurement of all ranks by shape of the job, smallest first."""
    found = {job: curve for (other, job), curve in jobs.items() if other == name}
    return dict(sorted(found.items()))


Points = dict[tuple[str, str | tuple[Store | None, Job], int], dict[int, list[Point]]]


@dataclass
class Gathered:
    """All that counts."""

    launches: list[Launch] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """In a line each: which launches do not count, and why."""
    refused: list[str] = field(default_factory=list)
    """In a line each: which measurements rest on too little, and how to measure more."""
    pairs: dict[tuple[str, str], Curve] = field(default_factory=dict)
    """By measurement and placement class."""
    jobs: Jobs = field(default_factory=dict)
    """Of all ranks, without files."""
    stores: dict[Store, Jobs] = field(default_factory=dict)
    """Of all ranks, with files."""
    functions: dict[str, list[str]] = field(default_factory=dict)
    """Of each measurement: the MPI functions that it is for."""
    groups: dict[str, str] = field(default_factory=dict)
    """Of each measurement: its group of the catalogue."""
    other_ways: dict[Way, Gathered] = field(default_factory=dict)
    """What was measured with `--buffers` or `--spacing`, by those."""

    def pair(self, name: str, place: str) -> Curve:
        """A measurement of two ranks; empty if there is none."""
        return self.pairs.get((name, place), {})

    def jobs_of(self, name: str) -> dict[Job, Curve]:
        """A measurement of all ranks without files, by shape of the job, smallest first."""
        return jobs_of(self.jobs, name)


def gather(
    files: Sequence[SamplesFile],
    *,
    any_launch: bool = False,
    mixed: bool = False,
    least: bool = False,
) -> Gathered:
    """What counts of the files.

    Args:
        any_launch: launches that are no reference, or were made with haichi underneath, count too.
        mixed: launches of different machines or MPI libraries are taken for one.
        least: of the launches' medians the least counts, and not their median.

    Raises:
        ReportError: no launch counts, or they are of different machines.
    """
    found = Gathered()
    usual: Points = defaultdict(lambda: defaultdict(list))
    others: dict[Way, Points] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for file in files:
        for name, description in file.descriptions.items():
            found.functions[name] = description.functions
            found.groups[name] = description.group
        numbers = dict(_counting(file, any_launch, found))
        for point in [*file.points, *file.variants]:
            launch = file.launch_of(point)
            if point.samples == 0 or launch.launch not in numbers:
                continue
            key = point.name, _shape(point, launch), point.bytes
            points = usual if point.usual else others[_way(point)]
            points[key][numbers[launch.launch]].append(point)
    if not found.launches:
        raise ReportError(
            f"{_names(files)}: no launch counts ({'; '.join(found.left_out)}); measure again, or "
            "take them as they are with --any-launch"
        )
    if not mixed:
        _refuse_a_mixture(files, found.launches)
    combined = least_of if least else combine
    _sort_into(found, _enough(usual, found, least=least), found.launches, combined)
    for way, points in sorted(others.items(), key=lambda item: str(item[0])):
        of = found.other_ways.setdefault(way, Gathered())
        _sort_into(of, _enough(points, found, least=least), found.launches, combined)
    return found


def _enough(points: Points, found: Gathered, *, least: bool) -> Points:
    """The points that rest on enough; what does not is refused, in a line for each measurement.
    Launches with more ranks than cores count only where there are no others."""
    kept: Points = {}
    few: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for key, by_launch in points.items():
        alike = _alike({n: each for n, each in by_launch.items() if _samples(each)}, found)
        if why := "too few samples" if not alike else "" if least else _apart(alike):
            name, shape, size = key
            few[name, shape if isinstance(shape, str) else _of_job(shape[1])][size] = why
        else:
            kept[key] = alike
    found.refused += [_refusal(name, where, sizes) for (name, where), sizes in sorted(few.items())]
    return kept


def _samples(points: Sequence[Point]) -> bool:
    """Whether a launch has as many of a point as a median needs; a mean tells nothing of that."""
    return any(p.samples >= FEWEST_SAMPLES or p.statistic == "mean" for p in points)


def _alike(by_launch: dict[int, list[Point]], found: Gathered) -> dict[int, list[Point]]:
    alone = {n: p for n, p in by_launch.items() if not found.launches[n].oversubscribed}
    return alone or by_launch


def _apart(by_launch: dict[int, list[Point]]) -> str:
    """Two launches of which one is wrong: nothing says which."""
    if len(by_launch) != LAUNCHES - 1:
        return ""
    medians = [statistics.median(p.median for p in points) for points in by_launch.values()]
    times = max(medians) / min(medians) if min(medians) > 0 else math.inf
    return f"two launches {times:.1f} times apart" if times > APART else ""


def _of_job(job: Job) -> str:
    return f"{plural(job.ranks, 'rank')} on {plural(job.nodes, 'node')}"


def _refusal(name: str, where: str, sizes: dict[int, str]) -> str:
    """What is refused of a measurement, what would be enough, and the command that gives it."""
    whys = " or ".join(dict.fromkeys(sizes.values()))
    listed = ", ".join(map(str, sorted(sizes)))
    return (
        f"{name} at {where}, {listed} B: {whys}; {FEWEST_SAMPLES} samples in a launch and "
        f"{LAUNCHES} launches are enough: haichi measure {name} --launches {LAUNCHES} --budget 60 "
        "--out FILE -- mpiexec ..."
    )


def _way(point: Point) -> Way:
    spacing: Literal["isolated", "back to back"] | None = None
    if point.start is not None:
        spacing = "back to back" if point.start == "back to back" else "isolated"
    return Way(point.buffers, spacing)


def _sort_into(
    found: Gathered,
    points: Points,
    launches: Sequence[Launch],
    combined: Callable[[Sequence[Sequence[Point]]], Estimate],
) -> None:
    """Estimates of points, as curves by what they are of."""
    for (name, shape, size), by_launch in sorted(points.items(), key=lambda item: item[0][2]):
        estimate = combined(list(by_launch.values()))
        if all(launches[number].oversubscribed for number in by_launch):
            estimate = replace(estimate, oversubscribed=True)
        if isinstance(shape, str):
            found.pairs.setdefault((name, shape), {})[size] = estimate
        else:
            store, job = shape
            jobs = found.stores.setdefault(store, {}) if store else found.jobs
            jobs.setdefault((name, job), {})[size] = estimate


def _shape(point: Point, launch: Launch) -> str | tuple[Store | None, Job]:
    """The placement class of a pair; for all ranks their job, and where its files are."""
    if point.place != ALL:
        return point.place
    store = Store(launch.directory, launch.file_system) if point.name.startswith(FILES) else None
    return store, Job(launch.job_ranks, len(launch.node_names))


def combine(launches: Sequence[Sequence[Point]]) -> Estimate:
    """One estimate of the points of each launch. The interval is that of the launches' median, if
    there are enough of them; else it reaches over the intervals of all."""
    medians = sorted(statistics.median(p.median for p in points) for points in launches)
    every = [point for points in launches for point in points]
    if len(launches) >= FEWEST_FOR_RANKS:
        rank = interval_rank(len(launches))
        low, high = medians[rank], medians[-1 - rank]
    else:
        low = min(p.median if p.median_low is None else p.median_low for p in every)
        high = max(p.median if p.median_high is None else p.median_high for p in every)
    middle = statistics.median(medians)
    return Estimate(
        middle, min(low, middle), max(high, middle), sum(p.samples for p in every), len(launches)
    )


def least_of(launches: Sequence[Sequence[Point]]) -> Estimate:
    """That of the launch which took least: where a machine has two states and moves from one to
    the other by itself, the medians of sizes side by side may be of different ones, and make no
    curve."""
    every = [point for points in launches for point in points]
    best = min(every, key=lambda point: point.median)
    low = best.median if best.median_low is None else best.median_low
    high = best.median if best.median_high is None else best.median_high
    samples = sum(point.samples for point in every)
    return Estimate(best.median, low, high, samples, len(launches), least=True)


def _counting(file: SamplesFile, any_launch: bool, found: Gathered) -> Iterator[tuple[int, int]]:
    """The launches of a file that count: their number there, and the one among all."""
    for launch in file.launches:
        why = "" if any_launch else _why_not(launch)
        if why:
            found.left_out.append(f"{printable(str(file.path))}, launch {launch.launch}: {why}")
        else:
            yield launch.launch, len(found.launches)
            found.launches.append(launch)


def _why_not(launch: Launch) -> str:
    if not launch.reference:
        return "more ranks than cores, so it is no reference"
    if launch.under:
        return "haichi was underneath"
    return ""


def _machine(launch: Launch) -> str:
    library = " ".join(launch.library.split())
    return f"{library} on {launch.processor or 'a processor that is not named'} x {_cores(launch)}"


def _cores(launch: Launch) -> int:
    return max(launch.host_cores, default=0)


def _refuse_a_mixture(files: Sequence[SamplesFile], launches: Iterable[Launch]) -> None:
    machines = sorted({_machine(launch) for launch in launches})
    if len(machines) > 1:
        raise ReportError(
            f"{_names(files)}: launches of different machines or MPI libraries: "
            f"{printable('; '.join(machines))}; give files of one, or take them for one with "
            "--mixed"
        )


def _names(files: Sequence[SamplesFile]) -> str:
    return ", ".join(printable(str(file.path)) for file in files)
