"""Whether a refined curve tells the sizes between its points, and finds where the library switches.

A ping-pong's curve is refined (`haichi measure --refine --switches`), which gives the sizes of its
points. These and sizes that chance draws are then measured together, in several launches: else a
machine that is slower for some seconds would be taken for an error of the lines. The error that
counts is what is left when the ranges over the launches are taken off.
"""

from __future__ import annotations

import bisect
import random
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from haichi import mpi
from haichi.figures import record, suite
from haichi.figures.command import (
    INVALID,
    choose,
    default_file,
    keep,
    one_line,
    progress_on_errors,
)
from haichi.samples.model import Point, Switch
from haichi.samples.read import read

SMALLEST, LARGEST = 2, 22  # powers of two of the sizes that are drawn
MOST_POINTS = 30
SMALL = 64 << 10  # bytes up to which other work hardly shows
MOST_ERROR = 0.02


def command(
    sizes: Annotated[int, typer.Option(min=1, help="That chance draws.")] = 60,
    seconds: Annotated[float, typer.Option(min=1, help="Of measuring, in each run.")] = 40,
    rounds: Annotated[int, typer.Option(min=1, help="Launches that measure all sizes.")] = 3,
    name: Annotated[str, typer.Option(help="The measurement.")] = "ping-pong",
    which: Annotated[str, typer.Option("--mpi", help="openmpi or mpich.")] = "openmpi",
    seed: Annotated[int, typer.Option(help="Of the sizes.")] = 1,
    out: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
) -> None:
    """60 random sizes against a refined curve of at most 30 points, and the switches found."""
    with one_line():
        library = mpi.find(choose("--mpi", [which], ("openmpi", "mpich"))[0])
        found = measure(library, name, sizes, seconds, rounds, seed)
    _print(found)
    keep(found, out or default_file("refined"), "refined")
    if float(str(found["mean_error"])) > MOST_ERROR or int(str(found["points"])) > MOST_POINTS:
        raise typer.Exit(INVALID)


@dataclass(frozen=True)
class Size:
    """What launches say of a size: seconds, and half of their range as a share."""

    bytes: int
    seconds: float
    noise: float


def measure(
    library: mpi.Mpi, name: str, sizes: int, seconds: float, rounds: int, seed: int
) -> dict[str, object]:
    """The mean and the largest error over the drawn sizes, and the switches."""
    progress = progress_on_errors()
    draw = random.Random(seed)
    drawn = {int(2 ** draw.uniform(SMALLEST, LARGEST)) // 4 * 4 for _ in range(sizes)}
    medians: dict[int, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        progress("the refined curve")
        curve, switches = _run(library, Path(folder), [name, "--refine", "--switches"], seconds)
        # What was measured on the way to a switch is no point of the curve, but its two ends are.
        ends = {end for each in switches for end in (each.below, each.above)}
        line = {p.bytes for p in curve if p.role != "switch"} | ends
        for number in range(rounds):
            progress(f"its sizes and those that chance has drawn, {number + 1} of {rounds}")
            words = [word for size in sorted(line | drawn) for word in ("--size", str(size))]
            for point in _run(library, Path(folder), [name, *words], seconds)[0]:
                medians[point.bytes].append(point.median)
    known = [_of_launches(size, medians[size]) for size in sorted(line)]
    powers = [_of_launches(p.bytes, medians[p.bytes]) for p in curve if p.role == "grid"]
    checked = [_of_launches(size, medians[size]) for size in sorted(drawn)]
    errors = [error_of(each, known) for each in checked]
    small = [miss for each, (miss, _) in zip(checked, errors, strict=True) if each.bytes <= SMALL]
    return {
        "name": name,
        "points": len(known),
        "sizes": len(checked),
        "mean_error": statistics.mean(max(miss - noise, 0.0) for miss, noise in errors),
        "mean_difference": statistics.mean(miss for miss, _ in errors),
        "mean_difference_of_small": statistics.mean(small) if small else None,
        "middle_difference": statistics.median(miss for miss, _ in errors),
        "most_difference": max(miss for miss, _ in errors),
        "mean_noise": statistics.mean(noise for _, noise in errors),
        "mean_difference_of_powers": statistics.mean(error_of(p, powers)[0] for p in checked),
        "switches": [
            {"below": each.below, "above": each.above, "ratio": each.ratio} for each in switches
        ],
    }


def _of_launches(size: int, medians: Sequence[float]) -> Size:
    middle = statistics.median(medians)
    return Size(size, middle, (max(medians) - min(medians)) / 2 / middle)


def error_of(at: Size, curve: Sequence[Size]) -> tuple[float, float]:
    """By how much the line misses the size, and what of it the ranges explain, as shares."""
    behind = bisect.bisect_left([each.bytes for each in curve], at.bytes)
    behind = min(max(behind, 1), len(curve) - 1)
    a, b = curve[behind - 1], curve[behind]
    told = a.seconds + (at.bytes - a.bytes) / (b.bytes - a.bytes) * (b.seconds - a.seconds)
    return abs(told / at.seconds - 1), at.noise + max(a.noise, b.noise)


def _run(
    library: mpi.Mpi, folder: Path, words: list[str], seconds: float
) -> tuple[list[Point], list[Switch]]:
    file = folder / "samples.jsonl"
    suite.measure(library, 2, words, seconds, file, beyond=suite.BEYOND_BUDGET + 4 * seconds)
    found = read(file)
    return sorted(found.points, key=lambda point: point.bytes), found.switches


def _print(found: dict[str, object]) -> None:
    def per_cent(key: str) -> str:
        value = found[key]
        return "none" if value is None else f"{100 * float(str(value)):.2f} %"

    console = record.console()
    console.print(
        f"{found['name']}: {found['sizes']} random sizes against {found['points']} points: mean "
        f"error {per_cent('mean_error')} beyond the launches' ranges ({per_cent('mean_noise')}); "
        f"difference {per_cent('mean_difference')} in the mean, {per_cent('middle_difference')} in "
        f"the median, {per_cent('mean_difference_of_small')} in the mean up to 64 KiB; with powers "
        f"of four alone {per_cent('mean_difference_of_powers')}; load {record.load():.1f}"
    )
    switches = found["switches"]
    assert isinstance(switches, list)
    for each in switches:
        console.print(f"switch behind {each['below']} B: x {each['ratio']:.2f}")
