"""many_cases.py: which cases it runs where, and that it counts what fails, breaks off or hangs."""

from __future__ import annotations

from pathlib import Path

import many_cases
import pytest
from many_cases import CHUNK, MOST_RANKS, Job, Result, job_of, judge
from oracle_support import distribution_mpi


def test_all_ranks_mpis_and_placements_have_cases() -> None:
    jobs = list(many_cases.jobs(0, 20000, 1))
    assert sum(job.cases for job in jobs) == 20000
    for abi in many_cases.ABIS:
        mine = [job for job in jobs if job.abi == abi]
        assert {job.ranks for job in mine} == set(range(1, MOST_RANKS + 1))
        assert {job.nodes for job in mine} == set(many_cases.PLACEMENTS)
        for ranks in range(2, MOST_RANKS + 1):
            assert len({job.nodes for job in mine if job.ranks == ranks}) >= 4
            kinds = {(job.tuned, job.by_nodes) for job in mine if job.ranks == ranks}
            assert {each for _, each in kinds} == {False, True}


def test_programs_have_all_mpis_and_threads_and_few_ranks() -> None:
    jobs = list(many_cases.jobs(0, 20000, 1, "programs"))
    assert sum(job.cases for job in jobs) == 20000
    for abi in many_cases.ABIS:
        mine = [job for job in jobs if job.abi == abi]
        assert {job.ranks for job in mine} == {2, 3, 4, 8}
        assert {job.options for job in mine} == {(), ("--single",)}
        assert {job.nodes for job in mine} == set(many_cases.PLACEMENTS)
        assert sum(job.ranks <= 4 for job in mine) > 0.8 * len(mine)


def test_a_case_is_the_same_in_any_range() -> None:
    """The job of a case follows from its number; a range only cuts it."""
    for number in (0, 5, CHUNK - 1, CHUNK, 17 * CHUNK + 3):
        alone = next(many_cases.jobs(number, 1, 7))
        whole = job_of(number - number % CHUNK, 7)
        assert (alone.first, alone.cases, alone.seed) == (number, 1, 7)
        assert (alone.abi, alone.ranks, alone.nodes) == (whole.abi, whole.ranks, whole.nodes)
        assert alone.options == whole.options


@pytest.mark.parametrize("what", ["cases", "programs"])
def test_an_mpi_that_is_named_has_all_jobs(what: str) -> None:
    jobs = list(many_cases.jobs(100, 8000, 1, what, "openmpi-5.0.11"))
    assert sum(job.cases for job in jobs) == 8000
    assert {job.abi for job in jobs} == {"openmpi"}
    assert {job.mpi().name for job in jobs} == {"openmpi-5.0.11"}
    assert {job.nodes for job in jobs} == set(many_cases.PLACEMENTS)
    alone = next(many_cases.jobs(jobs[3].first + 5, 1, 1, what, "openmpi-5.0.11"))
    assert (alone.ranks, alone.nodes, alone.on) == (jobs[3].ranks, jobs[3].nodes, "openmpi-5.0.11")


JOB = Job("openmpi", 3, 10, "each", 4, 20)


def dones(*numbers: int) -> str:
    return "".join(f"oracle: case {number} done\n" for number in numbers)


@pytest.mark.parametrize(
    ("status", "out", "err", "failed", "passed", "dealt_with"),
    [
        (0, "oracle: 10 cases, 0 failed, 30 collective calls, seed 4", "", {}, 10, 10),
        (
            1,
            "oracle: 10 cases, 2 failed, 30 collective calls, seed 4, numbers 21 27",
            "",
            {21: "wrong", 27: "wrong"},
            8,
            10,
        ),
        (139, "", dones(20, 21), {22: "ended the job, exit code 139"}, 2, 3),
        (139, "", "", {20: "ended the job, exit code 139"}, 0, 1),
        (
            3,
            "",
            dones(20) + "oracle: no end of case 21 of seed 4, open\n",
            {21: "did not end"},
            1,
            2,
        ),
        (None, "", dones(20, 21, 22), {23: "did not end"}, 3, 4),
        (
            139,
            "",
            "case 20 of seed 4: 3 ranks\n" + dones(20, 21),
            {20: "wrong", 22: "ended the job, exit code 139"},
            1,
            3,
        ),
    ],
    ids=["good", "wrong", "signal", "signal at once", "hang", "killed", "wrong and signal"],
)
def test_what_is_counted(
    status: int | None, out: str, err: str, failed: dict, passed: int, dealt_with: int
) -> None:
    result, done = judge(JOB, status, out, err)
    assert (result.failed, result.passed, done) == (failed, passed, dealt_with)
    assert not result.wrong


def test_a_job_that_fails_after_its_last_case_is_told() -> None:
    result, done = judge(JOB, 139, "", dones(*range(20, 30)))
    assert (result.passed, result.failed, done) == (10, {}, 10)
    assert len(result.wrong) == 1


@pytest.mark.parametrize(
    ("result", "status"),
    [
        (Result(passed=5), 0),
        (Result(passed=4), 3),
        (Result(passed=4, failed={3: "wrong"}), 1),
        (Result(passed=5, wrong=["passed through"]), 1),
    ],
    ids=["all", "not run", "failed", "passed through"],
)
def test_exit_code(result: Result, status: int) -> None:
    assert many_cases.show(result, 5, 1.0) == status


def test_a_few_cases_and_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The end of one job and the begin of the next, on two MPIs; the second time nothing is run."""
    for abi in many_cases.ABIS:
        if distribution_mpi(abi).missing:
            pytest.skip(distribution_mpi(abi).missing)
    words = ["--first", str(3 * CHUNK - 4), "--cases", "8", "--keep", str(tmp_path)]
    assert many_cases.main(words) == 0
    first = capsys.readouterr().out
    assert "8 passed, 0 failed, 0 failed by the MPI library alone, 0 not run" in first
    assert first.count("ranks, ") == 2
    assert many_cases.main([*words, "--resume", "--seconds", "0"]) == 0
    assert "ranks, " not in capsys.readouterr().out


def test_a_failure_names_its_case_and_how_to_repeat_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Open MPI 4.1.4 without haichi, held to what only haichi promises."""
    mpi = distribution_mpi("openmpi")
    if mpi.missing:
        pytest.skip(mpi.missing)
    monkeypatch.setattr(Job, "environment", lambda self, mpi, folder: {})
    job = Job("openmpi", 3, 30, "each", 1, 0, ("--only", "overlap"))
    result = many_cases.run(job, tmp_path, tmp_path)
    assert result.failed
    number = min(result.failed)
    out = capsys.readouterr().out
    assert f"FAILED case {number} of seed 1" in out
    assert f"./haichi test --cases 1 --first {number} --seed 1" in out
    assert (tmp_path / f"1-{job.first}.log").exists()
