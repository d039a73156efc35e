"""`haichi compare` on real MPIs: a program observed, then under haichi."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import mpis
import pytest
from haichi import paths
from haichi.report.load import load
from mpis import Mpi

RANKS, REGIONS, REGION = 4, 300, 3744
MPIS = [mpi for mpi in mpis.all_mpis() if mpi.name in ("mpich-4.0.2", "openmpi-4.1.4")]
HPIO = ["--region-size", str(REGION), "--region-space", "256", "--region-count", str(REGIONS)]


def compare(mpi: Mpi, *words: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    return mpis.haichi_command("compare", *words, **{**mpi.launcher_env, **env})


@pytest.fixture(params=MPIS, ids=str)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    if request.param.missing:
        pytest.skip(request.param.missing)
    mpis.not_with_sanitizers("`haichi run` does not load the sanitizer into ranks", "thread")
    return request.param


def hpio(mpi: Mpi, file: Path) -> list[str]:
    program = mpis.BUILD / "bin" / f"hpio-{mpi.abi}"
    if not program.exists():
        pytest.skip(f"no {program}: ./haichi build")
    return mpi.command(RANKS, [program, *HPIO, "--file", file])


def test_a_program_without_and_with_haichi(mpi: Mpi, tmp_path: Path) -> None:
    out = tmp_path / "out"
    # What is tested is haichi: the library's way is no candidate.
    done = compare(
        mpi, "--repetitions", "2", "--out", out, "--", *hpio(mpi, tmp_path / "data"),
        HAICHI_IO_LIBRARY="off",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line]
    assert " in collective file access, " in lines[4] and lines[4].endswith("as a whole")
    moved = 2 * RANKS * REGIONS * REGION
    for way, handled in (("stock", False), ("haichi", True)):
        for number in (1, 2):
            report = load(out / f"{way}-{number}.json")
            calls = report.calls()
            assert {call.handled for call in calls} == {handled}
            assert sum(call.bytes for call in calls) == moved
            assert sum(rank.collective_access.bytes for rank in report.ranks) == moved
            for rank in report.ranks:
                assert rank.collective_access.calls == len(calls) == 2
                assert rank.collective_access.seconds > 0
            if way == "stock":  # whose calls are timed where they come in, as the ranks' sums are
                slowest = max(rank.collective_access.seconds for rank in report.ranks)
                assert slowest <= sum(call.seconds for call in calls) + 1e-9
    page = (out / "compare.html").read_text()
    assert "stock-" in page and "haichi-" in page


def test_a_program_that_fails_is_shown(mpi: Mpi, tmp_path: Path) -> None:
    done = compare(mpi, "--out", tmp_path / "out", "--", *hpio(mpi, tmp_path / "no" / "data"))
    assert done.returncode == 1
    assert "haichi compare: run 1, stock: exit code" in done.stderr
    assert "--observe" in done.stderr


def test_what_is_not_mpi_has_no_report(mpi: Mpi, tmp_path: Path) -> None:
    words = [mpis.HAICHI, "run", "--mpi", mpi.abi, "/bin/true"]
    done = compare(mpi, "--out", tmp_path / "out", "--", *words)
    assert done.returncode == 1
    assert "no report" in done.stderr and "MPI_Finalize" in done.stderr


def test_a_folder_of_somebody_elses_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years")
    done = compare(MPIS[0], "--out", tmp_path, "--", "/bin/true")
    assert done.returncode == 2
    assert done.stderr == (
        f"haichi compare: {tmp_path} holds files that are not haichi's: name a new folder\n"
    )
    assert (tmp_path / "thesis.tex").read_text() == "years"


def test_a_way_out_of_the_results_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "OUT", tmp_path / "out")
    for folder in (tmp_path / "out", tmp_path / "out" / ".." / "thesis"):
        folder.resolve().mkdir()
        (folder / "thesis.tex").write_text("years")
        with pytest.raises(FileExistsError):
            paths.empty_folder(folder)
        assert (folder / "thesis.tex").exists()


def test_results_of_an_earlier_time_are_taken_away(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    paths.empty_folder(folder)
    (folder / "stock-1.json").write_text(json.dumps({}))
    paths.empty_folder(folder)
    assert [each.name for each in folder.iterdir()] == [".haichi-results"]
