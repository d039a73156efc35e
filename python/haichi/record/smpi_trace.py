"""A record of the time-independent trace that SimGrid's SMPI writes (`smpirun -trace-ti`): each
rank's calls in their order, one a line, with the flops between them.

The format is SimGrid's own ("Replaying a MPI Trace" in its manual). It has no communicators: all
calls are taken as of MPI_COMM_WORLD.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from haichi.report.load import ReportError

Event = dict[str, object]

# Bytes of the datatypes by their numbers: MPI_DOUBLE, INT, CHAR, SHORT, LONG, FLOAT, BYTE.
SIZES: Final = {"0": 8, "1": 4, "2": 1, "3": 2, "4": 8, "5": 4, "6": 1}
# What is told of the trace itself, or of calls that no other rank takes part in.
PASSED_OVER: Final = frozenset({"init", "finalize", "comm_size", "comm_rank", "location"})
ANY: Final = -555  # MPI_ANY_SOURCE and MPI_ANY_TAG of SimGrid


def record(trace: Path, flops_a_second: float, name: str) -> str:
    """The text of a record (haichi.record/1) with a rank on each node.

    Args:
        trace: the index file, which names the ranks' files.
        flops_a_second: of a simulated processor.
        name: of the program.

    Raises:
        ReportError: a file is missing, or a line is none of a trace.
    """
    files = _files(trace)
    everyone = f"0-{len(files) - 1}" if len(files) > 1 else "0"
    nodes = [{"name": f"node{rank}", "ranks": str(rank)} for rank in range(len(files))]
    lines: list[Event] = [
        {
            "kind": "record",
            "schema": "haichi.record/1",
            "by": "SimGrid, -trace-ti",
            "started": "",
            "program": [name],
            "abi": "smpi",
            "ranks": len(files),
            "placement": {"schema": "haichi.placement/1", "nodes": nodes},
            "signature": {"library": "SMPI"},
            "sync": False,
            "sequence": True,
        },
        {"kind": "communicator", "id": 0, "name": "MPI_COMM_WORLD", "members": everyone},
    ]
    calls = 0
    for rank, file in enumerate(files):
        sequence = _Sequence(rank, flops_a_second)
        for number, line in enumerate(_lines(file), 1):
            try:
                sequence.take(line.split()[1:])
            except (KeyError, IndexError, ValueError):
                raise ReportError(f"{file}:{number}: not a line of a trace: {line}") from None
        calls += len(sequence.program)
        lines.append(
            {
                "kind": "sequence",
                "rank": rank,
                "cut": False,
                "events": list(map(json.loads, sequence.events)),
                "program": sequence.program,
            }
        )
    lines.append({"kind": "end", "ranks": len(files), "calls": calls})
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def _lines(file: Path) -> list[str]:
    try:
        return [line for line in file.read_text().splitlines() if line.strip()]
    except OSError as error:
        raise ReportError(f"{file}: {error.strerror}") from None


def _files(trace: Path) -> list[Path]:
    """Of the ranks, in their order: their numbers count from 1."""
    found = {}
    for line in _lines(trace):
        number = re.search(r"rank-(\d+)\.txt$", line)
        if number is None:
            raise ReportError(f"{trace}: not the index of a trace: {line}")
        found[int(number[1])] = trace.parent / line
    if not found:
        raise ReportError(f"{trace}: names no ranks")
    return [found[number] for number in sorted(found)]


@dataclass
class _Sequence:
    """The calls of one rank. Calls that are alike, the computing before them too, are one event."""

    rank: int
    flops_a_second: float
    events: dict[str, int] = field(default_factory=dict)
    program: list[int] = field(default_factory=list)
    _flops: float = 0.0
    _slots: list[bool] = field(default_factory=list)  # that are taken
    _open: dict[tuple[int, int, int], list[int]] = field(
        default_factory=lambda: defaultdict(list)
    )  # by source, destination and tag

    def take(self, words: Sequence[str]) -> None:
        """A line without its rank."""
        action, *rest = words
        if action == "compute":
            self._flops += float(rest[0])
        elif action not in PASSED_OVER:
            self._add(ACTIONS[action](self, rest))

    def _add(self, event: Event) -> None:
        made = {"comm": 0, **event, "compute_s": self._flops / self.flops_a_second, "took_s": 0.0}
        self._flops = 0.0
        text = json.dumps(made)
        self.program.append(self.events.setdefault(text, len(self.events)))

    def begin(self, source: int, destination: int, tag: int) -> int:
        """The slot of a request that begins: the smallest that is free."""
        slot = self._slots.index(False) if False in self._slots else len(self._slots)
        self._slots[slot : slot + 1] = [True]
        self._open[source, destination, tag].append(slot)
        return slot

    def end(self, *key: int) -> int:
        """The slot of the oldest such request, which is over."""
        slot = self._open[key[0], key[1], key[2]].pop(0)
        self._slots[slot] = False
        return slot

    def end_all(self) -> list[int]:
        """The slots of all that are open."""
        slots = sorted(slot for each in self._open.values() for slot in each)
        self._open.clear()
        self._slots.clear()
        return slots


def _bytes(count: str, datatype: str) -> int:
    return int(count) * SIZES[datatype]


def _peer(word: str) -> int | str:
    return "any" if int(word) == ANY else int(word)


def _tag(word: str) -> int:
    return -1 if int(word) == ANY else int(word)


def _message(call: str, begins: str) -> Callable[[_Sequence, Sequence[str]], Event]:
    """`begins`: "source" or "destination", of a nonblocking one what the peer is; else empty."""

    def read(of: _Sequence, words: Sequence[str]) -> Event:
        peer, tag, count, datatype = words
        event: Event = {
            "call": call,
            "peer": _peer(peer),
            "tag": _tag(tag),
            "bytes": _bytes(count, datatype),
        }
        if begins == "source":
            event["request"] = of.begin(int(peer), of.rank, int(tag))
        elif begins:
            event["request"] = of.begin(of.rank, int(peer), int(tag))
        return event

    return read


def _wait(of: _Sequence, words: Sequence[str]) -> Event:
    source, destination, tag = map(int, words)
    return {"call": "MPI_Wait", "completes": [of.end(source, destination, tag)]}


def _wait_all(of: _Sequence, _words: Sequence[str]) -> Event:
    return {"call": "MPI_Waitall", "completes": of.end_all()}


def _reduction(call: str) -> Callable[[_Sequence, Sequence[str]], Event]:
    """COUNT FLOPS [ROOT] DATATYPE."""

    def read(_: _Sequence, words: Sequence[str]) -> Event:
        event: Event = {"call": call, "bytes": _bytes(words[0], words[-1])}
        return event | ({"root": int(words[2])} if len(words) > 3 else {})

    return read


def _broadcast(_: _Sequence, words: Sequence[str]) -> Event:
    return {"call": "MPI_Bcast", "bytes": _bytes(words[0], words[2]), "root": int(words[1])}


def _blocks(call: str, *, rooted: bool = False) -> Callable[[_Sequence, Sequence[str]], Event]:
    """SENT RECEIVED [ROOT] DATATYPE DATATYPE, of blocks of one size."""

    def read(_: _Sequence, words: Sequence[str]) -> Event:
        event: Event = {"call": call, "bytes": _bytes(words[0], words[-2])}
        return event | ({"root": int(words[2])} if rooted else {})

    return read


def _alltoallv(_: _Sequence, words: Sequence[str]) -> Event:
    """ROOM, a count for each rank, ROOM, a count for each rank, DATATYPE, DATATYPE."""
    ranks = (len(words) - 4) // 2
    sent = sum(map(int, words[1 : 1 + ranks])) * SIZES[words[-2]]
    received = sum(map(int, words[2 + ranks : 2 + 2 * ranks])) * SIZES[words[-1]]
    return {"call": "MPI_Alltoallv", "bytes": sent, "received": received}


def _put(_: _Sequence, words: Sequence[str]) -> Event:
    target, _tag_word, count, datatype = words
    return {"call": "MPI_Put", "peer": int(target), "bytes": _bytes(count, datatype), "window": 0}


def _plain(call: str) -> Callable[[_Sequence, Sequence[str]], Event]:
    return lambda _of, _words: {"call": call}


ACTIONS: Final[dict[str, Callable[[_Sequence, Sequence[str]], Event]]] = {
    "send": _message("MPI_Send", ""),
    "recv": _message("MPI_Recv", ""),
    "isend": _message("MPI_Isend", "destination"),
    "irecv": _message("MPI_Irecv", "source"),
    "wait": _wait,
    "waitall": _wait_all,
    "barrier": _plain("MPI_Barrier"),
    "bcast": _broadcast,
    "reduce": _reduction("MPI_Reduce"),
    "allreduce": _reduction("MPI_Allreduce"),
    "alltoall": _blocks("MPI_Alltoall"),
    "allgather": _blocks("MPI_Allgather"),
    "gather": _blocks("MPI_Gather", rooted=True),
    "scatter": _blocks("MPI_Scatter", rooted=True),
    "alltoallv": _alltoallv,
    "Put": _put,
    "Win_fence": _plain("MPI_Win_fence"),
}
