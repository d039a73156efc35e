#!/usr/bin/env python3
"""What the two faces of the gather file system cost: `./haichi figures faces`.

Files in memory behind the mount, so that only the faces are measured; tmpfs and, where it is
installed, bindfs (a plain FUSE pass-through to tmpfs) beside them, in turn within one run. Medians
of the repetitions, with the smallest in brackets; ratios of the medians.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HAICHI_BUILD", ROOT / "build" / "current"))
LIBRARY = BUILD / "lib/libhaichi-posix.so"
BAD_INPUT = 2


Place = tuple[str, Path, Path | None]
"""A folder with its name; preloaded, with the mount that it is on."""


@contextmanager
def memory_mount(room: Path) -> Iterator[tuple[Path, int]]:
    """Files in memory on a mount, and the process that serves them."""
    folder = room / "mount"
    folder.mkdir()
    command = [BUILD / "bin/gasfs-memory-mount", folder, room / "socket"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        if server.stdout.readline() != "mounted\n":
            raise SystemExit("haichi figures faces: nothing can be mounted here")
        yield folder, server.pid
    finally:
        server.communicate(timeout=60)


@contextmanager
def bindfs(room: Path, behind: Path) -> Iterator[Path | None]:
    """A plain FUSE pass-through to a folder; None where there is no bindfs."""
    if shutil.which("bindfs") is None:
        print("bindfs is not installed: no plain pass-through to compare with")
        yield None
        return
    folder = room / "through"
    folder.mkdir()
    subprocess.run(["bindfs", behind, folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def timed(
    folder: Path, kind: str, size: int, repetitions: int, preload: Path | None
) -> list[float]:
    """Nanoseconds per call of each repetition, and behind them the same with what follows."""
    env = dict(os.environ)
    if preload:
        env |= {"LD_PRELOAD": str(LIBRARY), "HAICHI_GASFS": str(preload)}
    words = [BUILD / "bin/records", folder / "records", kind, str(size), str(repetitions)]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=300, check=True)
    (folder / "records").unlink()
    lines = [[float(word) for word in line.split()] for line in done.stdout.splitlines()]
    behind = 1 if kind == "small" else 0
    return [line[0] for line in lines[behind:]] + [line[1] for line in lines[behind:]]


def compare_reads(options: argparse.Namespace, places: list[Place]) -> bool:
    """Reads, and what is asked by name."""
    count = options.records
    kinds = {
        "small-read": (f"lseek and read of 40 bytes, {count} times, ns per pair", "ns", 1.0),
        "apart-read": ("pread of 40 bytes all over 64 MiB, ns", "ns", 1.0),
        "large-read": (f"read of 1 MiB, {options.megabytes} times, µs", "µs", 1e-3),
        "stat": ("stat of one name, µs", "µs", 1e-3),
        "open": ("open and close of one name, µs", "µs", 1e-3),
    }
    times: dict[str, dict[str, list[float]]] = {kind: {} for kind in kinds}
    for _ in range(options.rounds):
        for kind in kinds:
            for name, folder, preload in places:
                few = count if preload or name == "tmpfs" else count // 10
                size = options.megabytes << 20 if kind == "large-read" else few
                if kind in ("stat", "open"):
                    size = count // 20
                found = timed(folder, kind, size, 3, preload)
                times[kind].setdefault(name, []).extend(found[:3])
    good = True
    for kind, (what, unit, scale) in kinds.items():
        print(what)
        middle = {name: row(name, each, unit, scale) for name, each in times[kind].items()}
        part = middle["mount, preloaded"] / middle["tmpfs"]
        gain = middle["mount"] / middle["mount, preloaded"]
        if kind == "small-read":
            good &= ratio("preloaded ÷ tmpfs", part, "at most 0.2", part <= 0.2)
            good &= ratio("mount ÷ preloaded", gain, "at least 5", gain >= 5)
        elif kind == "large-read":
            good &= ratio("preloaded ÷ tmpfs", part, "at most 2", part <= 2)
            good &= ratio("mount ÷ preloaded", gain, "at least 1", gain >= 1)
        elif kind == "stat":
            least = middle["mount, preloaded"]
            good &= ratio("preloaded, µs", least, "at most 20", least <= 20)
        else:
            print(f"    preloaded ÷ tmpfs: {part:.2f}, mount ÷ preloaded: {gain:.2f}")
    return good


def start_up(repetitions: int, mount: Path) -> tuple[list[float], list[float]]:
    """Milliseconds that /bin/true takes, without and with the preload, in turn."""
    plain = dict(os.environ)
    loaded = plain | {"LD_PRELOAD": str(LIBRARY), "HAICHI_GASFS": str(mount)}
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repetitions):
        for env, into in zip((plain, loaded), times, strict=True):
            start = time.perf_counter()
            os.waitpid(os.posix_spawn("/bin/true", ["true"], env), 0)
            into.append((time.perf_counter() - start) * 1e3)
    return times


def processor_time(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def row(what: str, times: list[float], unit: str, scale: float = 1) -> float:
    """Prints the median, and gives it."""
    middle = statistics.median(times) * scale
    print(f"  {what:<44} {middle:10.2f} {unit}  ({min(times) * scale:.2f})")
    return middle


def ratio(what: str, value: float, bound: str, kept: bool) -> bool:
    """Prints a ratio beside what it is held to."""
    print(f"    {what}: {value:.3f}, held to {bound}: {'yes' if kept else 'NO'}")
    return kept


def measure(options: argparse.Namespace, room: Path) -> bool:
    """All figures; whether all bounds were kept."""
    tmpfs = Path(tempfile.mkdtemp(prefix="haichi-faces-", dir="/dev/shm"))
    good = True
    try:
        with memory_mount(room) as (mount, server), bindfs(room, tmpfs) as through:
            places: list[Place] = [
                ("tmpfs", tmpfs, None),
                ("mount", mount, None),
                ("mount, preloaded", mount, mount),
            ]
            if through:
                places.append(("bindfs to tmpfs", through, None))
            count = options.records
            small: dict[str, list[float]] = {}
            large: dict[str, list[float]] = {}
            for _ in range(options.rounds):
                for name, folder, preload in places:
                    few = count if name in ("tmpfs", "mount, preloaded") else count // 10
                    small.setdefault(name, []).extend(timed(folder, "small", few, 5, preload))
                    large.setdefault(name, []).extend(
                        timed(folder, "large", options.megabytes << 20, 2, preload)
                    )
            middle = {}
            print(f"lseek and write of 40 bytes, {count} times, ns per pair")
            for name, times in small.items():
                calls = [t for i in range(0, len(times), 10) for t in times[i : i + 5]]
                stored = [t for i in range(0, len(times), 10) for t in times[i + 5 : i + 10]]
                middle[name] = row(name, calls, "ns")
                row(f"{name}, fsync counted in", stored, "ns")
            part = middle["mount, preloaded"] / middle["tmpfs"]
            good &= ratio("preloaded ÷ tmpfs", part, "at most 0.1", part <= 0.1)
            gain = middle["mount"] / middle["mount, preloaded"]
            good &= ratio("mount ÷ preloaded", gain, "at least 5", gain >= 5)
            print(f"write of 1 MiB, {options.megabytes} times, and close, µs per MiB")
            for name, times in large.items():
                stored = [t for i in range(0, len(times), 4) for t in times[i + 2 : i + 4]]
                middle[name] = row(name, stored, "µs", 1e-3)
            part = middle["mount, preloaded"] / middle["tmpfs"]
            good &= ratio("preloaded ÷ tmpfs", part, "at most 2", part <= 2)
            if through:
                part = middle["mount, preloaded"] / middle["bindfs to tmpfs"]
                good &= ratio("preloaded ÷ bindfs", part, "at most 1", part <= 1)
            good &= compare_reads(options, places)
            plain, loaded = start_up(options.starts, mount)
            print(f"start of /bin/true, {options.starts} times")
            more = row("preloaded", loaded, "ms") - row("plain", plain, "ms")
            good &= ratio("difference in ms", more, "below 2", more < 2)
            before = processor_time(server)
            time.sleep(options.idle)
            used = (processor_time(server) - before) / options.idle * 100
            print(f"dispatcher that nobody asks, {options.idle} s")
            good &= ratio("per cent of a processor", used, "0", used == 0)
    finally:
        shutil.rmtree(tmpfs)
    return good


def main() -> int:
    """Command line; see the head of this file."""
    parser = argparse.ArgumentParser(prog="haichi figures faces", description=__doc__)
    parser.add_argument("--records", type=int, default=20000, help="(default: %(default)s)")
    parser.add_argument("--megabytes", type=int, default=64, help="(default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="(default: %(default)s)")
    parser.add_argument("--starts", type=int, default=100, help="(default: %(default)s)")
    parser.add_argument("--idle", type=float, default=10, help="seconds (default: %(default)s)")
    options = parser.parse_args()
    for needed in (LIBRARY, BUILD / "bin/records", BUILD / "bin/gasfs-memory-mount"):
        if not needed.exists():
            print(
                f"haichi figures faces: no {needed}: install libfuse3-dev, then ./haichi test "
                "--only gasfs builds it",
                file=sys.stderr,
            )
            return BAD_INPUT
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        print("haichi figures faces: /dev/fuse can't be used here: run as root", file=sys.stderr)
        return BAD_INPUT
    room = Path(tempfile.mkdtemp(prefix="haichi-faces-"))
    try:
        return 0 if measure(options, room) else 1
    finally:
        shutil.rmtree(room)


if __name__ == "__main__":
    sys.exit(main())
