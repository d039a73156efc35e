"""Records made up for tests: whole lines of the form haichi.record/1."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Line = dict[str, Any]


def head(ranks: int = 4, per_node: int = 2, **more: Any) -> Line:
    """The first line; ranks fill one node after the other."""
    nodes = [
        {"name": f"n{first // per_node}", "ranks": f"{first}-{min(first + per_node, ranks) - 1}"}
        for first in range(0, ranks, per_node)
    ]
    return {
        "kind": "record",
        "schema": "haichi.record/1",
        "by": "haichi 0.1.0",
        "started": "2026-01-02T03:04:05Z",
        "program": ["./app", "-n", "3"],
        "abi": "mpich",
        "ranks": ranks,
        "placement": {"schema": "haichi.placement/1", "nodes": nodes},
        "signature": {
            "library": "Known MPI 1.0",
            "processor": "known",
            "cores": per_node,
            "node_names": [node["name"] for node in nodes],
        },
        "sync": False,
        "sequence": False,
    } | more


def world(ranks: int = 4) -> Line:
    """MPI_COMM_WORLD."""
    return {
        "kind": "communicator",
        "id": 0,
        "name": "MPI_COMM_WORLD",
        "members": f"0-{ranks - 1}" if ranks > 1 else "0",
    }


def rank(number: int, wall: float = 10.0, mpi: float = 4.0, **more: Any) -> Line:
    """A rank as a whole."""
    return {
        "kind": "rank",
        "rank": number,
        "wall_s": wall,
        "mpi_s": mpi,
        "compute_s": wall - mpi,
        "calls": 10,
        "finalized": True,
    } | more


def call(ranks: str, function: str, count: int, total: float, **more: Any) -> Line:
    """Calls of one kind; each took the mean unless `more` says otherwise."""
    each = total / count
    return {
        "kind": "call",
        "ranks": ranks,
        "function": function,
        "count": count,
        "first_s": each,
        "total_s": total,
        "least_s": each,
        "most_s": each,
    } | more


def traffic(number: int, to: dict[int, int], messages: int = 1) -> Line:
    """What a rank sent: bytes to each other."""
    return {
        "kind": "traffic",
        "rank": number,
        "way": "message",
        "to": list(to),
        "messages": [messages] * len(to),
        "bytes": list(to.values()),
    }


def sequence(number: int, events: list[Line], program: list[Any]) -> Line:
    """The order of a rank's calls."""
    return {"kind": "sequence", "rank": number, "cut": False, "events": events, "program": program}


def end(ranks: int = 4) -> Line:
    """The last line."""
    return {"kind": "end", "ranks": ranks, "calls": 40}


def write(path: Path, *lines: Line | Iterable[Line]) -> Path:
    """A record of these lines."""
    flat: list[Line] = []
    for each in lines:
        flat += [each] if isinstance(each, dict) else each
    path.write_text("".join(json.dumps(line) + "\n" for line in flat))
    return path


def small(path: Path) -> Path:
    """Four ranks on two nodes: messages to the next, an all-reduce for which rank 3 is late."""
    return write(
        path,
        head(),
        world(),
        {"kind": "site", "id": 0, "object": "/gone/app", "offset": 4660},
        [rank(number) for number in range(4)],
        call("0-3", "MPI_Send", 100, 1.0, bytes=65536, comm=0, place="node", site=0, least_s=0.005),
        call("0-2", "MPI_Allreduce", 50, 3.0, bytes=8, comm=0, site=0),
        call("3", "MPI_Allreduce", 50, 0.5, bytes=8, comm=0, site=0),
        call("0-3", "MPI_Alltoall", 10, 0.25, bytes=1024, comm=0),
        [traffic(number, {(number + 1) % 4: 6553600}) for number in range(4)],
        end(),
    )
