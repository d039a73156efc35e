"""`haichi figures gasfs-counts` and `gasfs-btio`: paper 002's tables 2 and 3, as far as one machine
can show them: how many requests and seeks arranging leaves of BTIO's, by arithmetic, and what a
program that writes as BTIO does takes on the file system itself."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, TypedDict, cast

import typer
from rich.table import Table

from haichi import paths, programs
from haichi.figures import record
from haichi.figures.command import INVALID, keep, one_line, progress_on_errors
from haichi.figures.gasfs_peers import PEERS, Peer, Site, mounted
from haichi.figures.gasfs_place import HAICHI, LIMIT, Enter, file_system, preloaded, together
from haichi.figures.places import temporary_lab, temporary_machine
from haichi.gasfs.daemons import PROGRAM, GasfsError
from haichi.gasfs.launch import LOOPBACK
from haichi.lab import Lab
from haichi.mpi import Missing
from haichi.units import size_of

STRIPE = "64k"  # the paper's block
PEER_LIMIT = (
    600.0  # seconds of one run on a file system of others, whose nodes may wait for each other
)
GATHER_US = 50_000  # that a server waits for other nodes, where it is told to
# Paper 002, table 3: requests and seeks on 8 nodes with 2 ranks each.
PAPER = {
    "A": (10490880, 666575, 2287540, 666259),
    "B": (42468984, 3057766, 8512074, 1713626),
    "C": (170142519, 11229406, 27801033, 4374196),
}


class Counted(TypedDict):
    """Requests and seeks."""

    requests: int
    seeks: int


class Counts(TypedDict):
    """What `haichi-gasfs btio` prints."""

    records: int
    unarranged: Counted
    snapshot: Counted
    whole: Counted


def counts(size: str, nodes: int, per_node: int, stripe: int, *, cyclic: bool = False) -> Counts:
    """By arithmetic.

    Raises:
        Missing: haichi is not built, or BT does not run so.
    """
    words = ["btio", "--class", size, "--nodes", str(nodes), "--per-node", str(per_node)]
    words += ["--stripe", str(stripe), *(["--cyclic"] if cyclic else [])]
    return cast(Counts, json.loads(programs.output(paths.program(PROGRAM), *words, timeout=LIMIT)))


def counts_command(
    sizes: Annotated[str, typer.Option("--classes", help="Of S, W, A, B, C.")] = "SWA",
    stripe: Annotated[str, typer.Option(help="Bytes of a stripe.")] = STRIPE,
    out: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
) -> None:
    """Count BTIO's requests with and without arranging, beside those of the paper's table 3."""
    table = Table("class", "nodes x ranks", "ranks", "records", "as they come", "arranged", "whole")
    table.add_column("the paper: as they come, arranged")
    rows: list[dict[str, object]] = []
    with one_line():
        for size in sizes:
            for nodes, per_node, cyclic in LAYOUTS:
                told = counts(size, nodes, per_node, size_of(stripe), cyclic=cyclic)
                row = {"class": size, "nodes": nodes, "per_node": per_node, "cyclic": cyclic}
                rows.append({**row, **told})
                paper = PAPER.get(size) if (nodes, per_node) == (8, 2) else None
                table.add_row(
                    size,
                    f"{nodes} x {per_node}",
                    "dealt out" if cyclic else "in blocks",
                    f"{told['records']:,}",
                    f"{told['unarranged']['requests']:,}",
                    f"{told['snapshot']['requests']:,}",
                    f"{told['whole']['requests']:,}",
                    f"{paper[0]:,}, {paper[1]:,}" if paper else "",
                )
    record.console().print(table)
    keep({"schema": "haichi.gasfs-counts/1", "stripe": stripe, "cases": rows}, out, "gasfs-counts")


LAYOUTS = [(1, 4, False), (4, 4, False), (4, 4, True), (8, 2, False), (8, 2, True)]


@dataclass
class Run:
    """One way to write the file, and what it took."""

    way: str
    seconds: float
    requests: int = 0
    seeks: int = 0
    disk_writes: int = 0
    written: int = 0
    whole: bool = True  # whether all reads back
    ended: bool = False  # before it was done, at its limit
    least: int = field(default=0)  # requests by arithmetic


@dataclass(frozen=True)
class Ways:
    """Who writes what, and where."""

    size: str
    nodes: int
    per_node: int
    stripe: int

    def writer(self, file: Path, node: int, *more: str) -> list[str | Path]:
        """The words of the program of one node."""
        words: list[str | Path] = [paths.program(PROGRAM), "write-btio", file]
        words += ["--class", self.size]
        words += ["--nodes", str(self.nodes), "--per-node", str(self.per_node)]
        return [*words, "--node", str(node), *more]


def run_all(commands: Sequence[Sequence[str | Path]], limit: float = LIMIT) -> float:
    """Runs one program on each node together; seconds of the longest.

    Raises:
        GasfsError: one fails.
    """
    begun = time.monotonic()
    together(commands, limit)
    return time.monotonic() - begun


def nodes_of(ways: Ways, lab: Lab | None) -> list[Enter]:
    """The words that enter each node."""
    return [node.enter() for node in lab.nodes[: ways.nodes]] if lab else [[]]


def on_gasfs(
    way: str,
    folder: Path,
    ways: Ways,
    lab: Lab | None,
    options: Sequence[str],
    *,
    preload: bool,
    gather_us: int = 0,
) -> Run:
    """The file system itself, with one server, by its mount or by the preload."""
    nodes = nodes_of(ways, lab)
    listen = lab.nodes[0].address if lab else LOOPBACK
    start = ["--listen", listen, "--stripe", str(ways.stripe)]
    start += ["--server-gather-us", str(gather_us)]
    with file_system(folder, nodes[:1], nodes, start, options) as mount:
        face = preloaded(mount) if preload else []
        file = mount / "bt"
        seconds = run_all(
            [[*enter, *face, *ways.writer(file, node)] for node, enter in enumerate(nodes)]
        )
        told = asked(folder, nodes[0])
        run = Run(way, seconds, told["write_requests"], told["write_seeks"])
        run.disk_writes, run.written = told["disk_writes"], told["written_bytes"]
        run.whole = reads_back(ways, nodes[-1], file)
    return run


def reads_back(ways: Ways, enter: Enter, file: Path) -> bool:
    """Whether a node sees all that was written."""
    try:
        run_all([[*enter, *ways.writer(file, 0, "--verify")]])
    except GasfsError:
        return False
    return True


def on_peer(peer: Peer, site: Site, ways: Ways) -> Run:
    """A file system of others, as it comes."""
    with mounted(peer, site) as mount:
        file = mount / "bt"
        commands = [[*enter, *ways.writer(file, node)] for node, enter in enumerate(site.enter)]
        begun = time.monotonic()
        try:
            run = Run(peer.name, run_all(commands, PEER_LIMIT))
        except GasfsError:
            if (took := time.monotonic() - begun) < PEER_LIMIT:
                raise
            return Run(peer.name, took, ended=True)
        run.whole = reads_back(ways, site.enter[-1], file)
    return run


def asked(folder: Path, enter: Enter) -> dict[str, int]:
    """What the one server tells, asked on its node."""
    (out,) = together([[*enter, *HAICHI, "status", folder, "--json"]])
    (told,) = cast("list[dict[str, int]]", json.loads(out)["servers"])
    return told


def on_tmpfs(folder: Path, ways: Ways) -> Run:
    """The node's own memory, as if it were all there is."""
    file = folder / "local"
    seconds = run_all([ways.writer(file, node) for node in range(ways.nodes)])
    file.unlink()
    return Run("local, in memory", seconds)


def btio_command(
    size: Annotated[str, typer.Option("--class", help="S, W or A.")] = "W",
    nodes: Annotated[int, typer.Option(min=1, help="Nodes; more than one needs the lab.")] = 1,
    per_node: Annotated[int, typer.Option(min=1, help="Ranks on each.")] = 4,
    rate: Annotated[str, typer.Option(help="Rate of each link of the lab.")] = "100mbit",
    stripe: Annotated[str, typer.Option(help="Bytes of a stripe.")] = STRIPE,
    peers: Annotated[
        bool, typer.Option(help="Other file systems too, those that are here.")
    ] = True,
    out: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
) -> None:
    """Write as BTIO's Fortran variant does: in memory, on other file systems, and on haichi's as
    requests come, arranged by the mount, and arranged by the preload."""
    progress = progress_on_errors()
    with one_line():
        try:
            ways = Ways(size, nodes, per_node, size_of(stripe))
            told = counts(size, nodes, per_node, ways.stripe)
            runs = measured(ways, rate, PEERS if peers else (), progress)
        except GasfsError as error:
            raise Missing(str(error)) from None
    table = Table(
        "way", "seconds", "requests", "seeks", "by arithmetic", "as writes", "all reads back"
    )
    for run in runs:
        arranged = told["unarranged"] if "as they come" in run.way else told["snapshot"]
        run.least = arranged["requests"] if run.requests else 0
        table.add_row(
            run.way,
            f"> {PEER_LIMIT:.0f}" if run.ended else f"{run.seconds:.2f}",
            f"{run.requests:,}" if run.requests else "",
            f"{run.seeks:,}" if run.requests else "",
            f"{run.least:,}" if run.least else "",
            f"{run.disk_writes:,}" if run.disk_writes else "",
            "" if run.ended else "yes" if run.whole else "NO",
        )
    record.console().print(table)
    document = {"schema": "haichi.gasfs-btio/1", "job": asdict(ways), "rate": rate}
    keep({**document, "runs": [asdict(run) for run in runs]}, out, "gasfs-btio")
    if not all(run.whole for run in runs):
        raise typer.Exit(INVALID)


def measured(
    ways: Ways, rate: str, peers: Sequence[Peer], progress: Callable[[str], None]
) -> list[Run]:
    """All ways, one after the other."""
    # A sub-buffer that holds what a node writes of a snapshot, and is sent when it has it.
    of_snapshot = str(max(4096, counts_bytes(ways)))
    arranged = ["--sub-buffer", of_snapshot, "--linger-ms", "60000"]
    if ways.nodes == 1:
        with temporary_machine() as machine:
            runs = each_way(machine.shared, ways, None, arranged, progress)
            return runs + each_peer(machine.shared, ways, None, peers, progress)
    with temporary_lab(ways.nodes, rate) as place:
        runs = each_way(place.lab.shared, ways, place.lab, arranged, progress)
        return runs + each_peer(place.lab.shared, ways, place.lab, peers, progress)


def counts_bytes(ways: Ways) -> int:
    """Bytes that a node writes of one snapshot."""
    side = {"S": 12, "W": 24, "A": 64, "B": 102, "C": 162, "D": 408}[ways.size]
    return side**3 * 40 // ways.nodes


def each_way(
    folder: Path, ways: Ways, lab: Lab | None, arranged: list[str], progress: Callable[[str], None]
) -> list[Run]:
    """All ways in one folder."""
    runs = []
    progress("local")
    runs.append(on_tmpfs(folder, ways))
    for way, options, preload, gather_us in (
        ("as they come, by the mount", ["--unarranged", *arranged], False, 0),
        ("arranged, by the mount", arranged, False, 0),
        ("arranged, by the preload", arranged, True, 0),
        ("arranged, by the preload, and in the server", arranged, True, GATHER_US),
    ):
        if gather_us and ways.nodes == 1:
            continue  # whose requests nobody else's stand beside
        progress(way)
        job = folder / f"job{len(runs)}"
        runs.append(on_gasfs(way, job, ways, lab, options, preload=preload, gather_us=gather_us))
        shutil.rmtree(job)
    return runs


def each_peer(
    folder: Path,
    ways: Ways,
    lab: Lab | None,
    peers: Sequence[Peer],
    progress: Callable[[str], None],
) -> list[Run]:
    """The file systems of others that are here; of the rest a line says how to have them."""
    address = lab.nodes[0].address if lab else LOOPBACK
    runs = []
    for number, peer in enumerate(peers):
        site = Site(nodes_of(ways, lab), address, folder / f"peer{number}")
        if missing := peer.missing(site):
            sys.stderr.write(missing + "\n")
            continue
        progress(peer.name)
        runs.append(on_peer(peer, site, ways))
        shutil.rmtree(site.folder)
    return runs
