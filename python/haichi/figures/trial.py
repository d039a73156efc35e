"""One run of one case, and what it proves."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NotRequired, TypedDict

from haichi import mpi, paths, programs
from haichi.figures.model import Case, Samples
from haichi.figures.places import Place
from haichi.mpi import Mpi


@dataclass(frozen=True)
class Variant:
    """How a program is started: with the MPI library alone, or under haichi with some settings.

    `arguments` are further options of the program. `layout` and `aggregators` say the same as the
    settings do, for the model of what must cross the network; aggregators 0 is one per node.
    """

    name: str
    haichi: bool = True
    settings: Mapping[str, str] = field(default_factory=dict)
    layout: str = "roundrobin"
    aggregators: int = 0
    arguments: tuple[str, ...] = ()


STOCK = Variant("stock", haichi=False)
DEFAULT = Variant("haichi")
# The same bytes of each rank in one contiguous pwrite or pread: what no rearranging can undercut.
LIMIT = Variant("limit", haichi=False, arguments=("--access", "contiguous"))
# What a user wrote in place of MPI-IO, where a pattern has it: the same bytes at the same places.
BY_HAND = Variant("by hand", haichi=False, arguments=("--access", "by-hand"))


def choice(
    name: str, *, layout: str, order: str, aggregators: int, window: int = 0, buffer: str = ""
) -> Variant:
    """haichi with its settings spelt out; window 0 and an empty buffer leave the default."""
    settings = {
        "HAICHI_IO_LAYOUT": layout,
        "HAICHI_IO_ORDER": order,
        "HAICHI_IO_AGGREGATORS": str(aggregators),
    }
    if window:
        settings["HAICHI_IO_WINDOW"] = str(window)
    if buffer:
        settings["HAICHI_IO_BUFFER"] = buffer
    return Variant(name, True, settings, layout, aggregators)


@dataclass(frozen=True)
class Program:
    """A program that prints one JSON line, for one MPI."""

    title: str
    which: Mpi
    argv: Callable[[Path], list[str]]  # given the file to write
    env: Mapping[str, str] = field(default_factory=dict)


Trial = tuple[Case, Callable[[], None]]  # a case, and what runs it once more
# Looks at the file that a run left and adds to the case's problems or notes.
Check = Callable[[Case, Path], None]


class Operation(TypedDict):
    """One operation of a measurement program's: seconds of the slowest rank."""

    op: str
    seconds: float
    wrong_bytes: int
    calls_s: NotRequired[float]  # of the calls alone


class Result(TypedDict):
    """The line that a measurement program prints."""

    mpi: NotRequired[str]
    results: list[Operation]
    job_s: NotRequired[float]
    peak_kib: NotRequired[int]


def haichi_program() -> Path:
    """The native launcher.

    Raises:
        Missing: it is not built.
    """
    return programs.built(paths.program("haichi"))


def run(
    case: Case,
    program: Program,
    variant: Variant,
    place: Place,
    *,
    check: Check,
    yields: str = "ucx",
    report: Path | None = None,
    timeout: float = 120,
) -> None:
    """Runs the case once more: adds its times to `case`, or a problem.

    Stock and haichi get the same preload for yielding; `haichi run` puts its own object first.
    """
    file = place.shared / f"{case.mpi}-{variant.name.replace('/', '-')}.dat"
    env = {**program.env, **variant.settings}
    if preload := mpi.yield_preload(program.which, yields):
        env["LD_PRELOAD"] = ":".join(preload)
    argv = [*program.argv(file), *variant.arguments]
    if variant.haichi:
        argv = [str(haichi_program()), "run", *argv]
        if report:
            report.unlink(missing_ok=True)
            env["HAICHI_REPORT"] = str(report)
    outcome = place.run(program.which, case.ranks, argv, env, timeout)
    result = result_of(outcome.out)
    if result is None:
        ended = f"no result after {timeout:g} s" if outcome.timed_out else outcome.how
        case.problems.append(f"{ended}: {outcome.last_error or shlex.join(argv)}")
        return
    case.library = result.get("mpi", case.library)
    for entry in result["results"]:
        case.operations.setdefault(entry["op"], Samples()).seconds.append(entry["seconds"])
        if entry["wrong_bytes"]:
            case.problems.append(f"{entry['wrong_bytes']} wrong bytes in {entry['op']}")
    if outcome.timed_out:
        once(case.notes, "did not end by itself after its result was out")
    elif outcome.code != 0:
        once(case.problems, f"{outcome.how}: {outcome.last_error}")
    if variant.haichi and report and not report.exists():
        once(case.problems, "no run report: haichi did not act under the program")
    check(case, file)


def once(lines: list[str], line: str) -> None:
    """Adds a line that is not there yet."""
    if line not in lines:
        lines.append(line)


def result_of(out: str) -> Result | None:
    """What a measurement program printed, if it got so far."""
    for line in out.splitlines():
        if line.startswith('{"program"'):
            try:
                result: Result = json.loads(line)
            except ValueError:
                return None
            return result
    return None


def interleaved(
    trials: Sequence[Trial],
    repetitions: int,
    progress: Callable[[str], None],
) -> None:
    """Runs every case once, then every case again, ...: the machine's moods meet all alike."""
    for repetition in range(repetitions):
        for case, trial in trials:
            progress(f"{repetition + 1}/{repetitions}  {case.mpi}: {case.program}, {case.variant}")
            if not case.problems:
                trial()


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))
