"""What counts of several files and launches, and how much."""

from __future__ import annotations

from pathlib import Path

import pytest
from haichi.fit.gather import Job, combine, gather, least_of
from haichi.report.load import ReportError
from haichi.samples.model import Point
from haichi.samples.read import read
from known import curve, launch, point, write


def made(median: float) -> Point:
    return Point.model_validate(point("ping-pong", "numa", 8, median))


def test_the_launch_is_the_unit() -> None:
    """A launch with a thousand points at six times the time is one of three."""
    launches = [[made(1e-6)], [made(1.02e-6)], [made(6e-6)] * 1000]
    estimate = combine(launches)
    assert estimate.value == pytest.approx(1.02e-6)
    assert estimate.launches == 3
    assert estimate.samples == 100 * 1002
    assert estimate.low == pytest.approx(0.995e-6)
    assert estimate.high == pytest.approx(6.03e-6)


def test_of_many_launches_the_interval_is_that_of_their_median() -> None:
    launches = [[made((1 + i / 100) * 1e-6)] for i in range(10)]
    estimate = combine(launches)
    # Of ten values the second and the ninth enclose the median with 97.9 %, the third with 89 %.
    assert (estimate.low, estimate.high) == (pytest.approx(1.01e-6), pytest.approx(1.08e-6))
    assert combine(launches[:6]).low == pytest.approx(1e-6)


def test_the_least_of_launches_that_disagree() -> None:
    estimate = least_of([[made(0.58e-6)], [made(0.13e-6)], [made(0.6e-6)]])
    assert estimate.value == pytest.approx(0.13e-6)
    assert (estimate.low, estimate.high) == (
        pytest.approx(0.995 * 0.13e-6),
        pytest.approx(1.005 * 0.13e-6),
    )
    assert estimate.said() == "the least of 300 samples of 3 launches"


def test_launches_that_do_not_count(tmp_path: Path) -> None:
    file = write(
        tmp_path / "s.jsonl",
        launch(1),
        point("ping-pong", "numa", 8, 1e-6, 1),
        launch(2, oversubscribed=True, reference=False),
        point("ping-pong", "numa", 8, 9e-6, 2),
        launch(3, under=True),
        point("ping-pong", "numa", 8, 1.2e-6, 3),
    )
    found = gather([read(file)])
    assert found.pair("ping-pong", "numa")[8].value == pytest.approx(1e-6)
    assert len(found.launches) == 1
    assert [line.partition("launch ")[2] for line in found.left_out] == [
        "2: more ranks than cores, so it is no reference",
        "3: haichi was underneath",
    ]
    # With more ranks than cores, launches count only where there are no others.
    every = gather([read(file)], any_launch=True)
    assert every.pair("ping-pong", "numa")[8].value == pytest.approx(1.1e-6)
    assert len(every.launches) == 3


def test_no_launch_counts(tmp_path: Path) -> None:
    file = write(tmp_path / "s.jsonl", launch(1, reference=False, oversubscribed=True))
    with pytest.raises(ReportError, match="no launch counts .*--any-launch"):
        gather([read(file)])


def test_different_machines_are_refused_unless_asked(tmp_path: Path) -> None:
    records = point("ping-pong", "numa", 8, 1e-6)
    files = [
        read(write(tmp_path / "a.jsonl", launch(), records)),
        read(write(tmp_path / "b.jsonl", launch(library="Other MPI 2.0"), records)),
    ]
    with pytest.raises(ReportError, match="Known MPI 1.0 on known.*; Other MPI 2.0.*--mixed"):
        gather(files)
    assert gather(files, mixed=True).pair("ping-pong", "numa")[8].launches == 2


def test_jobs_of_other_shapes_are_other_curves(tmp_path: Path) -> None:
    wide = launch(
        1, job_ranks=4, node_names=["a", "b"], nodes_of_ranks=[0, 0, 1, 1], host_cores=[2] * 4
    )
    files = [
        read(write(tmp_path / "a.jsonl", launch(), *curve("bcast", "all", [8], lambda _: 1e-6))),
        read(write(tmp_path / "b.jsonl", wide, *curve("bcast", "all", [8], lambda _: 9e-6))),
    ]
    jobs = gather(files).jobs_of("bcast")
    assert [(job, curve[8].value) for job, curve in jobs.items()] == [
        (Job(2, 1), pytest.approx(1e-6)),
        (Job(4, 2), pytest.approx(9e-6)),
    ]
