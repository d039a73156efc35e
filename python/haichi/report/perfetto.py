"""The events as a trace that ui.perfetto.dev and chrome://tracing open (Chrome trace events, JSON).

A node is a process and a rank is a thread. Every collective call of a rank is a slice, and its
phases are slices inside it. Where a rank's thread accesses the file while the rank exchanges, that
thread is one of the trace too: slices of one thread must nest. An arrow goes from the exchange that
a message left in to the receiver's exchange of the same cycle. Calls of other collectives are
slices, too. Times are microseconds since the start that all ranks share.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict

from haichi.report.model import Call, Event, File, Rank, Report
from haichi.report.summary import Run, accesses_beside_exchange
from haichi.units import printable

# Perfetto takes process and thread 0 for the idle task (github.com/google/perfetto/issues/394) and
# a thread with its process's number for the main one: nodes count from 1, ranks from a million.
FIRST_PROCESS = 1
FIRST_THREAD = 1_000_000
FIRST_FILE_THREAD = 100_000_000
FILE_PHASES = ("read", "write")

Args = Mapping[str, str | int]


class TraceEvent(TypedDict):
    """What all events of a trace have; by itself it names a process or a thread."""

    ph: str
    name: str
    pid: int
    tid: int
    args: Args


class Slice(TraceEvent):
    """A complete event."""

    cat: str
    ts: float
    dur: float


class Flow(TraceEvent):
    """One end of an arrow; both have the same id, and each lies in a slice of its thread."""

    cat: str
    ts: float
    id: int
    bp: str


def trace(runs: Sequence[Run]) -> str:
    """One trace of all events of `runs`; the nodes of a second run follow those of the first."""
    events: list[TraceEvent] = []
    process, arrow_ids = FIRST_PROCESS, itertools.count()
    for run in runs:
        prefix = f"{run.facts.label}: " if len(runs) > 1 else ""
        events += _names(run.report, process, prefix)
        events += _slices(run.report, process)
        events += _arrows(run.report, process, arrow_ids)
        process += len(run.report.placement.nodes)
    document = {
        "displayTimeUnit": "ms",
        "otherData": {
            "writer": f"haichi {runs[0].report.haichi}",
            "runs": [printable(run.facts.command) for run in runs],
            "events_dropped": sum(run.facts.events_dropped for run in runs),
        },
        "traceEvents": events,
    }
    return json.dumps(document, separators=(",", ":")) + "\n"


def _names(report: Report, process: int, prefix: str) -> Iterator[TraceEvent]:
    aggregators = {rank for call in report.calls() for rank in call.aggregators}

    def metadata(kind: str, pid: int, tid: int, **args: str | int) -> TraceEvent:
        return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": args}

    for index in range(len(report.placement.nodes)):
        pid = process + index
        yield metadata(
            "process_name", pid, 0, name=f"{prefix}{printable(report.placement.name_of(index))}"
        )
        yield metadata("process_sort_index", pid, 0, sort_index=pid)
    for rank in report.ranks:
        pid, tid = process + rank.node, FIRST_THREAD + rank.rank
        role = " (aggregator)" if rank.rank in aggregators else ""
        yield metadata("thread_name", pid, tid, name=f"rank {rank.rank}{role}")
        yield metadata("thread_sort_index", pid, tid, sort_index=2 * rank.rank)
        if accesses_beside_exchange(rank.events):
            tid = FIRST_FILE_THREAD + rank.rank
            yield metadata("thread_name", pid, tid, name=f"rank {rank.rank}, file")
            yield metadata("thread_sort_index", pid, tid, sort_index=2 * rank.rank + 1)


def _slices(report: Report, process: int) -> list[Slice]:
    """Complete events by time; where two begin together the longer one, which holds the other."""
    calls = {call.index: (file, call) for file in report.files for call in file.calls}
    slices = [
        one
        for rank in report.ranks
        for one in _rank_slices(rank, calls, process + rank.node, FIRST_THREAD + rank.rank)
    ]
    return sorted(slices, key=lambda one: (one["ts"], -one["dur"]))


def _rank_slices(
    rank: Rank, calls: dict[int, tuple[File, Call]], pid: int, tid: int
) -> Iterator[Slice]:
    by_call: dict[int, list[Event]] = {}
    file_tid = FIRST_FILE_THREAD + rank.rank if accesses_beside_exchange(rank.events) else tid
    for event in rank.events:
        by_call.setdefault(event.call, []).append(event)
        args = {"call": event.call, "cycle": event.cycle, "bytes": event.bytes}
        thread = file_tid if event.phase in FILE_PHASES else tid
        yield _slice(
            event.phase.capitalize(), "phase", event.begin_us, event.end_us, pid, thread, args
        )
    for made in rank.exchanges:
        size: Args = {} if made.block_bytes < 0 else {"block_bytes": made.block_bytes}
        name = made.collective
        yield _slice(name, "collective", made.begin_us, made.end_us, pid, tid, size)
    for index, events in by_call.items():
        begin, end = min(e.begin_us for e in events), max(e.end_us for e in events)
        name = f"call {index}"
        about: dict[str, str | int] = {"call": index}
        if index in calls:
            file, call = calls[index]
            name = call.call
            about |= {"file": printable(file.path), "order": call.order, "cycles": call.cycles}
        yield _slice(name, "call", begin, end, pid, tid, about)


def _slice(
    name: str, category: str, begin: float, end: float, pid: int, tid: int, args: Args
) -> Slice:
    first, last = round(begin * 1000), round(end * 1000)  # whole nanoseconds, so that slices nest
    return {
        "ph": "X",
        "name": name,
        "cat": category,
        "ts": first / 1000,
        "dur": max(last - first, 0) / 1000,
        "pid": pid,
        "tid": tid,
        "args": args,
    }


def _arrows(report: Report, process: int, ids: Iterator[int]) -> Iterator[Flow]:
    """Two events of each message whose sender's and receiver's exchanges are both recorded."""
    exchanges = {
        (rank.rank, event.call, event.cycle): (rank, event)
        for rank in report.ranks
        for event in rank.events
        if event.phase == "exchange"
    }
    for rank in report.ranks:
        for message in rank.messages:
            left = exchanges.get((rank.rank, message.call, message.cycle))
            came = exchanges.get((message.to, message.call, message.cycle))
            if left is None or came is None:
                continue
            at = min(max(message.at_us, left[1].begin_us), left[1].end_us)
            # Nobody notes when it comes: it has come when the receiver's exchange ends.
            end = came[1].end_us
            if end < at:
                continue  # the clocks of the two differ by more than the exchange takes
            args = {"bytes": message.bytes, "to": message.to}
            number = next(ids)
            yield _end("s", number, at, rank, process, args)
            yield _end("f", number, end, came[0], process, args)


def _end(kind: str, number: int, at: float, rank: Rank, process: int, args: Args) -> Flow:
    return {
        "ph": kind,
        "name": "message",
        "cat": "message",
        "id": number,
        "ts": round(at * 1000) / 1000,
        "bp": "e",
        "pid": process + rank.node,
        "tid": FIRST_THREAD + rank.rank,
        "args": args,
    }
