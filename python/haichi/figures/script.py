"""What measurements with a command line of their own have in common: bench/overhead, bench/overlap.

They start a program of the build on this machine, under each MPI of the distribution that is here,
in several ways in turn, and show medians with the quartiles. Exit code 0 if measured, 1 if a
program failed, 2 for bad usage.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from haichi import jobs, mpi, paths

RUN_TIMEOUT_S = 120


class Failed(Exception):
    """A program did not run; the text is one line."""


class Quartiles(NamedTuple):
    """What is shown of samples: the median and where the middle half lies."""

    low: float
    middle: float
    high: float

    @staticmethod
    def of(samples: Iterable[float]) -> Quartiles:
        """At least two samples."""
        low, middle, high = statistics.quantiles(samples, n=4)
        return Quartiles(low, middle, high)

    def spread(self, form: str, between: str = "-") -> str:
        """The quartiles in brackets: "[1.2-1.4]" for ".1f"."""
        return f"[{self.low:{form}}{between}{self.high:{form}}]"

    def verdict(self, limit: float) -> str:
        """Whether the limit is kept, as far as the samples tell."""
        if self.low <= limit < self.high:
            return "not decided: the quartiles lie on both sides of it"
        return "reached" if self.middle <= limit else "NOT reached"


def library(name: str) -> Path:
    """A library of the build to preload, by its file name."""
    return _built(paths.build() / "lib" / name)


def shim(found: mpi.Mpi) -> Path:
    """haichi's library for that MPI."""
    return library(f"libhaichi-{found.family}.so")


def recorder(found: mpi.Mpi) -> Path:
    """haichi's recorder for that MPI."""
    return library(f"libhaichi-record-{found.family}.so")


def numbers(
    found: mpi.Mpi,
    ranks: int,
    name: str,
    words: Sequence[object],
    env: Mapping[str, str],
    way: str,
) -> list[float]:
    """Runs the program of that name once and returns the numbers that it printed. `way` says in a
    message how it was run."""
    program = _built(paths.program(f"{name}-{found.name}"))
    argv, full = mpi.local_command(found, ranks, [str(program), *map(str, words)], env)
    done = jobs.run(argv, full, timeout=RUN_TIMEOUT_S)
    if done.timed_out:
        raise Failed(f"{found.label}, {way}: no end after {RUN_TIMEOUT_S} s")
    if done.code != 0 or not done.out.strip():
        raise Failed(f"{found.label}, {way}: {done.how}: {done.last_error or 'no output'}")
    return [float(line) for line in done.out.split()]


def interleave(
    ways: Iterable[str], repetitions: int, once: Callable[[str], float]
) -> dict[str, list[float]]:
    """One sample of every way in turn, `repetitions` times, after one round that is dropped."""
    samples: dict[str, list[float]] = {way: [] for way in ways}
    for repetition in range(repetitions + 1):
        for way, taken in samples.items():
            sample = once(way)
            if repetition > 0:
                taken.append(sample)
    return samples


def parser(doc: str, repetitions: int) -> argparse.ArgumentParser:
    """Of a command line with --repetitions; `doc` begins with what is measured."""
    made = argparse.ArgumentParser(description=doc.partition("\n")[0])
    made.add_argument(
        "--repetitions",
        type=_at_least_two,
        default=repetitions,
        help="default: %(default)s, at least 2",
    )
    return made


def for_each_mpi(
    name: str, repetitions: int, measure: Callable[[mpi.Mpi], None], remark: str = ""
) -> int:
    """Says on what machine this is, and has each MPI measured and shown. Returns the exit code."""
    found = mpi.available("mpich", "openmpi")
    if not found:
        print(f"{name}: no MPI here: ./haichi doctor", file=sys.stderr)
        return 1
    print(
        f"{cores()} cores, load {os.getloadavg()[0]:.1f}; medians of {repetitions} interleaved "
        f"repetitions [quartiles]{remark}"
    )
    try:
        for one in found:
            measure(one)
    except Failed as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    return 0


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0))


def _built(path: Path) -> Path:
    if not path.exists():
        raise Failed(f"{path} is not built: ./haichi build")
    return path


def _at_least_two(text: str) -> int:
    value = int(text)
    if value < 2:
        raise argparse.ArgumentTypeError(f"{value}: at least 2 are needed for a spread")
    return value
