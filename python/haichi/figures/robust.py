"""Whether `haichi measure` says the same on a machine that has other work.

Its medians beside 8 and 15 processes that compute without an end, over those beside none, in turns.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
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
from haichi.samples.read import read

NAMES = ("ping-pong", "barrier", "allreduce", "alltoall", "put-flush")
SIZES = (8, 1024, 65536)
MOST = {8: 0.10, 15: 0.15}  # what medians may change by
Key = tuple[str, str, int]


def command(
    rounds: Annotated[int, typer.Option(min=1, help="Of quiet and busy runs, in turns.")] = 5,
    seconds: Annotated[float, typer.Option(min=0.5, help="Of measuring in a run.")] = 5,
    which: Annotated[str, typer.Option("--mpi", help="openmpi or mpich.")] = "openmpi",
    out: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
) -> None:
    """Medians of `haichi measure` beside 8 and 15 busy processes against quiet ones."""
    with one_line():
        library = mpi.find(choose("--mpi", [which], ("openmpi", "mpich"))[0])
        found = measure(library, rounds, seconds)
    _print(found)
    keep(found, out or default_file("robust"), "robust")
    if not all(row["within"] for row in found["busy"]):
        raise typer.Exit(INVALID)


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Beside so many processes that take all the processor time they get."""
    import multiprocessing  # which takes time to load, and no other command needs it

    made = [multiprocessing.get_context("fork").Process(target=_compute) for _ in range(count)]
    try:
        for process in made:
            process.start()
        yield
    finally:
        for process in made:
            if process.pid is not None:
                process.kill()
                process.join()


def _compute() -> None:
    while True:
        pass


def measure(library: mpi.Mpi, rounds: int, seconds: float) -> dict[str, list[dict[str, object]]]:
    """Ratios of the rounds' medians for each number of busy processes."""
    progress = progress_on_errors()
    levels = (0, *MOST)
    medians: dict[int, dict[Key, list[float]]] = {level: {} for level in levels}
    for number in range(rounds):
        for level in levels:
            progress(f"round {number + 1} of {rounds}, {level} busy processes")
            with busy(level):
                for key, median in _run(library, seconds).items():
                    medians[level].setdefault(key, []).append(median)
    return {"busy": [_against_quiet(level, medians) for level in MOST]}


def _run(library: mpi.Mpi, seconds: float) -> dict[Key, float]:
    sizes = [word for size in SIZES for word in ("--size", str(size))]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "samples.jsonl"
        suite.measure(
            library, 2, [*NAMES, *sizes], seconds, file, beyond=suite.BEYOND_BUDGET + 9 * seconds
        )
        return {(each.name, each.place, each.bytes): each.median for each in read(file).points}


def _against_quiet(level: int, medians: dict[int, dict[Key, list[float]]]) -> dict[str, object]:
    ratios = {
        key: statistics.median(values) / statistics.median(medians[0][key])
        for key, values in medians[level].items()
    }
    inside = [key for key, ratio in ratios.items() if abs(ratio - 1) <= MOST[level]]
    return {
        "processes": level,
        "points": [
            {
                "name": name,
                "place": place,
                "bytes": size,
                "quiet": statistics.median(medians[0][name, place, size]),
                "ratio": ratio,
            }
            for (name, place, size), ratio in sorted(ratios.items())
        ],
        "inside": len(inside),
        "within": len(inside) == len(ratios),
    }


def _print(found: dict[str, list[dict[str, object]]]) -> None:
    console = record.console()
    console.print(f"2 ranks; load of the machine besides: {record.load():.1f} at the end")
    for row in found["busy"]:
        points = row["points"]
        assert isinstance(points, list)
        most = MOST[int(str(row["processes"]))]
        console.print(
            f"beside {row['processes']} busy processes: {row['inside']} of {len(points)} medians "
            f"within {100 * most:.0f} % of the quiet ones"
        )
        for point in points:
            mark = "" if abs(point["ratio"] - 1) <= most else "  *"
            console.print(
                f"  {point['name']:<12} {point['bytes']:>6} B {1e6 * point['quiet']:>9.3f} us "
                f"x {point['ratio']:.3f}{mark}"
            )
