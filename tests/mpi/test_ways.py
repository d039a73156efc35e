"""Which way collective accesses go, by trial: that all ways are tried under real programs, that no
byte is lost between them, and that short jobs have none. The choice itself is tested in
src/collectives/way_tuner_test.cpp."""

from __future__ import annotations

from pathlib import Path

import pytest
import tuned_io
from haichi.report.model import Collective, Report
from mpis import Mpi
from tuned_io import run

# All ways take turns from the first access on.
TRIALS = {"HAICHI_IO_LIBRARY": "on", "HAICHI_IO_BUDGET": "100", "HAICHI_COLLECTIVES_ROUNDS": "2"}
USUAL = {"HAICHI_IO_LIBRARY": "on", "HAICHI_IO_BUDGET": "2"}


def tried(report: Report, kind: str) -> list[Collective]:
    """Of the writes or reads of all ranks."""
    return [
        each
        for each in report.collectives
        if each.collective.startswith(f"file {kind}") and each.ranks == tuned_io.RANKS
    ]


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("words", [[], ["dup"], ["halves"]], ids=["world", "duplicates", "halves"])
def test_every_way_has_its_turn(mpi: Mpi, tmp_path: Path, words: list[str], nodes: int) -> None:
    report = run(mpi, tmp_path, *words, rounds=30, nodes=nodes, **TRIALS)
    for kind in ("write", "read"):
        (found,) = tried(report, kind)
        by_name = {each.name: each for each in found.candidates}
        assert set(by_name) == {"library", "alone", "two phases"}
        assert all(len(each.trials) >= 1 for each in found.candidates), found
        assert found.chosen in by_name


def test_balance_is_tried_where_one_node_has_everything(mpi: Mpi, tmp_path: Path) -> None:
    report = run(mpi, tmp_path, "uneven", rounds=40, nodes=2, **TRIALS)
    for kind in ("write", "read"):
        (found,) = tried(report, kind)
        assert "two phases in balance" in {each.name for each in found.candidates if each.trials}


def test_short_jobs_try_nothing(mpi: Mpi, tmp_path: Path) -> None:
    report = run(mpi, tmp_path, rounds=20, **USUAL)
    assert not tried(report, "write") and not tried(report, "read")
    (file,) = {each.path for each in report.files if each.path.endswith("/x")}
    calls = [call for each in report.files if each.path == file for call in each.calls]
    assert all("two phases" in call.why[0] for call in calls if call.handled)


def test_decisions_are_kept_for_later_jobs(mpi: Mpi, tmp_path: Path) -> None:
    folder = tmp_path / "decisions"
    folder.mkdir()
    kept = {"HAICHI_COLLECTIVES_DECISIONS": str(folder)}
    first = run(mpi, tmp_path, rounds=30, **TRIALS, **kept)
    (chosen,) = [each.chosen for each in tried(first, "write")]
    second = run(mpi, tmp_path, rounds=5, **USUAL, **kept)
    (file,) = {each.path for each in second.files if each.path.endswith("/x")}
    (found,) = {each.path: each.calls[0] for each in second.files if each.path == file}.values()
    assert chosen in found.why[0]
