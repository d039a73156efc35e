"""Whether a refined curve tells the sizes between its points, and finds where the library switches.

A ping-pong's curve is refined (`haichi measure --refine --switches`), then sizes that chance draws
are measured in the same way and held against the lines between the curve's points. The error that
counts is what is left when both intervals are taken off.
"""

from __future__ import annotations

import bisect
import random
import statistics
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from haichi import jobs, mpi, paths
from haichi.figures import record
from haichi.figures.command import (
    INVALID,
    choose,
    default_file,
    keep,
    one_line,
    progress_on_errors,
)
from haichi.report.load import ReportError
from haichi.samples.model import Point, Switch
from haichi.samples.read import read

SMALLEST, LARGEST = 2, 22  # powers of two of the sizes that are drawn
MOST_POINTS = 30
MOST_ERROR = 0.02


def command(
    sizes: Annotated[int, typer.Option(min=1, help="That chance draws.")] = 60,
    seconds: Annotated[float, typer.Option(min=1, help="Of measuring, each of the two runs.")] = 60,
    name: Annotated[str, typer.Option(help="The measurement.")] = "ping-pong",
    which: Annotated[str, typer.Option("--mpi", help="openmpi or mpich.")] = "openmpi",
    seed: Annotated[int, typer.Option(help="Of the sizes.")] = 1,
    out: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
) -> None:
    """60 random sizes against a refined curve of at most 30 points, and the switches found."""
    with one_line():
        library = mpi.find(choose("--mpi", [which], ("openmpi", "mpich"))[0])
        found = measure(library, name, sizes, seconds, seed)
    _print(found)
    keep(found, out or default_file("refined"), "refined")
    if float(str(found["mean_error"])) > MOST_ERROR or int(str(found["points"])) > MOST_POINTS:
        raise typer.Exit(INVALID)


def measure(
    library: mpi.Mpi, name: str, sizes: int, seconds: float, seed: int
) -> dict[str, object]:
    """The mean and the largest error over the drawn sizes, and the switches."""
    progress = progress_on_errors()
    draw = random.Random(seed)
    drawn = sorted({int(2 ** draw.uniform(SMALLEST, LARGEST)) // 4 * 4 for _ in range(sizes)})
    with tempfile.TemporaryDirectory() as folder:
        progress("the refined curve")
        curve, switches = _run(library, Path(folder), [name, "--refine", "--switches"], seconds)
        progress("the sizes that chance has drawn")
        words = [name, *(word for size in drawn for word in ("--size", str(size)))]
        checked, _ = _run(library, Path(folder), words, seconds)
    # What was measured on the way to a switch is no point of the curve, but its two ends are.
    ends = {end for each in switches for end in (each.below, each.above)}
    line = {point.bytes: point for point in curve if point.role != "switch" or point.bytes in ends}
    errors = [error_of(point, line) for point in checked]
    coarse = {point.bytes: point for point in curve if point.role == "grid"}
    return {
        "name": name,
        "points": len(line),
        "sizes": len(checked),
        "mean_error": statistics.mean(max(miss - noise, 0.0) for miss, noise in errors),
        "mean_difference": statistics.mean(miss for miss, _ in errors),
        "most_difference": max(miss for miss, _ in errors),
        "mean_noise": statistics.mean(noise for _, noise in errors),
        "mean_difference_of_powers": statistics.mean(error_of(p, coarse)[0] for p in checked),
        "switches": [
            {"below": each.below, "above": each.above, "ratio": each.ratio} for each in switches
        ],
    }


def error_of(point: Point, curve: dict[int, Point]) -> tuple[float, float]:
    """By how much the line misses the point, and what of it the intervals explain, as shares."""
    known = sorted(curve)
    behind = min(max(bisect.bisect_left(known, point.bytes), 1), len(known) - 1)
    a, b = curve[known[behind - 1]], curve[known[behind]]
    share = (point.bytes - a.bytes) / (b.bytes - a.bytes)
    told = a.median + share * (b.median - a.median)
    noise = _noise(point) + max(_noise(a), _noise(b))
    return abs(told / point.median - 1), noise


def _noise(point: Point) -> float:
    if point.median_low is None or point.median_high is None:
        return 0
    return (point.median_high - point.median_low) / 2 / point.median


def _run(
    library: mpi.Mpi, folder: Path, words: list[str], seconds: float
) -> tuple[list[Point], list[Switch]]:
    abi = "openmpi" if library.family == "openmpi" else "mpich"
    file = folder / "samples.jsonl"
    file.unlink(missing_ok=True)
    program = str(paths.program(f"haichi-measure-{abi}"))
    words = [program, *words, "--budget", str(seconds), "--out", str(file)]
    line, env = mpi.local_command(library, 2, words, {})
    done = jobs.run(line, env, timeout=60 + 5 * seconds)
    if done.code:
        raise mpi.Missing(f"haichi measure: {done.how}: {done.err.strip()[-300:]}")
    try:
        found = read(file)
    except ReportError as error:
        raise mpi.Missing(str(error)) from None
    return sorted(found.points, key=lambda point: point.bytes), found.switches


def _print(found: dict[str, object]) -> None:
    console = record.console()
    console.print(
        f"{found['name']}: {found['sizes']} random sizes against {found['points']} points: mean "
        f"error {100 * float(str(found['mean_error'])):.2f} % beyond the points' intervals; "
        f"difference {100 * float(str(found['mean_difference'])):.2f} % in the mean, "
        f"{100 * float(str(found['most_difference'])):.1f} % at most, intervals "
        f"{100 * float(str(found['mean_noise'])):.2f} %; with powers of four alone "
        f"{100 * float(str(found['mean_difference_of_powers'])):.2f} %; load {record.load():.1f}"
    )
    switches = found["switches"]
    assert isinstance(switches, list)
    for each in switches:
        console.print(f"switch behind {each['below']} B: x {each['ratio']:.2f}")
