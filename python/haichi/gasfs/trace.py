"""What dispatchers were asked to write and what they asked of the servers, of the files that
`haichi gasfs start --trace` has them keep; and why requests that stand side by side in a file went
to the servers apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from haichi.gasfs.daemons import GasfsError

HEAD = b"haichi.gasfs-trace/1 "
# src/gasfs/dispatcher/trace.h: TraceRecord
RECORD = np.dtype(
    [("time", "<i8"), ("inode", "<u8"), ("offset", "<u8"), ("length", "<u4"), ("go", "<u4")]
)
Records = NDArray[np.void]

STRIPE = "the next one is of another stripe, which is another request"
LATER = "the bytes behind were written here too, and sent in another go"
OTHERS = "the bytes behind were written on another node"
NOBODY = "the bytes behind were not written"
END = "it is the last one of the file"
REASONS = (STRIPE, LATER, OTHERS, NOBODY, END)
ADVICE = {
    LATER: "A larger --sub-buffer or --linger-ms, and fewer fsync, gather them.",
    OTHERS: "Ranks in blocks instead of dealt out over the nodes bring them together; so does "
    "--server-gather-us, in the server.",
    NOBODY: "The program leaves holes there: only it can change that.",
}


@dataclass(frozen=True)
class NodeTrace:
    """What one dispatcher has kept."""

    node: str
    by: str  # the version of haichi
    requests: Records
    sent: Records

    @classmethod
    def read(cls, path: Path) -> NodeTrace:
        """One file; what is not whole at its end is left out.

        Raises:
            GasfsError: it cannot be read, or is none.
        """
        try:
            data = path.read_bytes()
        except OSError as error:
            raise GasfsError(f"cannot read {path}: {error.strerror}") from None
        if not data.startswith(HEAD):
            raise GasfsError(f"{path} is no trace of this version of haichi")
        head, _, body = data.partition(b"\n")
        records = np.frombuffer(body, RECORD, len(body) // RECORD.itemsize)
        before = records["go"] == 0
        by = head.removeprefix(HEAD).decode(errors="replace")
        return cls(path.stem, by, records[before], records[~before])

    def of_file(self, inode: int) -> NodeTrace:
        """What it has of one file."""
        return NodeTrace(
            self.node,
            self.by,
            self.requests[self.requests["inode"] == inode],
            self.sent[self.sent["inode"] == inode],
        )


def busiest(traces: Iterable[NodeTrace], most: int) -> list[int]:
    """The files with the most requests."""
    requests: Counter[int] = Counter()
    for trace in traces:
        inodes, counts = np.unique(trace.requests["inode"], return_counts=True)
        requests.update(dict(zip(map(int, inodes), map(int, counts), strict=True)))
    return [inode for inode, _ in requests.most_common(most)]


def reasons(traces: Sequence[NodeTrace], stripe: int) -> dict[str, int]:
    """Of one file: why each run that was sent ends where it does, and how many end so."""
    everywhere = [_ranges(trace.requests) for trace in traces]
    last = max((int(ends[-1]) for _, ends in everywhere if len(ends)), default=0)
    found = dict.fromkeys(REASONS, 0)
    for own, trace in enumerate(traces):
        ends = (trace.sent["offset"] + trace.sent["length"]).astype(np.uint64)
        cut = ends % stripe == 0
        here = _covered(everywhere[own], ends)
        there = np.zeros(len(ends), dtype=bool)
        for other, ranges in enumerate(everywhere):
            if other != own:
                there |= _covered(ranges, ends)
        at_end = ends >= last
        left = ~at_end
        found[END] += int(at_end.sum())
        for reason, applies in ((STRIPE, cut & here), (LATER, here), (OTHERS, there)):
            found[reason] += int((left & applies).sum())
            left &= ~applies
        found[NOBODY] += int(left.sum())
    return found


def _ranges(records: Records) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Where these bytes begin and end, merged, by ascending offset."""
    if not len(records):
        return np.zeros(0, np.uint64), np.zeros(0, np.uint64)
    order = np.argsort(records["offset"], kind="stable")
    begins = records["offset"][order].astype(np.uint64)
    ends = np.maximum.accumulate(begins + records["length"][order].astype(np.uint64))
    first = np.concatenate(([True], begins[1:] > ends[:-1]))
    return begins[first], ends[np.concatenate((first[1:], [True]))]


def _covered(
    ranges: tuple[NDArray[np.uint64], NDArray[np.uint64]], offsets: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Which of these bytes are in one of the ranges."""
    begins, ends = ranges
    if not len(begins):
        return np.zeros(len(offsets), dtype=bool)
    place = np.searchsorted(begins, offsets, side="right").astype(np.int64) - 1
    return (place >= 0) & (offsets < ends[np.maximum(place, 0)])
