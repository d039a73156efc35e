"""`haichi figures gasfs-rates`: how fast the gather file system is on the nodes of a lab, beside
what the links carry: large pieces over one server and over several, pieces of IO500's ior-hard
beside contiguous ones, one file that many read, one that is placed on all nodes before, small files
beside sshfs, and what a small write takes of the processor with ever more processes. All by plain
POSIX calls; what is read is compared with what was written."""

from __future__ import annotations

import math
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from haichi import paths, programs
from haichi.figures import record
from haichi.figures.command import keep, one_line, progress_on_errors
from haichi.figures.gasfs_peers import PEERS, Site, mounted
from haichi.figures.gasfs_place import Enter, file_system, preloaded, together
from haichi.figures.links import bytes_per_second
from haichi.figures.places import temporary_lab
from haichi.gasfs.daemons import GasfsError
from haichi.lab import Keeper, Lab
from haichi.mpi import Missing
from haichi.units import plural

CLIENTS, SERVERS, PROCESSES = 4, 4, 4
MIB = 1 << 20
HARD = 47_008  # bytes of a piece of ior-hard
SMALL_FILE = 4096
BEFORE = 0.5  # seconds from starting processes until they begin together


@dataclass(frozen=True)
class Bound:
    """What a ratio is held to."""

    least: float = 0
    most: float = math.inf

    def __str__(self) -> str:
        return f"at least {self.least:g}" if self.least else f"at most {self.most:g}"


@dataclass
class Figure:
    """One ratio, of each repetition."""

    what: str
    bound: Bound
    ratios: list[float] = field(default_factory=list)

    @property
    def middle(self) -> float:
        """The median."""
        return statistics.median(self.ratios)

    @property
    def good(self) -> bool:
        """Whether the median is within the bound."""
        return self.bound.least <= self.middle <= self.bound.most


class Figures(dict[str, Figure]):
    """All of them, by what they are."""

    def add(self, what: str, ratio: float, **bound: float) -> None:
        """One more repetition."""
        self.setdefault(what, Figure(what, Bound(**bound))).ratios.append(ratio)


@dataclass(frozen=True)
class Job:
    """A file system that clients have mounted."""

    clients: Sequence[Keeper]
    mount: Path

    def file(self, name: str) -> Path:
        """One that is not there yet."""
        return self.mount / f"{name}-{time.monotonic_ns()}"

    def enter(self) -> list[list[str]]:
        """What comes before a program of each client, by the preload."""
        return [[*client.enter(), *preloaded(self.mount)] for client in self.clients]


@contextmanager
def job_of(lab: Lab, servers: int, clients: Sequence[Keeper], name: str) -> Iterator[Job]:
    """A file system with servers on the last nodes of the lab, each with its store in its own
    memory."""
    start = ["--listen", "e0", "--store", f"/dev/shm/haichi-{name}"]
    on = [node.enter() for node in lab.nodes[-servers:]]
    seen_by = [client.enter() for client in clients]
    with file_system(lab.shared / name, on, seen_by, start) as mount:
        yield Job(clients, mount)


def streams(
    enters: Sequence[Enter], path: Path, *words: object, processes: int
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


def carried(lab: Lab, nodes: Sequence[Keeper], direction: str) -> list[int]:
    """Bytes that the links of these nodes have carried to them (down) or from them (up)."""
    bytes_of = {
        row["node"]: int(row["bytes"]) for row in lab.counters() if row["direction"] == direction
    }
    return [bytes_of[node.name] for node in nodes]


def fetched(lab: Lab, clients: Sequence[Keeper]) -> int:
    """Bytes that have come down the links of these nodes, the most of one."""
    return max(carried(lab, clients, "down"))


def large(job: Job, servers: int, rate: float, size: int, figures: Figures) -> None:
    """1 MiB pieces, written and read, beside what the links of the servers or clients carry."""
    enter = job.enter()
    ideal = size * len(enter) / (rate * min(servers, len(enter)))
    file = job.file("large")
    # Read by nodes that have nothing of it.
    for way, who in (("write", enter), ("read", enter[1:] + enter[:1])):
        seconds, _ = streams(who, file, way, "segments", MIB, size, processes=1)
        what = f"{way} of 1 MiB pieces, {plural(servers, 'server')}: seconds ÷ those of the links"
        figures.add(what, seconds / ideal, most=1.1)


def hard(job: Job, size: int, figures: Figures) -> None:
    """Pieces of 47,008 bytes of all ranks in turns, beside contiguous segments of 1 MiB pieces."""
    enter = job.enter()
    each = size // PROCESSES
    times: dict[tuple[str, str], float] = {}
    for shape, piece in (("segments", MIB), ("interleaved", HARD)):
        file = job.file(shape)
        whole = max(1, each // piece) * piece
        for way, who in (("write", enter), ("read", enter[1:] + enter[:1])):
            seconds, _ = streams(who, file, way, shape, piece, whole, processes=PROCESSES)
            times[way, shape] = seconds / whole
    for way in ("write", "read"):
        what = f"{way} of {HARD:,} bytes in turns: rate ÷ that of 1 MiB contiguous"
        figures.add(what, times[way, "segments"] / times[way, "interleaved"], least=0.9)


def shared(lab: Lab, job: Job, size: int, figures: Figures) -> None:
    """All processes of all nodes but the writer's read one file."""
    file = job.file("shared")
    writer, *readers = job.enter()
    streams([writer], file, "write", "whole", MIB, size, processes=1)
    before = fetched(lab, job.clients[1:])
    streams(readers, file, "read", "whole", MIB, size, processes=PROCESSES)
    ratio = (fetched(lab, job.clients[1:]) - before) / size
    ranks = len(readers) * PROCESSES
    what = f"{ranks} processes on {len(readers)} nodes read one file: bytes over a link ÷ its size"
    figures.add(what, ratio, most=1.1)


def broadcast(lab: Lab, job: Job, size: int, figures: Figures) -> None:
    """A file is placed on all nodes, and then read there by all processes."""
    file = job.file("broadcast")
    streams(job.enter()[:1], file, "write", "whole", MIB, size, processes=1)
    servers = lab.nodes[-SERVERS:]
    ways = ((servers, "up"), (job.clients, "down"), (job.clients, "up"))
    before = [carried(lab, *way) for way in ways]
    words = [sys.executable, "-m", "haichi", "gasfs", "broadcast", str(file)]
    together([[*job.clients[0].enter(), *words]])
    after = [carried(lab, *way) for way in ways]
    grown = [
        max(b - a for a, b in zip(*way, strict=True)) for way in zip(before, after, strict=True)
    ]
    what = f"a file placed on {len(job.clients)} nodes: bytes over the link of"
    figures.add(f"{what} a server ÷ its part of the file", grown[0] * SERVERS / size, most=1.1)
    figures.add(f"{what} a node, in ÷ the file's", grown[1] / size, most=1.1)
    figures.add(f"{what} a node, out ÷ the file's", grown[2] / size, most=1.1)
    streams(job.enter(), file, "read", "whole", MIB, size, processes=PROCESSES)
    ranks = PROCESSES * len(job.clients)
    read = max(b - a for a, b in zip(after[1], carried(lab, *ways[1]), strict=True))
    what = f"{ranks} processes read it there: bytes over a link ÷ the file's"
    figures.add(what, read / size, most=0.1)


def small_files(lab: Lab, job: Job, files: int, figures: Figures) -> None:
    """Files of 4 KiB, made by one process, beside sshfs over the same links."""
    client, server = job.clients[0].enter(), lab.nodes[-1]
    folder = job.file("files")
    together([[*client, "mkdir", str(folder)]])
    ours, _ = streams(job.enter()[:1], folder, "files", SMALL_FILE, files, processes=1)
    sshfs = next(peer for peer in PEERS if peer.name == "sshfs")
    site = Site([server.enter(), client], server.address, lab.shared / "sshfs")
    if missing := sshfs.missing(site):
        sys.stderr.write(missing + "\n")
        return
    with mounted(sshfs, site) as mount:
        theirs, _ = streams([client], mount, "files", SMALL_FILE, files, processes=1)
    shutil.rmtree(site.folder)
    what = f"{files:,} files of 4 KiB made, written and closed: seconds of sshfs ÷ those of haichi"
    figures.add(what, theirs / ours, least=5)


def flat(job: Job, writes: int, figures: Figures) -> None:
    """Writes of 40 bytes by 1 and by 16 processes of a node in turns."""
    cost = {}
    for processes in (1, 16):
        words = ("write", "interleaved", 40, 40 * writes)
        _, cost[processes] = streams(job.enter()[:1], job.file("flat"), *words, processes=processes)
    what = "a write of 40 bytes by 16 processes of a node: its processor time ÷ that by one"
    figures.add(what, cost[16] / cost[1], most=1.5)


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
    figures = Figures()
    with one_line():
        try:
            with temporary_lab(CLIENTS + SERVERS, rate) as place:
                lab = place.lab
                link = bytes_per_second(rate)
                with job_of(lab, 1, lab.nodes[:1], "one") as job:
                    for turn in range(repetitions):
                        progress(f"one server, {turn + 1} of {repetitions}")
                        large(job, 1, link, size * MIB, figures)
                        small_files(lab, job, files, figures)
                        flat(job, writes, figures)
                with job_of(lab, SERVERS, lab.nodes[:CLIENTS], "many") as job:
                    for turn in range(repetitions):
                        progress(f"{SERVERS} servers, {turn + 1} of {repetitions}")
                        large(job, SERVERS, link, size * MIB, figures)
                        hard(job, size * MIB, figures)
                        shared(lab, job, size * MIB, figures)
                        broadcast(lab, job, size * MIB, figures)
        except GasfsError as error:
            raise Missing(str(error)) from None
    table = Table("what", "median", "least and most", "held to", "")
    for each in figures.values():
        spread = f"{min(each.ratios):.2f} to {max(each.ratios):.2f}"
        table.add_row(
            each.what, f"{each.middle:.2f}", spread, f"{each.bound}", "yes" if each.good else "NO"
        )
    record.console().print(table)
    rows = [
        {"what": each.what, "bound": f"{each.bound}", "ratios": each.ratios, "good": each.good}
        for each in figures.values()
    ]
    keep({"schema": "haichi.gasfs-rates/1", "rate": rate, "figures": rows}, out, "gasfs-rates")
