"""Why requests end where they do, by what the nodes were asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from haichi.gasfs import trace
from haichi.gasfs.daemons import GasfsError
from haichi.gasfs.trace import END, HEAD, LATER, NOBODY, OTHERS, RECORD, STRIPE, NodeTrace

STRIPE_BYTES = 4096


def node(name: str, *records: tuple[int, int, int], folder: Path) -> NodeTrace:
    """One with records of (offset, length, go) of file 7, as its file has them."""
    all_records = np.array([(i, 7, *each) for i, each in enumerate(records)], RECORD)
    path = folder / f"{name}.trace"
    path.write_bytes(HEAD + b"0.1\n" + all_records.tobytes() + b"half a rec")
    return NodeTrace.read(path)


def why(*traces: NodeTrace) -> dict[str, int]:
    """Without what does not occur."""
    return {reason: n for reason, n in trace.reasons(traces, STRIPE_BYTES).items() if n}


def test_a_file_that_came_together_ends_at_stripes_and_at_its_end(tmp_path: Path) -> None:
    one = node("a", (0, 6000, 0), (0, 4096, 1), (4096, 1904, 1), folder=tmp_path)
    assert why(one) == {STRIPE: 1, END: 1}


def test_what_came_later_was_sent_in_another_go(tmp_path: Path) -> None:
    one = node("a", (0, 40, 0), (0, 40, 1), (40, 40, 0), (40, 40, 2), folder=tmp_path)
    assert why(one) == {LATER: 1, END: 1}


def test_records_in_turns_with_another_node(tmp_path: Path) -> None:
    requests = [(40 * i, 40, go) for i in range(10) for go in (0, 1)]
    even = node("a", *(r for r in requests if r[0] % 80 == 0), folder=tmp_path)
    odd = node("b", *(r for r in requests if r[0] % 80), folder=tmp_path)
    assert why(even, odd) == {OTHERS: 9, END: 1}
    assert why(even) == {NOBODY: 4, END: 1}


def test_the_busiest_files_come_first() -> None:
    records = np.zeros(6, RECORD)
    records["inode"] = [3, 5, 5, 9, 9, 9]
    traces = [
        NodeTrace("a", "", records, records[:0]),
        NodeTrace("b", "", records[:1], records[:0]),
    ]
    assert trace.busiest(traces, 2) in ([9, 5], [9, 3])
    assert len(traces[0].of_file(5).requests) == 2


def test_what_is_no_trace_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.trace").write_bytes(b"something else")
    with pytest.raises(GasfsError, match="is no trace"):
        NodeTrace.read(tmp_path / "x.trace")
    with pytest.raises(GasfsError, match="cannot read"):
        NodeTrace.read(tmp_path / "none")
    (tmp_path / "x.trace").write_bytes(HEAD + b"0.1\n")
    assert why(NodeTrace.read(tmp_path / "x.trace")) == {}
