"""How much of a file one node handles: by the machine's profile at first, then by what accesses
took. What is decided is tested in src/plan/node_share_test.cpp and
src/mpiio/twophase/measured_costs_test.cpp."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from haichi.report.model import Call, Report
from mpis import Mpi
from tuned_io import run

ROUNDS = 12
BYTES = 2 * 32 * 4096  # of both ranks of the first node, the second one has none


def writes(report: Report) -> list[Call]:
    return [
        call
        for file in report.files
        for call in file.calls
        if call.handled and "write" in call.call
    ]


def machine(folder: Path, link_gbs: float, client_gbs: float) -> str:
    path = folder / "machine.json"
    numbers = {"in_gbs": link_gbs, "out_gbs": link_gbs, "client_gbs": client_gbs}
    path.write_text(json.dumps({"schema": "haichi.machine/1", **numbers}))
    return str(path)


def test_nothing_crosses_a_link_that_costs_more_than_a_file(mpi: Mpi, tmp_path: Path) -> None:
    report = run(
        mpi, tmp_path, "uneven", rounds=ROUNDS, HAICHI_MACHINE=machine(tmp_path, 0.0125, 2)
    )
    first = writes(report)[0]
    assert any("a node may handle 2 times its share" in why for why in first.why), first.why
    assert first.bytes_between == 0
    assert any(call.bytes_between == 0 for call in writes(report)[1:])


@pytest.mark.parametrize("profile", [True, False])
def test_nodes_share_what_a_file_makes_dear(mpi: Mpi, tmp_path: Path, profile: bool) -> None:
    """Before anything is known a node handles a quarter more than its share."""
    known = {"HAICHI_MACHINE": machine(tmp_path, 10, 0.5)} if profile else {}
    report = run(mpi, tmp_path, "uneven", rounds=ROUNDS, **known)
    first = writes(report)[0]
    assert not any("a node may handle" in why for why in first.why), first.why
    assert first.bytes_between == (BYTES // 2 if profile else BYTES * 3 // 8)
