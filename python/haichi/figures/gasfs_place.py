"""A gather file system for a measurement, on nodes of a lab or on this machine, and programs that
run on its nodes together. The words that enter a node come before each program; there are none for
this machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from haichi_processes import runner

from haichi import paths
from haichi.gasfs.daemons import GasfsError

HAICHI = [sys.executable, "-m", "haichi", "gasfs"]
LIMIT = 3600.0  # seconds of one run
Enter = Sequence[str]


def together(commands: Sequence[Sequence[str | Path]], limit: float = LIMIT) -> list[str]:
    """Runs commands at the same time; what each prints.

    Raises:
        GasfsError: one fails, or does not end in time.
    """
    with ThreadPoolExecutor(len(commands)) as pool:
        outcomes = list(pool.map(lambda words: runner.run(words, timeout=limit), commands))
    for words, done in zip(commands, outcomes, strict=True):
        if done.code:
            raise GasfsError(f"{' '.join(map(str, words))}: {done.last_error or done.how}")
    return [done.out for done in outcomes]


def preloaded(mount: Path) -> list[str]:
    """The words before a program that goes to the file system by the preload."""
    library = paths.build() / "lib" / "libhaichi-posix.so"
    return ["env", f"LD_PRELOAD={library}", f"HAICHI_GASFS={mount}"]


@contextmanager
def file_system(
    folder: Path,
    servers: Sequence[Enter],
    clients: Sequence[Enter],
    start: Sequence[str],
    mount: Sequence[str] = (),
) -> Iterator[Path]:
    """One with a server on each of some nodes, that all clients have mounted: where. `start` and
    `mount` are options of these commands.

    Raises:
        GasfsError: it does not start, or not all is stored at the end.
    """
    common = ["--for", f"{LIMIT:.0f}"]
    where = folder.with_name(f"{folder.name}-mnt")
    nodes = [*servers, *(client for client in clients if client not in servers)]
    try:
        words = [*HAICHI, "start", str(folder), "--no-mount", *common, *start]
        together([*_launched(servers, words)])
        words = [*HAICHI, "mount", str(folder), str(where), *common, *mount]
        together([[*client, *words] for client in clients])
        yield where
    finally:
        together([*_launched(nodes, [*HAICHI, "stop", str(folder)])])


def _launched(nodes: Sequence[Enter], words: Sequence[str]) -> Iterator[list[str]]:
    """A command on each node, as a launcher starts it."""
    for rank, enter in enumerate(nodes):
        told = [f"PMI_RANK={rank}", f"PMI_SIZE={len(nodes)}", "MPI_LOCALRANKID=0"]
        yield [*enter, "env", *told, *words]
