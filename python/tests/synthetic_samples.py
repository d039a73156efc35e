"""Samples files made up for tests: whole records of the form haichi.samples/1."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def launch(number: int = 1, ranks: int = 2, **more: Any) -> Record:
    """The first line of a launch; all ranks on one node unless `nodes_of_ranks` says more."""
    made = {
        "schema": "haichi.samples/1",
        "kind": "launch",
        "launch": number,
        "haichi": "0.1.0",
        "started": "2026-01-02T03:04:05Z",
        "library": "MPICH Version: 4.0.2",
        "mpi": "4.0",
        "compiled_for": "4.0",
        "job_ranks": ranks,
        "node_names": ["n0"],
        "nodes_of_ranks": [0] * ranks,
        "binding": [{"core": rank, "cores": 1, "numa": 0} for rank in range(ranks)],
        "bound_by_haichi": True,
        "host_cores": [ranks] * ranks,
        "oversubscribed": False,
        "reference": True,
        "under": False,
        "tuning": {},
        "kernel": "Linux 6.1",
        "processor": "a processor",
        "governor": "",
        "load": "0.10",
        "cgroup_cpu": "",
        "cgroup_memory": "",
        "init_seconds": 0.1,
        "clock": "CLOCK_MONOTONIC",
        "clock_cost": 25e-9,
        "clock_resolution": 1e-9,
        "wtime_cost": 25e-9,
        "wtime_resolution": 1e-9,
        "seed": 1,
        "within": 0.02,
    }
    return made | more


def measurement(name: str = "ping-pong", **more: Any) -> Record:
    """An entry of the catalogue."""
    made = {
        "kind": "measurement",
        "name": name,
        "group": "point-to-point",
        "functions": ["MPI_Send", "MPI_Recv"],
        "section": "3.2",
        "timed": "Send, Recv; the other Recv, Send",
        "sample": "one round trip",
        "formula": "sample / 2",
        "buffers": "the same, warm",
        "who": "pair",
        "start": "back to back",
        "over": "first rank",
        "sized": True,
        "unit": "s",
    }
    return made | more


def point(
    median: float,
    name: str = "ping-pong",
    size: int = 8,
    place: str = "node",
    number: int = 1,
    **more: Any,
) -> Record:
    """A point whose samples lie within a tenth of their median."""
    made = {
        "kind": "point",
        "launch": number,
        "name": name,
        "place": place,
        "bytes": size,
        "samples": 100,
        "batch": 1,
        "visits": 3,
        "median": median,
        "median_low": median * 0.99,
        "median_high": median * 1.01,
        "narrow": True,
        "p5": median * 0.95,
        "p95": median * 1.05,
        "p99": median * 1.08,
        "least": median * 0.9,
        "most": median * 1.1,
        "mean": median * 1.001,
        "first": median * 3,
        "bins": [],
        "counts": [],
    }
    return made | more


def write(path: Path, records: Iterable[Record]) -> Path:
    """The file of some records."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path
