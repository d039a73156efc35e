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

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from haichi import mpi
from haichi.figures import script

RANKS = 2
MEBIBYTES = 64
RATE = 100.0  # MB/s of each rank
COMPUTE_S = MEBIBYTES * 1.048576 / RATE
SETTINGS = ("now", "thread")


def ratio(found: mpi.Mpi, setting: str, slow: bool, compute_s: float, file: Path) -> float:
    """Runs the program once: time of both together by the sum of those of each alone."""
    preload = [script.shim(found)]
    if slow:
        preload.append(script.library("libslowstorage.so"))
    env = {
        "LD_PRELOAD": ":".join(map(str, preload)),
        "HAICHI_IO_NONBLOCKING": setting,
        "STORAGE_PATH": file.name,
        "STORAGE_MBS": str(RATE),
    }
    words = [file, MEBIBYTES, compute_s]
    writing, computing, both = script.numbers(found, RANKS, "overlap", words, env, setting)
    return both / (writing + computing)


def measure(found: mpi.Mpi, slow: bool, repetitions: int, folder: Path) -> None:
    """Both settings in turn, and a line for each."""
    compute_s = COMPUTE_S if slow else COMPUTE_S / 10
    samples = script.interleave(
        SETTINGS,
        repetitions,
        lambda setting: ratio(found, setting, slow, compute_s, folder / "overlap.dat"),
    )
    where = f"storage of {RATE:g} MB/s a rank" if slow else "a file in memory"
    print(f"{found.label}: {RANKS} ranks, {MEBIBYTES} MiB each to {where}")
    for setting, values in samples.items():
        share = script.Quartiles.of(values)
        print(f"  {setting:6} {share.middle:.2f} {share.spread('.2f')} of one after the other")


def main() -> int:
    """Command line."""
    repetitions = script.parser(__doc__, repetitions=7).parse_args().repetitions
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:

        def both_kinds(found: mpi.Mpi) -> None:
            for slow in (True, False):
                measure(found, slow, repetitions, Path(folder))

        return script.for_each_mpi("overlap", repetitions, both_kinds)


if __name__ == "__main__":
    sys.exit(main())
