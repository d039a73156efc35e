"""The report of a real run: it has the form that is documented, and its figures are right."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest
from haichi.report import html, perfetto
from haichi.report.load import load
from haichi.report.model import Call, File, Report
from haichi.report.summary import joined_files, summarize
from haichi.schema import schema_file
from mpis import ROOT, Mpi

RANKS = 4
BYTES = 1024 * 64  # of a rank in a call
PLACEMENT = {
    "schema": "haichi.placement/1",
    "nodes": [{"name": "left", "ranks": "0-1"}, {"name": "right", "ranks": "2-3"}],
}


@pytest.fixture
def made(mpi: Mpi, tmp_path: Path) -> Path:
    """The report of a run on 4 ranks that play 2 nodes."""
    if mpi.mpicc is None:
        pytest.skip(f"{mpi.name} has no C compiler here")
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    placement, path = tmp_path / "placement.json", tmp_path / "report.json"
    placement.write_text(json.dumps(PLACEMENT))
    environment = mpi.preload(
        HAICHI_COLLECTIVES_AFTER="1", HAICHI_PLACEMENT=str(placement), HAICHI_REPORT=str(path)
    )
    program = mpi.compile(ROOT / "tests/mpi/report_calls.c")
    mpi.run(RANKS, [program, tmp_path], environment, timeout=120, check=True)
    return path


def file_of(report: Report, name: str) -> File:
    (found,) = [file for file in joined_files(report) if Path(file.path).name == name]
    return found


def check_call(call: Call, ranks: int, aggregators: list[int]) -> None:
    """A handled call: every byte is exchanged once, in the cycles that half its buffer needs."""
    assert call.handled
    assert call.bytes == ranks * BYTES
    assert (call.file_begin, call.file_end) == (0, ranks * BYTES)
    assert call.bytes_inside + call.bytes_between == ranks * BYTES
    assert 0 < (call.messages_between or 0) <= call.cycles * len(aggregators) * ranks
    assert call.aggregators == aggregators
    assert call.cycles == -(-ranks * BYTES // (len(aggregators) * 65536 // 2))
    assert (call.layout, call.order, call.holes) == ("roundrobin", "nd_rank_shift", "none")
    assert call.seconds > 0
    assert call.why


def check_ranks(report: Report) -> None:
    """Events are in order, within the run, and add up to the totals. Those of one phase do not
    overlap; an exchange overlaps the file access of the cycle before."""
    assert [rank.rank for rank in report.ranks] == list(range(RANKS))
    calls = {call.index for call in report.calls()}
    for rank in report.ranks:
        assert rank.events_dropped == 0
        assert {event.call for event in rank.events} <= calls
        assert all(0 <= e.begin_us <= e.end_us for e in rank.events)
        assert all(e.end_us <= report.program.wall_s * 1e6 * 1.5 for e in rank.events)
        for phase in ("read", "exchange", "write", "agree"):
            events = sorted(
                (e for e in rank.events if e.phase == phase), key=lambda event: event.begin_us
            )
            for before, after in pairwise(events):
                assert before.end_us <= after.begin_us + 0.001
            total = sum(e.end_us - e.begin_us for e in events) / 1e6
            assert getattr(rank.seconds, phase) == pytest.approx(total, abs=1e-6)


def overlaps(report: Report) -> bool:
    """Whether some rank accessed the file while the messages of another cycle travelled."""
    return any(
        exchange.begin_us < access.end_us and access.begin_us < exchange.end_us
        for rank in report.ranks
        for exchange in rank.events
        if exchange.phase == "exchange"
        for access in rank.events
        if access.phase in ("read", "write") and access.cycle != exchange.cycle
    )


def check_traffic(report: Report) -> None:
    """The matrix says the same as the calls, and as what the ranks sent."""
    matrix = report.traffic.bytes
    inside = sum(matrix[node][node] for node in range(len(matrix)))
    calls = report.calls()
    assert inside == sum(call.bytes_inside for call in calls)
    assert sum(map(sum, matrix)) - inside == sum(call.bytes_between for call in calls)


def check_messages(report: Report) -> None:
    """Messages between nodes are those that are counted; in a write they go to aggregators."""
    node = report.placement.node_of_rank()
    calls = {call.index: call for call in report.calls()}
    between = dict.fromkeys(calls, 0)
    for rank in report.ranks:
        assert rank.messages_dropped == 0
        for message in rank.messages:
            call = calls[message.call]
            assert message.to != rank.rank
            assert 0 <= message.cycle < call.cycles
            assert "write" not in call.call or message.to in call.aggregators
            between[message.call] += message.bytes * (node[message.to] != rank.node)
    assert between == {call.index: call.bytes_between for call in calls.values()}


def test_the_report_of_a_real_run_is_right(made: Path) -> None:
    schema = json.loads(schema_file("haichi.report/1").read_text())
    jsonschema.Draft202012Validator(schema).validate(json.loads(made.read_text()))
    report = load(made)
    assert (report.program.ranks, report.placement.node_of_rank()) == (RANKS, [0, 0, 1, 1])
    assert report.traffic.nodes == ["left", "right"]

    together = file_of(report, "all.dat")
    assert (together.access, together.opens) == ("collective", 2)
    assert together.hints["cb_buffer_size"] == "65536"
    assert set(together.ignored_hints) == {"romio_ds_write=enable"}
    assert [call.call for call in together.calls] == [
        "MPI_File_write_all", "MPI_File_read_at_all", "MPI_File_write_all"
    ]  # fmt: skip
    for call in together.calls:
        check_call(call, RANKS, [0, 2])
        assert call.bytes_inside == call.bytes_between
        # Each rank has its own bytes and all take turns: half of each part is the other node's.
        assert call.bytes_must_cross == pytest.approx(call.bytes / 2, rel=0.05)

    kept = together.flattening
    assert (kept.view_blocks, kept.memory_blocks) == (1, 1)
    assert 0 < kept.view_bytes < 500 and 0 < kept.memory_bytes < 500
    # Of four ranks that say as much each.
    assert kept.view_bytes <= kept.others_bytes < 4 * 1000

    odd = file_of(report, "odd.dat")
    (call,) = odd.calls
    check_call(call, 2, [1, 3])  # ranks of MPI_COMM_WORLD, not of the file's communicator

    atomic = file_of(report, "atomic.dat")
    (call,) = atomic.calls
    assert (atomic.access, call.handled, call.aggregators) == ("passed through", False, [])
    assert call.why == ["the file is in atomic mode"]
    assert any("atomic.dat: MPI_File_write_all passed through" in note for note in report.notes)

    assert len({call.index for call in report.calls()}) == 5
    check_ranks(report)
    check_traffic(report)
    check_messages(report)
    assert overlaps(report)


def test_every_form_of_it_can_be_made(made: Path) -> None:
    runs, summary = summarize([made], [load(made)])
    assert (summary.runs[0].calls, summary.runs[0].calls_handled) == (5, 4)
    page = html.page(runs, summary)
    for rank in range(RANKS):
        assert re.search(rf">(◆ )?rank {rank}</text>", page)
    trace = json.loads(perfetto.trace(runs))
    assert sum(event.get("cat") == "phase" for event in trace["traceEvents"]) == sum(
        len(rank.events) for rank in runs[0].report.ranks
    )
    assert any(event.get("cat") == "message" for event in trace["traceEvents"])


def test_what_a_program_writes_beside_mpi_is_told(mpi: Mpi, tmp_path: Path) -> None:
    if mpi.mpicc is None:
        pytest.skip(f"{mpi.name} has no C compiler here")
    path = tmp_path / "report.json"
    program = mpi.compile(ROOT / "tests/mpi/beside.c")
    environment = mpi.preload(HAICHI_REPORT=str(path))
    mpi.run(RANKS, [program, tmp_path], environment, timeout=120, check=True)
    storage = load(path).storage
    if storage is None:
        pytest.skip("no /proc/self/io: the kernel lacks task I/O accounting")
    assert storage.ranks == RANKS
    assert (storage.mpi_written, storage.mpi_read) == (RANKS * (64 << 10), 0)
    if storage.written == 0:
        pytest.skip(f"{tmp_path} is in memory, which the kernel does not count: give pytest a disk")
    assert RANKS * (4 << 20) <= storage.written <= 2 * RANKS * (4 << 20)


def test_calls_of_collectives_are_there_for_the_trace(mpi: Mpi, tmp_path: Path) -> None:
    if mpi.mpicc is None:
        pytest.skip(f"{mpi.name} has no C compiler here")
    path = tmp_path / "report.json"
    program = mpi.compile(ROOT / "tests/mpi/alltoall_times.c")
    environment = mpi.preload(
        HAICHI_REPORT=str(path), HAICHI_COLLECTIVES_ENABLE="on", HAICHI_COLLECTIVES_AFTER="1"
    )
    mpi.run(RANKS, [program, "20", "1024"], environment, timeout=120, check=True)
    report = load(path)
    (told,) = report.collectives
    for rank in report.ranks:
        assert rank.exchanges_dropped == 0
        assert len(rank.exchanges) == told.calls
        assert 0 < told.calls < 20, "the first ones are the library's"
        for exchange, after in pairwise(rank.exchanges):
            assert (exchange.collective, exchange.block_bytes) == ("MPI_Alltoall", 1024)
            assert exchange.begin_us < exchange.end_us <= after.begin_us
