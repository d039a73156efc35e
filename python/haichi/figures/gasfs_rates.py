"""`haichi figures gasfs-rates`: how fast the gather file system is on the nodes of a lab, beside
what the links carry: large pieces over one server and over several, pieces of IO500's ior-hard
beside contiguous ones, one file that many read, small files beside sshfs, and what a small write
takes of the processor with ever more processes. All by plain POSIX calls; what is read is compared
with what was written."""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from haichi_processes import runner
from rich.table import Table

from haichi import paths, programs
from haichi.figures import record
from haichi.figures.command import keep, one_line, progress_on_errors
from haichi.figures.gasfs_peers import PEERS, Site, mounted
from haichi.figures.places import temporary_lab
from haichi.gasfs.daemons import GasfsError
from haichi.lab import Keeper, Lab
from haichi.mpi import Missing

CLIENTS, SERVERS, PROCESSES = 4, 4, 4
LIMIT = 600.0  # seconds of one run
MIB = 1 << 20
HARD = 47_008  # bytes of a piece of ior-hard
SMALL_FILE = 4096
BEFORE = 0.5  # seconds from starting processes until they begin together
SETTLE = 0.3
UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


def bytes_per_second(rate: str) -> float:
    """What a rate of tc's carries.

    Raises:
        Missing: it has no unit.
    """
    for unit, factor in UNITS.items():
        with contextlib.suppress(ValueError):
            if rate.endswith(unit):
                return float(rate.removesuffix(unit)) * factor / 8
    raise Missing(f"--rate {rate}: give a number with one of {', '.join(UNITS)}")


@dataclass
class Figure:
    """One ratio, of the medians or the median of ratios, and what it is held to."""

    what: str
    bound: str
    ratios: list[float] = field(default_factory=list)
    good: bool = True

    @property
    def middle(self) -> float:
        """The median."""
        return statistics.median(self.ratios)


@dataclass(frozen=True)
class Job:
    """A file system of these servers that these clients have mounted."""

    folder: Path
    clients: Sequence[Keeper]
    preload: bool

    @property
    def mount(self) -> Path:
        """On each client."""
        return Path("/run") / f"haichi-{self.folder.name}"

    def words(self, client: Keeper) -> list[str]:
        """What comes before a program of that client."""
        words = client.enter()
        if self.preload:
            library = paths.build() / "lib" / "libhaichi-posix.so"
            words += ["env", f"LD_PRELOAD={library}", f"HAICHI_GASFS={self.mount}"]
        return words


@contextmanager
def file_system(lab: Lab, servers: int, clients: Sequence[Keeper], name: str) -> Iterator[Job]:
    """A file system with servers on the last nodes of the lab, each with its store in its own
    memory, mounted on the clients."""
    job = Job(lab.shared / name, clients, preload=True)
    haichi = [sys.executable, "-m", "haichi", "gasfs"]
    common = ["--for", f"{2 * LIMIT:.0f}"]
    nodes = lab.nodes[-servers:]
    started = [*haichi, "start", str(job.folder), "--no-mount", "--listen", "e0", *common]
    started += ["--store", "/dev/shm/haichi"]
    stop = [*haichi, "stop", str(job.folder)]
    launch = [
        ["env", f"PMI_RANK={rank}", f"PMI_SIZE={servers}", "MPI_LOCALRANKID=0"]
        for rank in range(servers)
    ]
    on_servers = [[*node.enter(), *words] for node, words in zip(nodes, launch, strict=True)]
    try:
        together([[*words, *started] for words in on_servers])
        mount = [*haichi, "mount", str(job.folder), str(job.mount), *common]
        together([[*client.enter(), *mount] for client in clients])
        yield job
    finally:
        together([[*client.enter(), *stop] for client in clients])
        together([[*words, *stop] for words in on_servers])


def together(commands: Sequence[Sequence[str | Path]]) -> list[str]:
    """Runs commands at the same time; what each prints.

    Raises:
        GasfsError: one fails.
    """
    with ThreadPoolExecutor(len(commands)) as pool:
        done = list(pool.map(lambda words: runner.run(words, timeout=LIMIT), commands))
    for each in done:
        if each.code:
            raise GasfsError(each.last_error or each.how)
    return [each.out for each in done]


def streams(
    enters: Sequence[Sequence[str]], path: Path, *words: object, processes: int
) -> tuple[float, float]:
    """Runs the ranks of all nodes at once; seconds until the last one was done, and of processor a
    rank."""
    program = programs.built(paths.program("streams"))
    ranks = len(enters) * processes
    at = time.monotonic() + BEFORE + 0.02 * ranks
    commands: list[list[str | Path]] = []
    for number, enter in enumerate(enters):
        own: list[str | Path] = [*enter, program, path, *map(str, words)]
        commands.append([*own, str(ranks), str(number * processes), str(processes), f"{at:.6f}"])
    told = [[float(word) for word in out.split()] for out in together(commands)]
    return max(seconds for seconds, _ in told), statistics.mean(each for _, each in told)


def fetched(lab: Lab, clients: Sequence[Keeper]) -> int:
    """Bytes that have come down the links of these nodes, the most of one."""
    names = {client.name for client in clients}
    rows = [row for row in lab.counters() if row["node"] in names and row["direction"] == "down"]
    return max(int(row["bytes"]) for row in rows)


def large(job: Job, servers: int, rate: float, size: int, figures: dict[str, Figure]) -> None:
    """1 MiB pieces, written and read, beside what the links of the servers or clients carry."""
    enters = [job.words(client) for client in job.clients]
    total = size * len(enters)
    ideal = total / (rate * min(servers, len(enters)))
    file = job.mount / f"large-{time.monotonic_ns()}"
    for way in ("write", "read"):
        if way == "read":  # by a node that has nothing of it
            enters = enters[1:] + enters[:1] if len(enters) > 1 else enters
        seconds, _ = streams(enters, file, way, "segments", MIB, size, processes=1)
        many = f"{servers} servers" if servers > 1 else "1 server"
        what = f"{way} of 1 MiB pieces, {many}: seconds ÷ those of the links"
        add(figures, what, "at most 1.1", seconds / ideal, lambda ratio: ratio <= 1.1)


def add(
    figures: dict[str, Figure], what: str, bound: str, ratio: float, good: Callable[[float], bool]
) -> None:
    """One more repetition of a figure."""
    figure = figures.setdefault(what, Figure(what, bound))
    figure.ratios.append(ratio)
    figure.good = good(figure.middle)


def hard(job: Job, size: int, figures: dict[str, Figure]) -> None:
    """Pieces of 47,008 bytes of all ranks in turns, beside contiguous segments of 1 MiB pieces."""
    enters = [job.words(client) for client in job.clients]
    turned = enters[1:] + enters[:1]
    each = size // PROCESSES
    times: dict[tuple[str, str], float] = {}
    for shape, piece in (("segments", MIB), ("interleaved", HARD)):
        file = job.mount / f"{shape}-{time.monotonic_ns()}"
        whole = max(1, each // piece) * piece
        for way, who in (("write", enters), ("read", turned)):
            seconds, _ = streams(who, file, way, shape, piece, whole, processes=PROCESSES)
            times[way, shape] = seconds / whole
    for way in ("write", "read"):
        ratio = times[way, "segments"] / times[way, "interleaved"]
        what = f"{way} of {HARD:,} bytes in turns: rate ÷ that of 1 MiB contiguous"
        add(figures, what, "at least 0.9", ratio, lambda ratio: ratio >= 0.9)


def shared(lab: Lab, job: Job, size: int, figures: dict[str, Figure]) -> None:
    """All processes of all nodes read one file."""
    file = job.mount / f"shared-{time.monotonic_ns()}"
    writer, *readers = [job.words(client) for client in job.clients]
    streams([writer], file, "write", "segments", MIB, size, processes=1)
    before = fetched(lab, job.clients[1:])
    ranks = len(readers) * PROCESSES
    program = programs.built(paths.program("streams"))
    at = f"{time.monotonic() + BEFORE + 0.02 * ranks:.6f}"
    # Each reads all of it: rank 0 of 1, in as many processes.
    own: list[str | Path] = [
        program,
        file,
        "read",
        "segments",
        str(MIB),
        str(size),
        "1",
        "0",
        "1",
        at,
    ]
    together([[*words, *own] for words in readers for _ in range(PROCESSES)])
    what = f"{ranks} processes on {len(readers)} nodes read one file: bytes over a link ÷ its size"
    ratio = (fetched(lab, job.clients[1:]) - before) / size
    add(figures, what, "at most 1.1", ratio, lambda ratio: ratio <= 1.1)


def small_files(lab: Lab, job: Job, files: int, figures: dict[str, Figure]) -> None:
    """Files of 4 KiB, made by one process, beside sshfs over the same links."""
    client = job.clients[0]
    ours = job.mount / f"files-{time.monotonic_ns()}"
    times = []
    together([[*client.enter(), "mkdir", str(ours)]])
    times.append(streams([job.words(client)], ours, "files", SMALL_FILE, files, processes=1)[0])
    sshfs = next(peer for peer in PEERS if peer.name == "sshfs")
    server = lab.nodes[-1]
    site = Site([server.enter(), client.enter()], server.address, lab.shared / f"s{os.getpid()}")
    if missing := sshfs.missing(site):
        sys.stderr.write(missing + "\n")
        return
    with mounted(sshfs, site) as mounts:
        times.append(
            streams([client.enter()], mounts[1], "files", SMALL_FILE, files, processes=1)[0]
        )
    together([["rm", "-rf", str(site.folder)]])
    what = f"{files:,} files of 4 KiB made, written and closed: seconds of sshfs ÷ those of haichi"
    add(figures, what, "at least 5", times[1] / times[0], lambda ratio: ratio >= 5)


def flat(job: Job, writes: int, figures: dict[str, Figure]) -> None:
    """Writes of 40 bytes by 1 to 16 processes of a node in turns."""
    enter = [job.words(job.clients[0])]
    cost = {}
    for processes in (1, 4, 16):
        file = job.mount / f"flat-{time.monotonic_ns()}"
        each = 40 * writes
        _, cost[processes] = streams(
            enter, file, "write", "interleaved", 40, each, processes=processes
        )
    what = "a write of 40 bytes by 16 processes of a node: its processor time ÷ that by one"
    add(figures, what, "at most 1.5", cost[16] / cost[1], lambda ratio: ratio <= 1.5)


def command(
    repetitions: Annotated[int, typer.Option(min=1, help="Of each figure, in turns.")] = 3,
    rate: Annotated[str, typer.Option(help="Rate of each link of the lab.")] = "100mbit",
    size: Annotated[int, typer.Option(min=4, help="MiB that each client writes.")] = 32,
    files: Annotated[int, typer.Option(min=1, help="Small files.")] = 1000,
    writes: Annotated[int, typer.Option(min=16, help="Of 40 bytes, of each process.")] = 50_000,
    out: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
) -> None:
    """Rates of the gather file system in the lab (root), beside what its links carry."""
    progress = progress_on_errors()
    figures: dict[str, Figure] = {}
    with one_line():
        carried = bytes_per_second(rate)
        try:
            with temporary_lab(CLIENTS + SERVERS, rate) as place:
                lab = place.lab
                with file_system(lab, 1, lab.nodes[:1], "one") as job:
                    for turn in range(repetitions):
                        progress(f"one server, {turn + 1} of {repetitions}")
                        large(job, 1, carried, size * MIB, figures)
                        small_files(lab, job, files, figures)
                        flat(job, writes, figures)
                with file_system(lab, SERVERS, lab.nodes[:CLIENTS], "many") as job:
                    for turn in range(repetitions):
                        progress(f"{SERVERS} servers, {turn + 1} of {repetitions}")
                        large(job, SERVERS, carried, size * MIB, figures)
                        hard(job, size * MIB, figures)
                        shared(lab, job, size * MIB, figures)
        except GasfsError as error:
            raise Missing(str(error)) from None
    table = Table("what", "median", "least and most", "held to", "")
    for each in figures.values():
        spread = f"{min(each.ratios):.2f} to {max(each.ratios):.2f}"
        table.add_row(
            each.what, f"{each.middle:.2f}", spread, each.bound, "yes" if each.good else "NO"
        )
    record.console().print(table)
    rows = [asdict(each) for each in figures.values()]
    keep({"schema": "haichi.gasfs-rates/1", "rate": rate, "figures": rows}, out, "gasfs-rates")
