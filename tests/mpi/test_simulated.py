"""The same access through a real MPI and through `haichi simulate`: one schedule, so the same
cycles, and the same messages, one by one in their order, on every rank."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import mpis
import pytest
from mpis import Mpi

HERE = Path(__file__).parent
TAG = 0  # of the messages of a collective access (src/mpi/access/two_phase_call.cpp)
CASES = 12
STRIPE = 64 << 10

Sent = dict[int, list[tuple[int, int]]]
"""Of each rank: to whom, and how many bytes."""


class Case(NamedTuple):
    """One collective access of HPIO's regions, drawn by a seed."""

    nodes: int
    per_node: int
    placement: str
    access: str
    options: dict[str, str]
    """Of `haichi simulate hpio`."""

    @property
    def ranks(self) -> int:
        return self.nodes * self.per_node


def draw(seed: int) -> Case:
    """Small pieces and many cycles are as likely as large pieces and one."""
    draws = random.Random(seed)
    nodes, per_node = draws.choice([(2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (4, 2), (6, 1)])
    size = int(2 ** draws.uniform(3, 15))
    count = max(2, int(2 ** draws.uniform(15, 20) / size))
    options = {
        "region-size": size,
        "region-space": draws.choice([0, int(2 ** draws.uniform(0, 13))]),
        "region-count": count,
        "regions": draws.choice(["noncontiguous", "noncontiguous", "contiguous"]),
        "order": draws.choice(["rank", "pairwise", "nd_shift", "nd_rank_shift"]),
        "layout": draws.choice(["roundrobin", "packed"]),
        "aggregators": draws.choice([0, 0, 1, 2, nodes * per_node]),
        "buffer": draws.choice(["0", "8k", "40k", "256k"]),
        "window": draws.choice([0, 1, 2, 32]),
        "share": draws.choice(["on", "on", "off"]),
        "streams": draws.choice(["auto", "auto", "on", "off"]),
    }
    return Case(
        nodes,
        per_node,
        draws.choice(["BK", "RR"]),
        draws.choice(["read", "write"]),
        {key: str(value) for key, value in options.items()},
    )


def simulated(case: Case, machine: Path, folder: Path) -> tuple[dict, Sent]:
    """The row of the result, and the messages."""
    record = folder / "schedule.jsonl"
    words = [mpis.HAICHI, "simulate", "hpio", "--json", "--record", record]
    words += ["--nodes", case.nodes, "--ppn", case.per_node, "--placement", case.placement]
    words += ["--machine", machine, "--access", case.access]
    for key, value in case.options.items():
        words += [f"--{key}", value]
    done = mpis.run_bounded(words, timeout=60, check=True)
    sent: Sent = defaultdict(list)
    _head, *lines = record.read_text().splitlines()
    for step in map(json.loads, lines):
        if step["step"] == "send":
            sent[step["rank"]].append((step["peer"], step["from"][2]))
    (row,) = json.loads(done.stdout)["results"]
    return row, sent


def real(mpi: Mpi, case: Case, machine: Path, folder: Path) -> tuple[dict, Sent]:
    """The call's record, and the messages."""
    at_once, turns = (case.per_node, 1) if case.placement == "BK" else (1, case.per_node)
    place = {"version": 1, "map": [[0, case.nodes, at_once, turns]]}
    (folder / "placement.json").write_text(json.dumps(place))
    report, log, file = folder / "report.json", folder / "sent", folder / "file"
    option = case.options
    env = mpi.preload(
        mpi.compile(HERE / "message_log.c", "-shared", "-fPIC", f"-DTAG={TAG}"),
        MESSAGE_LOG=str(log),
        HAICHI_PLACEMENT=str(folder / "placement.json"),
        HAICHI_MACHINE=str(machine),
        HAICHI_REPORT=str(report),
        HAICHI_IO_TUNE="off",
        HAICHI_IO_STRIPE_UNIT=str(STRIPE),
        HAICHI_IO_STRIPES="4",
        HAICHI_IO_ORDER=option["order"],
        HAICHI_IO_LAYOUT=option["layout"],
        HAICHI_IO_AGGREGATORS=option["aggregators"],
        HAICHI_IO_BUFFER=option["buffer"],
        HAICHI_IO_WINDOW=option["window"],
        HAICHI_IO_SHARE=option["share"],
        HAICHI_IO_NODE_STREAMS=option["streams"],
    )
    words = [mpi.bench("hpio"), "--file", file, "--op", case.access, "--layout", option["regions"]]
    for key in ("region-size", "region-space", "region-count"):
        words += [f"--{key}", option[key]]
    if case.access == "read":  # of a file that is there
        writes = [("write" if word == "read" else word) for word in words]
        mpi.run(case.ranks, writes, mpi.stock(), timeout=60, check=True)
    mpi.run(case.ranks, words, env, timeout=60, check=True)
    calls = [
        call
        for each in json.loads(report.read_text())["files"]
        for call in each["calls"]
        if f"{case.access}_" in call["call"]
    ]
    (call,) = calls
    sent: Sent = defaultdict(list)
    for rank in range(case.ranks):
        for line in Path(f"{log}.{rank}").read_text().splitlines():
            _rank, peer, size = map(int, line.split())
            sent[rank].append((peer, size))
    return call, sent


@pytest.mark.parametrize("seed", range(CASES))
def test_what_is_simulated_is_what_is_done(mpi: Mpi, tmp_path: Path, seed: int) -> None:
    case = draw(seed)
    machine = tmp_path / "machine.json"
    profile = {"schema": "haichi.machine/1", "servers": 4, "stripe_bytes": STRIPE}
    machine.write_text(json.dumps(profile))
    row, planned = simulated(case, machine, tmp_path)
    call, sent = real(mpi, case, machine, tmp_path)
    assert sent == planned, case
    assert call.get("cycles", 0) == row["cycles"], case
    if case.options["share"] == "on":  # else messages within nodes are counted too
        assert call["messages_between"] == row["messages"], case
    assert call["bytes_between"] == row["network_bytes"], case
