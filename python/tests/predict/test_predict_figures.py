"""What the figures of predictions ask of the suite, and how they count runs."""

from __future__ import annotations

from pathlib import Path

import pytest
import recorded
from haichi.figures.predict_runs import AS_RECORDED, SEQUENCE, TABLE, Case, _claims
from haichi.figures.recorded_job import _joined, _worth_while
from haichi.predict.measure_for import needs_of
from haichi.record.read import Record, read

CATALOGUE = ("ping-pong", "stream", "alltoall", "allreduce", "comm-dup")


def parts(path: Path, size: int) -> Record:
    """All-to-alls in pairs of ranks, with a little of other things."""
    return read(
        recorded.write(
            path,
            recorded.head(),
            recorded.world(),
            {"kind": "communicator", "id": 1, "members": "0,2"},
            [recorded.rank(number, wall=1.0, mpi=0.5) for number in range(4)],
            recorded.call("0,2", "MPI_Alltoall", 10, 0.9, bytes=size, comm=1),
            recorded.call("0-3", "MPI_Allreduce", 10, 0.04, bytes=8, comm=0),
            recorded.call("0-3", "MPI_Comm_dup", 1, 1e-4, comm=0),
            recorded.end(),
        )
    )


def test_what_takes_next_to_nothing_is_not_measured(tmp_path: Path) -> None:
    record = parts(tmp_path / "r.jsonl", 1000)
    needs = _worth_while(record, needs_of(record, CATALOGUE))
    assert set(needs.sizes) == {"ping-pong", "alltoall", "allreduce"}
    assert set(needs.of_shapes) == {(2, 2)}


def test_needs_of_several_are_measured_together(tmp_path: Path) -> None:
    found = [needs_of(parts(tmp_path / f"{size}.jsonl", size), CATALOGUE) for size in (1000, 4000)]
    assert _joined(found, (2, 2)) == {(1000, 4000): ["alltoall"]}
    whole = {name: sizes for sizes, names in _joined(found, None).items() for name in names}
    # Parts of the job share ports: the rate of messages is asked for.
    assert whole["ping-pong"] == (8, 1000, 4000)


def test_runs_in_and_out_of_an_interval() -> None:
    told = {TABLE: None, SEQUENCE: (0.9, 1.1)}
    why = {TABLE: "waiting"}
    case = Case("lab", "openmpi", "halo", AS_RECORDED, 1.0, told, why, [0.95, 1.0, 1.2, 1.05])
    assert (case.inside(SEQUENCE), case.inside(TABLE)) == (3, 0)
    assert case.half_width(SEQUENCE) == pytest.approx(0.1)
    by = {claim.what: claim for claim in _claims([case])}
    assert by[f"by {SEQUENCE}: share of runs in their interval"].ratio == pytest.approx(0.75)
    assert by[f"by {TABLE}: share of runs in their interval"].ratio is None
