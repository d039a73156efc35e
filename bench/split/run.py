#!/usr/bin/env python3
"""What io.split gains and costs an unmodified program: `./haichi figures split`.

Reads of a cached file, a program without and with the preload in turns, for sizes and file systems.
Rounds in which the reading thread waited for a processor more than --patience per cent of the time
are left out, unless fewer than three were left. Medians, with the quartiles in brackets.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HAICHI_BUILD", ROOT / "build" / "current"))
SIZES = {
    "16": 200_000,
    "64k": 400,
    "256k": 100,
    "1m": 30,
    "4m": 10,
    "8m": 6,
    "16m": 4,
    "64m": 2,
    "256m": 1,
}  # calls of a round
LEAST = 3  # rounds
LOSES = 0.97
UNITS = {"k": 1 << 10, "m": 1 << 20}


def bytes_of(size: str) -> int:
    """Of "64k"."""
    unit = UNITS.get(size[-1], 1)
    return int(size[:-1] if size[-1] in UNITS else size) * unit


def timed(file: Path, size: str, rounds: int, split: bool) -> list[tuple[float, float]]:
    """Nanoseconds per call of each round, and for how much of it the thread waited."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("HAICHI_IO_")}
    if split:
        own |= {"LD_PRELOAD": str(BUILD / "lib/libhaichi-posix.so"), "HAICHI_IO_SPLIT": "on"}
    words = [BUILD / "bin/reads", file, str(bytes_of(size)), str(SIZES[size]), str(rounds)]
    done = subprocess.run(words, env=own, capture_output=True, text=True, timeout=600, check=True)
    pairs = [line.split() for line in done.stdout.splitlines()]
    return [(float(taken), float(waited)) for taken, waited in pairs]


def kept(rounds: list[tuple[float, float]], patience: float) -> tuple[list[float], bool]:
    """Times of the rounds that the scheduler left alone, or of all; whether they are those."""
    quiet = [taken for taken, waited in rounds if waited <= patience]
    return (quiet, True) if len(quiet) >= LEAST else ([taken for taken, _ in rounds], False)


def shown(times: list[float]) -> str:
    """Median and quartiles in microseconds."""
    low, middle, high = statistics.quantiles(times, n=4)
    return f"{middle / 1e3:10.3f} ({low / 1e3:.3f} to {high / 1e3:.3f})"


def compare(file: Path, size: str, options: argparse.Namespace) -> bool:
    """Prints the line of one size; whether the preload loses there."""
    rounds: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    for start in range(options.starts):
        for split in (start % 2 == 0, start % 2 != 0):
            rounds[split] += timed(file, size, options.rounds, split)
    plain, quiet = kept(rounds[False], options.patience)
    split, also = kept(rounds[True], options.patience)
    ratio = statistics.median(plain) / statistics.median(split)
    notes = [] if quiet and also else ["busy"]
    if bytes_of(size) <= 64:
        notes.append(f"least of all: {min(split) - min(plain):+.1f} ns")
    if ratio < LOSES:
        notes.append("loses")
    print(f"{size:>6} {shown(plain):>36} {shown(split):>36} {ratio:6.2f}  {', '.join(notes)}")
    return ratio < LOSES


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="haichi figures split", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--folder", action="append", type=Path, help="of a file system; repeatable")
    parser.add_argument("--size", action="append", choices=SIZES, help="repeatable")
    parser.add_argument("--starts", type=int, default=5, help="of the program, each way")
    parser.add_argument("--rounds", type=int, default=9, help="in each start")
    parser.add_argument("--patience", type=float, default=5, help="per cent of a round's time")
    options = parser.parse_args()
    if min(options.starts, options.rounds) < 1 or options.starts * options.rounds < LEAST:
        parser.error(f"--starts x --rounds: at least {LEAST} rounds")
    sizes = options.size or list(SIZES)
    lost = []
    for folder in options.folder or [Path("/dev/shm"), Path("/var/tmp")]:
        with tempfile.TemporaryDirectory(dir=folder, prefix="haichi-split-") as made:
            file = Path(made) / "file"
            file.write_bytes(os.urandom(1 << 20) * (max(map(bytes_of, sizes)) // (1 << 20) + 1))
            print(f"{folder}: microseconds a read, plain, with io.split=on, plain / split")
            lost += [f"{folder} {size}" for size in sizes if compare(file, size, options)]
    print("loses nowhere" if not lost else "loses: " + ", ".join(lost))
    return 0


if __name__ == "__main__":
    sys.exit(main())
