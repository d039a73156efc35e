"""A record of a trace that SimGrid wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from haichi.record import smpi_trace
from haichi.record.read import read
from haichi.report.load import ReportError

FIRST = """0 init
0 compute 2e6
0 irecv 1 7 100 0
0 isend 1 7 50 6
0 wait 1 0 7
0 wait 0 1 7
0 allreduce 3 0 1
0 alltoallv 30 10 20 40 15 25 6 1
0 bcast 5 1 0
0 finalize
"""
SECOND = """1 init
1 irecv -555 -555 50 6
1 send 0 7 100 0
1 waitall 1
1 allreduce 3 0 1
1 alltoallv 30 15 15 40 20 20 6 1
1 bcast 5 1 0
1 Put 0 0 64 6
1 Win_fence
1 finalize
"""


def trace(folder: Path, *ranks: str) -> Path:
    for number, text in enumerate(ranks, 1):
        (folder / f"t_rank-{number}.txt").write_text(text)
    index = folder / "t.ti"
    index.write_text("".join(f"t_rank-{number + 1}.txt\n" for number in range(len(ranks))))
    return index


def test_calls_become_events(tmp_path: Path) -> None:
    text = smpi_trace.record(trace(tmp_path, FIRST, SECOND), 1e9, "app")
    lines = [json.loads(line) for line in text.splitlines()]
    head, world, first, second, end = lines
    assert (head["ranks"], world["members"], end["calls"]) == (2, "0-1", 15)
    receive, send, wait_receive, wait_send, reduction, exchange, broadcast = first["events"]
    assert first["program"] == list(range(7))
    assert receive | {"compute_s": 2e-3} == receive
    assert (receive["call"], receive["bytes"], receive["request"]) == ("MPI_Irecv", 800, 0)
    assert (send["call"], send["peer"], send["tag"], send["request"]) == ("MPI_Isend", 1, 7, 1)
    assert (wait_receive["completes"], wait_send["completes"]) == ([0], [1])
    assert (reduction["call"], reduction["bytes"]) == ("MPI_Allreduce", 12)
    assert (exchange["bytes"], exchange["received"]) == (30, 160)
    assert (broadcast["bytes"], broadcast["root"]) == (40, 1)
    assert second["events"][0]["peer"] == "any" and second["events"][0]["tag"] == -1
    assert second["events"][2] | {"call": "MPI_Waitall", "completes": [0]} == second["events"][2]
    assert [e["call"] for e in second["events"][-2:]] == ["MPI_Put", "MPI_Win_fence"]


def test_the_record_is_one(tmp_path: Path) -> None:
    file = tmp_path / "app.jsonl"
    file.write_text(smpi_trace.record(trace(tmp_path, FIRST, SECOND), 1e9, "app"))
    found = read(file)
    assert found.head.ranks == 2
    assert not found.cut


def test_calls_that_are_alike_are_one_event(tmp_path: Path) -> None:
    text = smpi_trace.record(trace(tmp_path, "0 barrier\n" * 5), 1e9, "app")
    sequence = json.loads(text.splitlines()[2])
    assert len(sequence["events"]) == 1
    assert sequence["program"] == [0] * 5


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("0 frobnicate 3", "rank-1.txt:1: not a line of a trace: 0 frobnicate 3"),
        ("0 send 1 7", "rank-1.txt:1: not a line of a trace"),
        ("0 wait 0 1 7", "rank-1.txt:1: not a line of a trace"),
    ],
)
def test_what_is_no_trace_is_said(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(ReportError, match=said):
        smpi_trace.record(trace(tmp_path, line + "\n"), 1e9, "app")
    index = tmp_path / "other"
    index.write_text("nothing\n")
    with pytest.raises(ReportError, match="not the index of a trace"):
        smpi_trace.record(index, 1e9, "app")
    with pytest.raises(ReportError, match="No such file"):
        smpi_trace.record(tmp_path / "absent", 1e9, "app")
