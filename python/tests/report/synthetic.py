"""Reports as a run would write them, made up: HPIO's pattern on any number of nodes and cycles."""

from __future__ import annotations

import random
from typing import Any

SPEED = {"rank": 1.0, "pairwise": 0.8, "nd_shift": 0.7, "nd_rank_shift": 0.6}


def report(
    nodes: int = 4,
    per_node: int = 4,
    cycles: int = 4,
    calls: int = 2,
    order: str = "nd_rank_shift",
    layout: str = "roundrobin",
    seed: int = 1,
    passed_through: bool = False,
) -> dict[str, Any]:
    """A `haichi.report/1` document.

    Even calls write (with holes, by read-modify-write), odd calls read. `passed_through` adds one
    more file whose accesses the MPI library did.
    """
    ranks = nodes * per_node
    maker = _Maker(nodes, per_node, cycles, order, layout, random.Random(seed))
    files = [maker.file(calls)]
    if passed_through:
        files.append(_passed_through(len(files[0]["calls"])))
    names = maker.names
    return {
        "schema": "haichi.report/1",
        "haichi": "0.1.0",
        "program": {
            "command": "./hpio --size 3744 --space 256 --count 1500 out.dat",
            "ranks": ranks,
            "started": "2026-01-01T00:00:00Z",
            "wall_s": round(maker.clock / 1e6 + 0.6, 6),
            "job": None,
        },
        "mpi": {"abi": "openmpi", "library": "Open MPI v4.1.4, package: Debian Open MPI"},
        "placement": {
            "schema": "haichi.placement/1",
            "nodes": [
                {"name": name, "ranks": f"{n * per_node}-{(n + 1) * per_node - 1}"}
                if per_node > 1
                else {"name": name, "ranks": str(n)}
                for n, name in enumerate(names)
            ],
            "places": [{"core": r % per_node, "cores": 1, "numa": 0} for r in range(ranks)],
        },
        "settings": [
            {"key": "disable", "value": "0", "source": "default"},
            {"key": "io.buffer", "value": "1M", "source": "hint"},
            {"key": "io.layout", "value": layout, "source": "default"},
            {
                "key": "io.order",
                "value": order,
                "source": "default" if order == "nd_rank_shift" else "environment",
            },
            {"key": "io.window", "value": "32", "source": "default"},
        ],
        "notes": ["MPI_File_iwrite_all is passed through to the MPI library (3 times)"]
        if passed_through
        else [],
        "files": files,
        "traffic": {"nodes": names, "bytes": maker.traffic},
        "ranks": maker.ranks,
    }


class _Maker:
    def __init__(
        self, nodes: int, per_node: int, cycles: int, order: str, layout: str, rng: random.Random
    ) -> None:
        self.nodes, self.per_node, self.cycles = nodes, per_node, cycles
        self.order, self.layout, self.rng = order, layout, rng
        self.names = [f"n{n}" for n in range(nodes)]
        packed = layout == "packed"
        step = 1 if packed else per_node
        self.aggregators = [a * step for a in range(nodes)]
        self.traffic = [[0] * nodes for _ in range(nodes)]
        self.clock = 1500.0
        self.ranks: list[dict[str, Any]] = [
            {
                "rank": r,
                "node": r // per_node,
                "seconds": {"read": 0.0, "exchange": 0.0, "write": 0.0, "agree": 0.0},
                "bytes": {"read": 0, "exchange": 0, "write": 0},
                "events": [],
                "events_dropped": 0,
            }
            for r in range(nodes * per_node)
        ]

    def file(self, calls: int) -> dict[str, Any]:
        return {
            "path": "out.dat",
            "access": "collective",
            "opens": 2,
            "hints": {"cb_buffer_size": "1048576", "cb_nodes": str(self.nodes)},
            "ignored_hints": ["romio_ds_write"],
            "calls": [self.call(index, writing=index % 2 == 0) for index in range(calls)],
            "calls_not_listed": 0,
            "flattening": {
                "view_blocks": 1500,
                "view_bytes": 224,
                "memory_blocks": 3,
                "memory_bytes": 512,
                "others_bytes": 8192,
            },
        }

    def call(self, index: int, writing: bool) -> dict[str, Any]:
        begin = self.clock
        share = 1500 * 3744 // self.cycles
        inside = between = 0
        for r, rank in enumerate(self.ranks):
            at = begin + self.rng.uniform(0, 400)
            at = self.add(rank, index, 0, "agree", at, self.rng.uniform(300, 800), 0)
            aggregator = r in self.aggregators
            for cycle in range(self.cycles):
                if aggregator and (writing or cycle >= 0):
                    at = self.add(rank, index, cycle, "read", at, self.rng.uniform(800, 2500),
                                  share * self.per_node)  # fmt: skip
                mean = 40000 * SPEED[self.order] * (1.0 if aggregator else 0.93)
                at = self.add(rank, index, cycle, "exchange", at,
                              mean * self.rng.uniform(0.9, 1.1), share)  # fmt: skip
                if aggregator and writing:
                    at = self.add(rank, index, cycle, "write", at, self.rng.uniform(3000, 9000),
                                  share * self.per_node)  # fmt: skip
                inside, between = self.send(r, share, inside, between)
            self.clock = max(self.clock, at)
        seconds = (self.clock - begin) / 1e6
        self.clock += 20000
        count = len(self.aggregators)
        return {
            "index": index,
            "call": "MPI_File_write_all" if writing else "MPI_File_read_all",
            "handled": True,
            "bytes": 1500 * 3744 * len(self.ranks),
            "file_begin": 0,
            "file_end": 1500 * 4000 * len(self.ranks),
            "seconds": round(seconds, 6),
            "aggregators": self.aggregators,
            "layout": self.layout,
            "order": self.order,
            "window": 32,
            "cycles": self.cycles,
            "holes": "rmw" if writing else "none",
            "why": [
                f"{count} aggregators: one per node ({self.nodes} nodes), cb_nodes not given",
                f"layout {self.layout}: the default" if self.layout == "roundrobin"
                else "layout packed: set by HAICHI_IO_LAYOUT",
                f"order {self.order}: peers on other nodes first, each rank begins elsewhere",
                "holes rmw: 6.4 % of the range is not written, in pieces of 256 B",
            ],
            "bytes_inside": inside,
            "bytes_between": between,
            "messages_between": 1200,
            "bytes_must_cross": between // 2,
        }  # fmt: skip

    def send(self, rank: int, share: int, inside: int, between: int) -> tuple[int, int]:
        """Spreads `share` bytes of one rank over the aggregators' nodes."""
        home = rank // self.per_node
        part = share // len(self.aggregators)
        for aggregator in self.aggregators:
            node = aggregator // self.per_node
            self.traffic[home][node] += part
            if node == home:
                inside += part
            else:
                between += part
        return inside, between

    def add(
        self, rank: dict[str, Any], call: int, cycle: int, phase: str, at: float, us: float, n: int
    ) -> float:
        """One event; returns its end in microseconds."""
        begin, end = round(at, 3), round(at + us, 3)
        rank["events"].append([call, cycle, phase, begin, end, n])
        rank["seconds"][phase] = round(rank["seconds"][phase] + us / 1e6, 9)
        if phase != "agree":
            rank["bytes"][phase] += n
        return end


def _passed_through(index: int) -> dict[str, Any]:
    return {
        "path": "ckpt/restart.h5",
        "access": "passed through",
        "opens": 1,
        "hints": {},
        "ignored_hints": [],
        "calls": [
            {
                "index": index,
                "call": "MPI_File_write_at_all",
                "handled": False,
                "bytes": 65536,
                "seconds": 0.031,
                "why": ["passed through: atomic mode is on"],
            }
        ],
        "calls_not_listed": 0,
    }
