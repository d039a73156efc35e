"""Samples as others write them: CSV, and the columns of the OSU benchmarks and of IMB.

The columns have means, as those programs print them; a script that reads their output reads these.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Sequence

from haichi.samples.model import Point
from haichi.samples.read import SamplesFile

OF_POINTS = (
    "name", "place", "ranks", "bytes", "samples", "batch", "visits", "buffers", "start",
    "statistic", "median", "median_low", "median_high", "narrow", "p5", "p95", "p99", "least",
    "most", "mean", "first",
)  # fmt: skip
OF_LAUNCHES = ("launch", "library", "under", "job_ranks", "started", "oversubscribed", "source")
HEAD = ("file", *OF_LAUNCHES, "group", *OF_POINTS)
MICROSECOND, MEGABYTE = 1e-6, 1e6


def csv_text(files: Iterable[SamplesFile]) -> str:
    """A line for each point of each launch, with what is its launch's; times in seconds."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEAD)
    for file in files:
        for point in (*file.points, *file.variants):
            launch = file.launch_of(point)
            about = file.descriptions.get(point.name)
            writer.writerow(
                [
                    file.path,
                    *(_cell(getattr(launch, name)) for name in OF_LAUNCHES),
                    about.group if about else "",
                    *(_cell(getattr(point, name)) for name in OF_POINTS),
                ]
            )
    return out.getvalue()


def _cell(value: object) -> object:
    """Nothing for null, words that every reader knows, ranks with a blank between."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(map(str, value)) if isinstance(value, list) else value


def _blocks(files: Iterable[SamplesFile]) -> Iterator[tuple[str, int, Sequence[Point]]]:
    """The points of one measurement, placement class and launch, by size; its name, its ranks."""
    for file in files:
        for (name, place), points in file.curves().items():
            for _, of_launch in itertools.groupby(points, lambda point: point.launch):
                own = list(of_launch)
                launch = file.launch_of(own[0])
                yield f"{name} {place}", launch.job_ranks if place == "all" else 2, own


def osu_text(files: Iterable[SamplesFile]) -> str:
    """As the OSU benchmarks print latencies; their header and width of columns."""
    parts = []
    for name, _, points in _blocks(files):
        parts.append(f"\n# MPI {name} Latency Test\n# By haichi measure; means.\n")
        if points[-1].bytes == 0:
            parts.append("# Avg Latency(us)\n")
            parts += [f"{point.mean / MICROSECOND:>17.2f}\n" for point in points]
            continue
        parts.append(f"{'# Size':<10}{'Avg Latency(us)':>18}\n")
        parts += [f"{p.bytes:<10}{p.mean / MICROSECOND:>18.2f}\n" for p in points]
    return "".join(parts)


def imb_text(files: Iterable[SamplesFile]) -> str:
    """As IMB prints blocks of two processes and of barriers."""
    rule = "#" + "-" * 51 + "\n"
    parts = []
    for name, ranks, points in _blocks(files):
        parts.append(f"\n{rule}# Benchmarking {name}\n# #processes = {ranks}\n{rule}")
        sized = points[-1].bytes > 0
        head = f"{'#bytes':>13} " if sized else ""
        parts.append(f"{head}#repetitions      t[usec]{'   Mbytes/sec' if sized else ''}\n")
        for point in points:
            time = point.mean / MICROSECOND
            line = f"{point.samples * point.batch:>12} {time:>12.2f}"
            if sized:
                line = f"{point.bytes:>13} {line} {point.bytes / point.mean / MEGABYTE:>12.2f}"
            parts.append(f"{line}\n")
    return "".join(parts)
