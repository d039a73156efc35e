#!/usr/bin/env python3
"""Measures what haichi costs a program that it does nothing for, beside the figures wanted.

Four costs: of a call that is passed through to the MPI library (wanted: under 100 ns more than
without haichi), of a wait (under 50 ns more), of a collective read of a file that haichi hands back
(under 1 us more) and of MPI_Init on 4 ranks (wanted: at most 5 ms more). The variants run in turn,
repetition by repetition, so that what else the machine does falls on all of them. Figures are
medians with the quartiles; what a variant costs more is the median of the differences within each
repetition, and where their quartiles lie on both sides of the limit nothing is claimed. Exit code
0 if measured, whatever the figures; 1 if a program failed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from haichi import mpi, paths

CALL_LIMIT_NS = 100.0
WAIT_LIMIT_NS = 50.0
READ_LIMIT_NS = 1000.0
INIT_LIMIT_S = 0.005
INIT_RANKS = 4
RUN_TIMEOUT_S = 60

# Environment of the ranks for each variant; the shim's path is put in.
VARIANTS: dict[str, dict[str, str]] = {
    "stock": {},
    "haichi": {"LD_PRELOAD": "{shim}"},
    "HAICHI_DISABLE=1": {"LD_PRELOAD": "{shim}", "HAICHI_DISABLE": "1"},
}


class Failed(Exception):
    """A program did not run; the text is one line."""


@dataclass
class Cost:
    """Raw samples of one cost under one MPI, by variant. `unit` is "ns" or "s"."""

    what: str
    mpi: str
    ranks: int
    unit: str
    limit: float
    samples: dict[str, list[float]] = field(default_factory=dict)

    def more(self, variant: str) -> list[float]:
        """Quartiles of what a variant took more than stock in the same repetition."""
        pairs = zip(self.samples[variant], self.samples["stock"], strict=True)
        return statistics.quantiles((own - stock for own, stock in pairs), n=4)

    @property
    def verdict(self) -> str:
        """Whether haichi keeps the limit, as far as the samples tell."""
        low, middle, high = self.more("haichi")
        if low <= self.limit < high:
            return "not decided: the quartiles lie on both sides of it"
        return "reached" if middle <= self.limit else "NOT reached"


def numbers(found: mpi.Mpi, ranks: int, variant: str, words: list[str]) -> list[float]:
    """Runs the program once and returns the numbers it printed."""
    shim = paths.build() / "lib" / f"libhaichi-{found.family}.so"
    program = paths.program(f"overhead-{found.family}")
    for needed in (shim, program):
        if not needed.exists():
            raise Failed(f"{needed} is not built: ./haichi build")
    env = {key: value.format(shim=shim) for key, value in VARIANTS[variant].items()}
    argv, full = mpi.local_command(found, ranks, [str(program), *words], env)
    try:
        done = subprocess.run(
            argv, env=full, capture_output=True, text=True, timeout=RUN_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{found.label}, {variant}: no end after {RUN_TIMEOUT_S} s") from None
    if done.returncode != 0 or not done.stdout.strip():
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise Failed(f"{found.label}, {variant}: exit code {done.returncode}: {last}")
    return [float(line) for line in done.stdout.split()]


def interleave(cost: Cost, repetitions: int, once: Callable[[str], float]) -> None:
    """One sample of every variant in turn, `repetitions` times, after one round that is dropped."""
    for repetition in range(repetitions + 1):
        for variant in VARIANTS:
            sample = once(variant)
            if repetition > 0:
                cost.samples.setdefault(variant, []).append(sample)


def measure(found: mpi.Mpi, repetitions: int) -> list[Cost]:
    """All costs under one MPI."""
    calls = Cost("a call that is passed through", found.label, 1, "ns", CALL_LIMIT_NS)
    waits = Cost("a wait for a request", found.label, 1, "ns", WAIT_LIMIT_NS)
    reads = Cost("a read of a file handed back", found.label, 1, "ns", READ_LIMIT_NS)
    init = Cost("MPI_Init", found.label, INIT_RANKS, "s", INIT_LIMIT_S)
    with tempfile.TemporaryDirectory(prefix="haichi-overhead-") as folder:
        file = str(Path(folder) / "file")
        for cost, words in ((calls, ["calls", file]), (waits, ["waits"]), (reads, ["reads", file])):
            interleave(
                cost, repetitions, lambda v, w=words: statistics.median(numbers(found, 1, v, w))
            )
    interleave(init, repetitions, lambda v: numbers(found, INIT_RANKS, v, ["init"])[0])
    return [calls, waits, reads, init]


def show(cost: Cost) -> None:
    """One line for each variant, then the verdict."""
    scale, unit, digits = (1, "ns", 1) if cost.unit == "ns" else (1e3, "ms", 2)
    print(f"{cost.mpi}: {cost.what}, {cost.ranks} rank{'s' if cost.ranks > 1 else ''}")
    for variant, samples in cost.samples.items():
        low, middle, high = (value * scale for value in statistics.quantiles(samples, n=4))
        line = f"  {variant:17} {middle:9.{digits}f} {unit} [{low:.{digits}f}-{high:.{digits}f}]"
        if variant != "stock":
            low, middle, high = (value * scale for value in cost.more(variant))
            line += f"  {middle:+.{digits}f} {unit} [{low:+.{digits}f} to {high:+.{digits}f}]"
        print(line)
    print(f"  wanted: at most {cost.limit * scale:g} {unit} more than stock: {cost.verdict}")


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--repetitions", type=int, default=9, help="default: %(default)s, at least 2"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the raw samples there")
    options = parser.parse_args()
    if options.repetitions < 2:
        parser.error(f"--repetitions {options.repetitions}: at least 2 are needed for a spread")
    found = mpi.available("mpich", "openmpi")
    if not found:
        print("overhead: no MPI here: ./haichi doctor", file=sys.stderr)
        return 1
    cores = len(os.sched_getaffinity(0))
    print(
        f"{cores} cores, load {os.getloadavg()[0]:.1f}; medians of {options.repetitions} "
        f"interleaved repetitions [quartiles]"
        + (f"; {INIT_RANKS} ranks are oversubscribed here" if cores < INIT_RANKS else "")
    )
    costs: list[Cost] = []
    try:
        for one in found:
            new = measure(one, options.repetitions)
            for cost in new:
                show(cost)
            costs += new
    except Failed as error:
        print(f"overhead: {error}", file=sys.stderr)
        return 1
    if options.json:
        record = {"schema": "haichi.overhead/1", "cores": cores}
        record["costs"] = [asdict(cost) for cost in costs]
        options.json.write_text(json.dumps(record, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
