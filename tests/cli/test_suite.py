"""How figures start `haichi measure`: what they get, and what they are told if it fails."""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest
from haichi import mpi
from haichi.figures import suite
from haichi.samples.read import SamplesFile, read

BUDGET = 0.3


@pytest.fixture(params=mpis.slow_but(["mpich"], ["openmpi", "mpich"]))
def which(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> mpi.Mpi:
    monkeypatch.setenv("HAICHI_BUILD", str(mpis.BUILD))
    try:
        found = mpi.find(str(request.param))
        suite.program(found)
    except mpi.Missing as missing:
        pytest.skip(str(missing))
    return found


def measured(which: mpi.Mpi, ranks: int, words: list[str], out: Path, **more: bool) -> SamplesFile:
    suite.measure(which, ranks, words, BUDGET, out, **more)
    return read(out)


def test_each_time_it_is_a_new_file(which: mpi.Mpi, tmp_path: Path) -> None:
    out = tmp_path / "s.jsonl"
    for size in ("8", "1024"):
        found = measured(which, 2, ["ping-pong", "--size", size], out)
        assert [(each.name, each.bytes) for each in found.points] == [("ping-pong", int(size))]
        assert len(found.launches) == 1


def test_a_file_that_lacks_points_will_do_where_that_is_said(
    which: mpi.Mpi, tmp_path: Path
) -> None:
    """One rank has no other to play ping-pong with."""
    words, out = ["ping-pong", "memory-copy", "--size", "64"], tmp_path / "s.jsonl"
    with pytest.raises(mpi.Missing, match="exit code 1: warning: ping-pong needs 2 ranks"):
        measured(which, 1, words, out)
    found = measured(which, 1, words, out, partial=True)
    assert {each.name for each in found.points} == {"memory-copy"}


def test_without_a_file_it_has_failed(which: mpi.Mpi, tmp_path: Path) -> None:
    with pytest.raises(mpi.Missing, match="exit code 64: error: 'no-such' is no measurement"):
        measured(which, 2, ["no-such"], tmp_path / "s.jsonl", partial=True)


def test_samples_of_an_earlier_time_do_not_pass_for_new_ones(
    which: mpi.Mpi, tmp_path: Path
) -> None:
    out = tmp_path / "s.jsonl"
    measured(which, 2, ["ping-pong", "--size", "8"], out)
    with pytest.raises(mpi.Missing, match="exit code 64"):
        measured(which, 2, ["no-such"], out, partial=True)
    assert not out.exists()


def test_a_suite_that_is_not_built(
    which: mpi.Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "s.jsonl"
    out.write_text("of an earlier time\n")
    monkeypatch.setenv("HAICHI_BUILD", str(tmp_path))
    with pytest.raises(mpi.Missing, match=r"haichi-measure-\w+ is not built: \./haichi build"):
        suite.measure(which, 2, [], BUDGET, out)
    assert out.read_text() == "of an earlier time\n"
