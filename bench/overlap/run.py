#!/usr/bin/env python3
"""Measures what of a nonblocking collective write a program can hide behind its computing.

Two ranks write by MPI_File_iwrite_at_all and compute, before they wait, for about as long as the
write takes: with the write done in the call, and by a thread behind the program
(io.nonblocking=thread). Once to a file in memory, where writing needs a processor, and once as if
to storage of a given rate, where it does not (slow_storage.c). The two settings run in turn.
Figures are ratios, medians with the quartiles: what write and computing take together, by what they
take one after the other. 1 is no overlap; 0.5 is the best, where both take as long. Exit code 0 if
measured, 1 if a program failed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from haichi import mpi, paths

RANKS = 2
MEBIBYTES = 64
RATE = 100.0  # MB/s of each rank
COMPUTE_S = MEBIBYTES * 1.048576 / RATE
RUN_TIMEOUT_S = 120
SETTINGS = ("now", "thread")


class Failed(Exception):
    """A program did not run; the text is one line."""


def ratio(found: mpi.Mpi, setting: str, slow: bool, compute_s: float, file: Path) -> float:
    """Runs the program once: time of both together by the sum of those of each alone."""
    library = paths.build() / "lib"
    preload = [library / f"libhaichi-{found.family}.so"]
    if slow:
        preload.append(library / "libslowstorage.so")
    program = paths.program(f"overlap-{found.family}")
    for needed in (*preload, program):
        if not needed.exists():
            raise Failed(f"{needed} is not built: ./haichi build")
    env = {
        "LD_PRELOAD": ":".join(map(str, preload)),
        "HAICHI_IO_NONBLOCKING": setting,
        "STORAGE_PATH": file.name,
        "STORAGE_MBS": str(RATE),
    }
    words = [str(program), str(file), str(MEBIBYTES), str(compute_s)]
    argv, full = mpi.local_command(found, RANKS, words, env)
    try:
        done = subprocess.run(
            argv, env=full, capture_output=True, text=True, timeout=RUN_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{found.label}: no end after {RUN_TIMEOUT_S} s") from None
    if done.returncode != 0 or len(done.stdout.split()) != 3:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise Failed(f"{found.label}: exit code {done.returncode}: {last}")
    writing, computing, both = map(float, done.stdout.split())
    return both / (writing + computing)


def measure(found: mpi.Mpi, slow: bool, repetitions: int, folder: Path) -> None:
    """Both settings in turn, and a line for each."""
    samples: dict[str, list[float]] = {setting: [] for setting in SETTINGS}
    compute_s = COMPUTE_S if slow else COMPUTE_S / 10
    for _ in range(repetitions):
        for setting in SETTINGS:
            samples[setting].append(ratio(found, setting, slow, compute_s, folder / "overlap.dat"))
    where = f"storage of {RATE:g} MB/s a rank" if slow else "a file in memory"
    print(f"{found.label}: {RANKS} ranks, {MEBIBYTES} MiB each to {where}")
    for setting, values in samples.items():
        low, middle, high = statistics.quantiles(values, n=4)
        print(f"  {setting:6} {middle:.2f} [{low:.2f}-{high:.2f}] of one after the other")


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--repetitions", type=int, default=7, help="default: %(default)s, at least 2"
    )
    options = parser.parse_args()
    if options.repetitions < 2:
        parser.error(f"--repetitions {options.repetitions}: at least 2 are needed for a spread")
    found = mpi.available("mpich", "openmpi")
    if not found:
        print("overlap: no MPI here: ./haichi doctor", file=sys.stderr)
        return 1
    cores = len(os.sched_getaffinity(0))
    print(
        f"{cores} cores, load {os.getloadavg()[0]:.1f}; medians of {options.repetitions} "
        "repetitions [quartiles]"
    )
    memory = Path("/dev/shm")
    try:
        with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
            for one in found:
                for slow in (True, False):
                    measure(one, slow, options.repetitions, Path(folder))
    except Failed as error:
        print(f"overlap: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
