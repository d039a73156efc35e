"""What the curves rest on that a record is predicted by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import recorded
from haichi.fit.model import Profile
from haichi.predict.basis import basis
from haichi.record.read import read
from test_predict import line, machine, predicted, write_machine


def record_of(tmp_path: Path, cores: int, *calls: recorded.Line) -> Path:
    """Four ranks on two nodes."""
    signature = {"library": "Known MPI 1.0", "processor": "known", "cores": cores}
    return recorded.write(
        tmp_path / "r.jsonl",
        recorded.head(4, 2, signature=signature),
        recorded.world(4),
        [recorded.rank(number, wall=1.0, mpi=4e-4) for number in range(4)],
        calls,
        recorded.end(4),
    )


ALLREDUCE = recorded.call("0-3", "MPI_Allreduce", 10, 4e-4, bytes=1000, comm=0)
SEND = recorded.call("0", "MPI_Send", 10, 0.1, bytes=1000, comm=0, place="network")


def profile(**of_allreduce: Any) -> dict[str, Any]:
    document = machine()
    document["made"]["launches"] = 9
    for curve in document["curves"]:
        curve["launches"] = 5
    document["collectives"][0] |= of_allreduce
    other = {"name": "allreduce", "ranks": 2, "nodes": 1, "launches": 1, **line(1e-6, 1e-9)}
    document["collectives"].append(other)
    return document


@pytest.mark.parametrize(
    ("calls", "launches", "curve"),
    [
        ([SEND], 5, "ping-pong at numa"),
        ([ALLREDUCE], 2, "allreduce of 4 ranks on 2"),  # and not the one of 2 ranks
        ([SEND, ALLREDUCE], 2, "allreduce of 4 ranks on 2"),
        ([recorded.call("0-3", "MPI_Barrier", 1, 0.1, comm=0)], 9, ""),  # its curve says nothing
    ],
)
def test_the_curve_with_fewest_launches_counts(
    tmp_path: Path, calls: list[recorded.Line], launches: int, curve: str
) -> None:
    made = basis(Profile.model_validate(profile(launches=2)), read(record_of(tmp_path, 2, *calls)))
    assert (made.launches, made.curve) == (launches, curve)


def test_few_launches_are_told_of_the_curve_that_has_them(tmp_path: Path) -> None:
    record = record_of(tmp_path, 2, ALLREDUCE)
    made = predicted(record, write_machine(tmp_path, profile(launches=2)))
    (note,) = [each for each in made["notes"] if "launch" in each]
    assert note.startswith("allreduce of 4 ranks on 2 of known rests on 2 launches: 10% each way")
    many = predicted(record, write_machine(tmp_path, profile(launches=3)))
    assert not [each for each in many["notes"] if "launch" in each]
    ends = [made["program_s"]["high"], many["program_s"]["high"]]
    assert ends[0] > ends[1]


@pytest.mark.parametrize(
    ("cores", "crowded", "told"),
    [
        (2, None, ""),
        (1, True, ""),
        (2, True, "was measured with more ranks than cores, and the job has cores enough"),
        (1, None, "the job has more ranks than cores, and allreduce of 4 ranks on 2 was measured"),
    ],
)
def test_ranks_that_shared_cores_are_told(
    tmp_path: Path, cores: int, crowded: bool | None, told: str
) -> None:
    document = profile(oversubscribed=crowded)
    made = basis(Profile.model_validate(document), read(record_of(tmp_path, cores, ALLREDUCE)))
    assert [told in note for note in made.notes] == ([True] if told else [])
