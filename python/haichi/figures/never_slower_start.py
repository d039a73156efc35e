"""One start of a pattern's program, and one row: stock, haichi and stock again, interleaved."""

from __future__ import annotations

import shlex
import statistics
import time
from dataclasses import dataclass, field

from haichi import mpi
from haichi.figures import trial
from haichi.figures.cases import program_of
from haichi.figures.model import Case, Samples
from haichi.figures.never_slower_draw import Pattern, Where
from haichi.figures.places import Place
from haichi.mpi import Mpi

STOCK, HAICHI, AGAIN = "stock", "haichi", "stock again"
VARIANTS = (STOCK, HAICHI, AGAIN)
MOST_ROUNDS = 10
# Of the first stock start's writes, and of its reads: how many rounds all starts make.
ROUNDS_S, ROUNDS_LAB_S = 0.1, 0.3
TIMEOUT_S, TIMEOUT_LAB_S = 30.0, 60.0


@dataclass
class Row:
    """A pattern at a place with one MPI: a case for each variant."""

    pattern: Pattern
    where: Where
    which: Mpi
    cases: dict[str, Case] = field(default_factory=dict)
    rounds: str = ""  # of writes and reads, as the program takes it; empty: not known yet
    starts: int = 0  # of each variant, so far
    peaks: dict[str, int] = field(default_factory=dict)  # KiB of a rank at most, by variant

    def __post_init__(self) -> None:
        for variant in VARIANTS:
            self.cases[variant] = Case(
                mpi=self.which.name,
                library="",
                program=f"{self.pattern.name}: {self.pattern}, {self.where}",
                ranks=self.where.ranks,
                variant=variant,
                settings={},
            )

    @property
    def title(self) -> str:
        """Which one it is."""
        return f"{self.pattern.name}, {self.where}, {self.which.name}"


def measure(row: Row, place: Place, repetitions: int, yields: str) -> None:
    """Adds so many starts of each variant; another one begins each time."""
    for _ in range(repetitions):
        # The first of all is stock, which says how many rounds there are.
        turn = row.starts % len(VARIANTS)
        for variant in VARIANTS[turn:] + VARIANTS[:turn]:
            case = row.cases[variant]
            # What has hung or failed twice does so again.
            if len(case.problems) < 2:
                _start(row, case, place, yields)
        row.starts += 1


def _start(row: Row, case: Case, place: Place, yields: str) -> None:
    env: dict[str, str] = {}
    if preload := mpi.yield_preload(row.which, yields):
        env["LD_PRELOAD"] = ":".join(preload)
    argv = command(row, place)
    if case.variant == HAICHI:
        argv = [str(trial.haichi_program()), "run", *argv]
    timeout = TIMEOUT_LAB_S if row.where.lab else TIMEOUT_S
    outcome = place.run(row.which, row.where.ranks, argv, env, timeout)
    result = trial.result_of(outcome.out)
    if result is None:
        ended = f"no result after {timeout:g} s" if outcome.timed_out else outcome.how
        said = f"{ended}: {outcome.last_error}" if outcome.last_error else ended
        case.problems.append(f"{said} ({shlex.join(row.pattern.text())})")
        return
    case.library = result.get("mpi", "")
    if outcome.timed_out:
        trial.once(case.notes, "did not end by itself after its result was out")
    elif outcome.code != 0:
        case.problems.append(f"{outcome.how} after its result was out")
    add(case, result)
    row.peaks[case.variant] = max(row.peaks.get(case.variant, 0), result.get("peak_kib", 0))
    if not row.rounds:
        row.rounds = rounds_of(result)


def command(row: Row, place: Place) -> list[str]:
    """The program with its arguments."""
    limit = ROUNDS_LAB_S if row.where.lab else ROUNDS_S
    # Once the number is known, time limits nothing.
    how = [row.rounds, "1000"] if row.rounds else [str(MOST_ROUNDS), str(limit)]
    if row.pattern.communicates:
        first = f"{time.clock_gettime(time.CLOCK_MONOTONIC):.6f}"
        return [program_of("comm-pattern", row.which), first, *how, *row.pattern.text()]
    file = str(place.shared / "pattern")
    return [program_of("io-pattern", row.which), file, *how, *row.pattern.text()]


def rounds_of(result: trial.Result) -> str:
    """How many there were, of writes and of reads."""
    ops = [entry["op"] for entry in result["results"]]
    counts = [ops.count(op) for op in dict.fromkeys(ops)]
    return ",".join(map(str, counts)) or "1"


def add(case: Case, result: trial.Result) -> None:
    """Adds a start's samples: the mean of its rounds, the first one among them, and the fastest; of
    the sections of the job, and of the calls alone."""
    found: dict[str, list[float]] = {}
    for entry in result["results"]:
        found.setdefault(entry["op"], []).append(entry["seconds"])
        if "calls_s" in entry:
            found.setdefault(f"{entry['op']} calls", []).append(entry["calls_s"])
    if "job_s" in result:
        found["job"] = [result["job_s"]]
    for op, seconds in found.items():
        samples = case.operations.setdefault(op, Samples())
        samples.seconds.append(statistics.fmean(seconds))
        fastest = case.operations.setdefault(f"{op} fastest", Samples())
        fastest.seconds.append(min(seconds))
