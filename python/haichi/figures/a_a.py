"""Whether `haichi compare` finds what is there and nothing else, on this machine.

One program is launched many times. Launches are then dealt to A and B at random, in turns, as
interleaved ones would be: nothing differs, so whatever is found is a false alarm. The same with all
medians of B made longer by a known share tells how much of that is found.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from haichi import mpi
from haichi.compare.samples import compare_sets
from haichi.compare.sets import Set, read_set
from haichi.figures import record, suite
from haichi.figures.command import (
    INVALID,
    choose,
    default_file,
    keep,
    one_line,
    progress_on_errors,
)
from haichi.report.load import ReportError

WHAT = ("ping-pong", "barrier", "allreduce", "--size", "8", "--size", "64k")
SIDE = 10  # launches of a set
FALSE_ALARMS, FOUND = 0.01, 0.95  # at most, at least
Progress = Callable[[str], None]


def command(
    launches: Annotated[int, typer.Option(min=2 * SIDE, help="Of the program.")] = 40,
    trials: Annotated[int, typer.Option(min=1, help="Comparisons.")] = 200,
    slower: Annotated[float, typer.Option(min=0, help="What is put in: 0.05 is 5 %.")] = 0.05,
    which: Annotated[str, typer.Option("--mpi", help="openmpi, mpich5 or mpich.")] = "openmpi",
    seconds: Annotated[float, typer.Option(min=0.1, help="Of measuring in a launch.")] = 0.5,
    seed: Annotated[int, typer.Option(help="Of who is dealt to whom.")] = 1,
    samples: Annotated[
        Path | None,
        typer.Option(help="A folder with samples of at least 20 launches, in place of new ones."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
) -> None:
    """What haichi compare finds in 200 comparisons in which nothing differs, and of 5 % put in."""
    with one_line(), tempfile.TemporaryDirectory() as folder:
        if samples is None:
            _launch(mpi.find(choose("--mpi", [which], mpi.NAMES)[0]), launches, seconds, folder)
        found = measure(read_set([samples or folder]), trials, slower, seed)
    _print(found)
    keep(found, out or default_file("a-a"), "a-a")
    if found["false_alarms"] > FALSE_ALARMS or found["found"] < FOUND:
        raise typer.Exit(INVALID)


def _launch(library: mpi.Mpi, launches: int, seconds: float, folder: str) -> None:
    progress: Progress = progress_on_errors()
    for number in range(launches):
        progress(f"{number + 1}/{launches}  {library.label}")
        # Another order of points each time, as that of the launch before would be no chance.
        words = [*WHAT, "--seed", str(number + 1)]
        file = Path(folder) / f"{number:03}.jsonl"
        suite.measure(library, 2, words, seconds, file, beyond=suite.BEYOND_BUDGET + 9 * seconds)


def measure(pool: Set, trials: int, slower: float, seed: int) -> dict[str, float]:
    """The shares of comparisons with a false alarm at any point, and of points whose slow-down was
    found; how far launches' medians lie apart.

    Raises:
        ReportError: the pool has too few launches of each point.
    """
    rows = {key: np.array(row) for key, row in pool.medians.items()}
    count = min(map(len, rows.values()), default=0)
    if count < 2 * SIDE:
        raise ReportError(f"{count} launches of a point: {2 * SIDE} are needed")
    draw = np.random.default_rng(seed)
    alarms = found = 0
    for _ in range(trials):
        a, b = _deal(draw, count)
        one = _drawn(pool, {key: row[a] for key, row in rows.items()})
        other = _drawn(pool, {key: row[b] for key, row in rows.items()})
        same = compare_sets(one, other)
        alarms += bool(same.of("slower") or same.of("faster"))
        other = _drawn(pool, {key: row[b] * (1 + slower) for key, row in rows.items()})
        found += len(compare_sets(one, other).of("slower"))
    spread = [float(np.std(np.log(row[:count]))) for row in rows.values()]
    return {
        "comparisons": trials,
        "points": len(rows),
        "launches": count,
        "false_alarms": alarms / trials,
        "slower": slower,
        "found": found / trials / len(rows),
        "least_spread": min(spread),
        "most_spread": max(spread),
    }


def _deal(draw: np.random.Generator, count: int) -> tuple[Sequence[int], Sequence[int]]:
    """Launches of A and B: of neighbours in time one to each, by a coin."""
    first = 2 * np.sort(draw.permutation(count // 2)[:SIDE])
    coin = draw.integers(0, 2, SIDE)
    return list(first + coin), list(first + 1 - coin)


def _drawn(pool: Set, medians: dict[tuple[str, str, int], np.typing.NDArray[np.float64]]) -> Set:
    return Set(
        files=pool.files,
        launches=pool.launches,
        descriptions=pool.descriptions,
        medians={key: list(row) for key, row in medians.items()},
    )


def _print(found: dict[str, float]) -> None:
    console = record.console()
    console.print(
        f"{found['comparisons']} comparisons of {SIDE} and {SIDE} launches at {found['points']} "
        f"points, dealt from {found['launches']}; load {record.load():.1f}; launches' medians "
        f"spread by {100 * found['least_spread']:.1f} to {100 * found['most_spread']:.1f} %"
    )
    console.print(
        f"with nothing different: a difference at any point in {100 * found['false_alarms']:.1f} % "
        f"(at most {100 * FALSE_ALARMS:.0f} % wanted)"
    )
    console.print(
        f"with {100 * found['slower']:.0f} % put in: found at {100 * found['found']:.1f} % of the "
        f"points (at least {100 * FOUND:.0f} % wanted)"
    )
