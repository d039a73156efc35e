"""The trace for Perfetto: its structure, and the events in it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from haichi.report import perfetto
from haichi.report.model import Exchange, Message
from haichi.report.summary import Run, Summary

Load = Callable[..., tuple[list[Run], Summary]]


def of_kind(document: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [event for event in document["traceEvents"] if event["ph"] == kind]


def test_every_event_is_a_slice_of_its_rank(runs: Load) -> None:
    (run,), _ = runs({})
    document = json.loads(perfetto.trace([run]))
    phases = [event for event in of_kind(document, "X") if event["cat"] == "phase"]
    expected = sorted(
        (event.begin_us, rank.rank, event.phase.capitalize(), event.cycle, event.bytes)
        for rank in run.report.ranks
        for event in rank.events
    )
    found = sorted(
        (e["ts"], e["tid"] - 1_000_000, e["name"], e["args"]["cycle"], e["args"]["bytes"])
        for e in phases
    )
    assert found == expected


def test_slices_are_sorted_and_nest(runs: Load) -> None:
    (run,), _ = runs({"cycles": 7, "calls": 3})
    slices = of_kind(json.loads(perfetto.trace([run])), "X")
    assert [e["ts"] for e in slices] == sorted(e["ts"] for e in slices)
    threads = defaultdict(list)
    for e in slices:
        begin = round(e["ts"] * 1000)
        threads[e["tid"]].append((begin, begin + round(e["dur"] * 1000)))
    assert len(threads) == 16
    for intervals in threads.values():
        stack: list[tuple[int, int]] = []
        for begin, end in intervals:
            while stack and stack[-1][1] <= begin:
                stack.pop()
            assert not stack or end <= stack[-1][1]
            stack.append((begin, end))


def test_a_file_access_beside_the_exchange_has_a_thread_of_its_own(runs: Load) -> None:
    (run,), _ = runs({"cycles": 3, "calls": 1})
    rank = run.report.ranks[0]
    first = min(event.begin_us for event in rank.events)
    events = [
        event._replace(begin_us=first) if event.phase == "exchange" and event.cycle == 0 else event
        for event in rank.events
    ]
    run.report.ranks[0] = rank.model_copy(update={"events": events})
    document = json.loads(perfetto.trace([run]))
    names = {e["args"]["name"] for e in of_kind(document, "M") if e["name"] == "thread_name"}
    assert "rank 0, file" in names
    assert "rank 1, file" not in names
    on_file = {e["name"] for e in of_kind(document, "X") if e["tid"] == 100_000_000}
    assert on_file <= {"Read", "Write"} and on_file
    beside = {e["name"] for e in of_kind(document, "X") if e["tid"] == 1_000_000}
    assert not beside & {"Read", "Write"}


def test_nodes_are_processes_and_ranks_are_threads(runs: Load) -> None:
    (run,), _ = runs({})
    document = json.loads(perfetto.trace([run]))
    names = of_kind(document, "M")
    processes = {e["pid"]: e["args"]["name"] for e in names if e["name"] == "process_name"}
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in names if e["name"] == "thread_name"}
    assert processes == {1: "n0", 2: "n1", 3: "n2", 4: "n3"}
    assert threads[2, 1_000_004] == "rank 4 (aggregator)"
    assert threads[2, 1_000_005] == "rank 5"
    used = {(e["pid"], e["tid"]) for e in of_kind(document, "X")}
    assert used == set(threads)
    assert not {0} & ({pid for pid, _ in used} | {tid for _, tid in used})


def test_calls_carry_their_names_and_files(runs: Load) -> None:
    (run,), _ = runs({})
    calls = [e for e in of_kind(json.loads(perfetto.trace([run])), "X") if e["cat"] == "call"]
    assert {e["name"] for e in calls} == {"MPI_File_write_all", "MPI_File_read_all"}
    assert {e["args"]["file"] for e in calls} == {"out.dat"}
    assert len(calls) == 32


def test_runs_do_not_share_processes(runs: Load) -> None:
    both, _ = runs({}, {"order": "rank"})
    document = json.loads(perfetto.trace(both))
    names = [e["args"]["name"] for e in of_kind(document, "M") if e["name"] == "process_name"]
    assert names[0] == "run0: n0"
    assert names[4] == "run1: n0"
    assert {e["pid"] for e in of_kind(document, "X")} == set(range(1, 9))


def with_messages(run: Run, count: int) -> None:
    """Rank 1 sends to rank 0 in each of the first cycles of call 0."""
    rank = run.report.ranks[1]
    exchanges = [e for e in rank.events if e.phase == "exchange" and e.call == 0][:count]
    messages = [Message(0, e.cycle, 0, e.begin_us + 1, 4096) for e in exchanges]
    run.report.ranks[1] = rank.model_copy(update={"messages": messages})


def test_an_arrow_goes_from_exchange_to_exchange(runs: Load) -> None:
    both, _ = runs({"cycles": 3}, {"cycles": 3, "order": "rank"})
    for run in both:
        with_messages(run, 3)
    document = json.loads(perfetto.trace(both))
    begins, ends = (of_kind(document, kind) for kind in "sf")
    assert [e["id"] for e in begins] == [e["id"] for e in ends] == list(range(6))
    for begin, end in zip(begins, ends, strict=True):
        assert begin["ts"] <= end["ts"]
        assert begin["args"] == {"bytes": 4096, "to": 0}
        for at, tid in ((begin, 1_000_001), (end, 1_000_000)):
            assert at["tid"] == tid and at["bp"] == "e"
            assert any(
                e["name"] == "Exchange"
                and (e["pid"], e["tid"]) == (at["pid"], tid)
                and e["ts"] <= at["ts"] <= e["ts"] + e["dur"] + 0.001
                for e in of_kind(document, "X")
            )


def test_no_arrow_goes_to_what_is_not_recorded_or_back_in_time(runs: Load) -> None:
    (run,), _ = runs({"cycles": 3})
    with_messages(run, 3)
    receiver = run.report.ranks[0]
    early = [
        event._replace(begin_us=0.0, end_us=1.0) if event.cycle == 1 else event
        for event in receiver.events
        if event.cycle != 2
    ]
    run.report.ranks[0] = receiver.model_copy(update={"events": early})
    document = json.loads(perfetto.trace([run]))
    assert len(of_kind(document, "s")) == len(of_kind(document, "f")) == 1


def test_collectives_are_slices(runs: Load) -> None:
    (run,), _ = runs({"calls": 0})
    exchanges = [Exchange("MPI_Alltoall", 10.0, 12.5, 1024), Exchange("MPI_Alltoallv", 13, 14, -1)]
    run.report.ranks[3] = run.report.ranks[3].model_copy(update={"exchanges": exchanges})
    slices = of_kind(json.loads(perfetto.trace([run])), "X")
    assert [(e["name"], e["cat"], e["tid"], e["ts"], e["dur"], e["args"]) for e in slices] == [
        ("MPI_Alltoall", "collective", 1_000_003, 10.0, 2.5, {"block_bytes": 1024}),
        ("MPI_Alltoallv", "collective", 1_000_003, 13.0, 1.0, {}),
    ]
