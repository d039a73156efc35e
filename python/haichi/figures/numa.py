"""`haichi figures numa`: paper 003's Figs. 7 and 8 from a model of its machine, labelled as that.

The model is a closed queueing network, solved by Schweitzer's approximate mean value analysis: each
I/O thread goes round between its own work, the memory controllers that it reads from and writes
to, and, for what is remote, the node that serves it. A controller or a node's service gets slower
by a constant for each further stream beyond some; the slowest thread ends the call, for the request
is split into equal parts. Rates are GiB/s.

Three numbers are fitted (PARAMETERS says which), so that the peaks lie where the paper has them and
pull is 0.6 of local; the curves between are then the model's. The paper prints no other values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from haichi.figures import record
from haichi.figures.command import keep

NODES = 4
THREADS = (1, *range(4, 33, 4))
HOPS = ((0, 1, 1, 2), (1, 0, 2, 1), (1, 2, 0, 1), (2, 1, 1, 0))  # Fig. 4
MEASURED_NODE = 1  # of section 8: four threads there
ROUNDS, CLOSE = 200, 1e-7  # of the fixed point


@dataclass(frozen=True)
class Parameters:
    """Of the machine. Each says where it is from."""

    thread: float = 2.4  # one local thread; assumed, the paper has no number
    controller: float = 28.54  # a node's memory, fitted: the peak is 31.58 then
    write_weight: float = 2.0  # a byte written is read before (write-allocate)
    controller_free: int = 8  # streams that a controller serves without loss; assumed
    controller_loss: float = 0.02  # for each further one; assumed
    served: float = 5.5  # what a node gives to others; fitted: pull is 0.6 of local
    served_free: int = 3  # remote threads that it serves without loss; assumed
    served_loss: float = 0.06  # for each further one; fitted: the peak on one node is at 8
    remote_write: float = 1.6  # of a byte written from afar, to one read; assumed
    second_hop: float = 0.3  # more of the service for two hops; assumed


@dataclass(frozen=True)
class Path3:
    """Threads that read from one node, run on another and write to a third."""

    threads: int
    source: int
    on: int
    target: int


@dataclass(frozen=True)
class Claim:
    """What the paper prints, and what the model has."""

    what: str
    paper: float
    model: float

    @property
    def error(self) -> float:
        """Per cent of the paper's value."""
        return 100 * (self.model - self.paper) / self.paper


def thread_rates(paths: Sequence[Path3], of: Parameters) -> list[float]:
    """GiB/s of one thread of each path, while all of them run."""
    streams = [0] * NODES
    remote = [0] * NODES
    for each in paths:
        for end in (each.source, each.target):
            streams[end] += each.threads
            remote[end] += each.threads if end != each.on else 0
    demands = [_demands(each, streams, remote, of) for each in paths]
    own = max(1 / of.thread - (1 + of.write_weight) / of.controller, 0.0)
    queues = [{k: each.threads / len(d) for k in d} for each, d in zip(paths, demands, strict=True)]
    rates = [0.0] * len(paths)
    for _ in range(ROUNDS):
        whole: dict[tuple[str, int], float] = {}
        for queue in queues:
            for station, length in queue.items():
                whole[station] = whole.get(station, 0) + length
        change = 0.0
        for i, (each, demand) in enumerate(zip(paths, demands, strict=True)):
            waits = {
                station: need * (1 + whole[station] - queues[i][station] / each.threads)
                for station, need in demand.items()
            }
            rates[i] = 1 / (own + sum(waits.values()))
            for station, wait in waits.items():
                length = each.threads * rates[i] * wait
                change = max(change, abs(length - queues[i][station]))
                queues[i][station] = length
        if change < CLOSE:
            break
    return rates


def _demands(
    path: Path3, streams: Sequence[int], remote: Sequence[int], of: Parameters
) -> dict[tuple[str, int], float]:
    """Seconds that a GiB keeps each station busy."""
    found: dict[tuple[str, int], float] = {}
    for end, weight, far in (
        (path.source, 1.0, 1.0),
        (path.target, of.write_weight, of.remote_write),
    ):
        crowd = max(streams[end] - of.controller_free, 0)
        key = ("controller", end)
        need = weight * (1 + of.controller_loss * crowd) / of.controller
        found[key] = found.get(key, 0) + need
        if end != path.on:
            crowd = max(remote[end] - of.served_free, 0)
            hops = 1 + of.second_hop * (HOPS[end][path.on] - 1)
            key = ("served", end)
            need = far * hops * (1 + of.served_loss * crowd) / of.served
            found[key] = found.get(key, 0) + need
    return found


def on_each_node(threads: int, of: Parameters) -> float:
    """Fig. 7: the buffer lies in equal parts on all nodes, and each thread's is local."""
    if threads == 1:  # on node 0, which reads one part after the other
        times = [1 / thread_rates([Path3(1, s, 0, 0)], of)[0] for s in range(NODES)]
        return NODES / sum(times)
    paths = [Path3(threads // NODES, node, node, node) for node in range(NODES)]
    return threads * min(thread_rates(paths, of))


def on_one_node(threads: int, of: Parameters) -> float:
    """Fig. 7: all of the buffer lies on node 0."""
    if threads == 1:
        return thread_rates([Path3(1, 0, 0, 0)], of)[0]
    paths = [Path3(threads // NODES, 0, node, node) for node in range(NODES)]
    return threads * min(thread_rates(paths, of))


def along(source: int, target: int, of: Parameters) -> float:
    """Fig. 8: four threads on node 1."""
    return NODES * thread_rates([Path3(NODES, source, MEASURED_NODE, target)], of)[0]


def peak(curve: dict[int, float]) -> int:
    """The number of threads with the highest rate."""
    return max(curve, key=lambda threads: curve[threads])


def claims(of: Parameters) -> list[Claim]:
    """Every number that sections 7 and 8 print."""
    each = {n: on_each_node(n, of) for n in THREADS}
    one = {n: on_one_node(n, of) for n in THREADS}
    local, pull = along(1, 1, of), along(0, 1, of)
    return [
        Claim("on-each-node: threads at the peak", 24, peak(each)),
        Claim("on-each-node: GiB/s there", 31.58, each[24]),
        Claim("on-one-node: threads at the peak", 8, peak(one)),
        Claim("pull to local, 4 threads", 0.6, pull / local),
    ]


def order_holds(of: Parameters) -> bool:
    """Whether what the paper says in words is so: local > pull > push = relay (within a tenth) >
    round trip; two hops slower; one thread faster on one node, four and more on each node."""
    local, pull, push = along(1, 1, of), along(0, 1, of), along(1, 0, of)
    relay, round_trip = along(3, 0, of), along(0, 0, of)
    routes = local > pull > push and abs(push - relay) < 0.1 * push and relay > round_trip
    hops = along(2, 1, of) < pull and along(1, 2, of) < push
    single = on_one_node(1, of) > on_each_node(1, of)
    several = all(on_each_node(n, of) > on_one_node(n, of) for n in THREADS[1:])
    return routes and hops and single and several


def figure_7(of: Parameters) -> Table:
    """As a table."""
    table = Table("threads", "on each node", "on one node", title="Fig. 7, MODEL: GiB/s of a write")
    for n in THREADS:
        table.add_row(str(n), f"{on_each_node(n, of):.2f}", f"{on_one_node(n, of):.2f}")
    return table


def figure_8(of: Parameters) -> Table:
    """As a table."""
    table = Table(
        "buffer on",
        *(f"cache on {target}" for target in range(NODES)),
        title="Fig. 8, MODEL: GiB/s of 4 threads on node 1",
    )
    for source in range(NODES):
        rates = (f"{along(source, target, of):.2f}" for target in range(NODES))
        table.add_row(str(source), *rates)
    return table


def command(
    out: Annotated[
        Path | None, typer.Option(help="The JSON file to write (haichi.numa-model/1).")
    ] = None,
) -> None:
    """Paper 003's Figs. 7 and 8 from a model of its machine, beside what the paper prints."""
    of, console = Parameters(), record.console()
    console.print(figure_7(of))
    console.print(figure_8(of))
    table = Table("what the paper prints", "paper", "model", "error")
    for each in claims(of):
        table.add_row(each.what, f"{each.paper:g}", f"{each.model:.3g}", f"{each.error:+.1f} %")
    console.print(table)
    held = "holds" if order_holds(of) else "does NOT hold"
    console.print(f"the order of paths, hops and placements that it says in words {held}")
    console.print(
        "a fit with three numbers, no prediction: docs/guide/numaio.md#the-papers-figures"
    )
    keep(_document(of), out, "numa")


def _document(of: Parameters) -> dict[str, object]:
    return {
        "schema": "haichi.numa-model/1",
        "parameters": vars(of),
        "on_each_node": {str(n): on_each_node(n, of) for n in THREADS},
        "on_one_node": {str(n): on_one_node(n, of) for n in THREADS},
        "paths": [[along(s, d, of) for d in range(NODES)] for s in range(NODES)],
        "claims": [
            {"what": each.what, "paper": each.paper, "model": each.model} for each in claims(of)
        ],
    }
