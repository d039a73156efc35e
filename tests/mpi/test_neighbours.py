"""All-to-alls and all-gathers among the neighbours of a topology: random exchanges, byte by byte
and against the MPI library's own."""

from __future__ import annotations

import re
from pathlib import Path

import mpis
import pytest
from exchange_support import RANKS, run_on_nodes
from haichi.report.model import Report
from mpis import Mpi

HERE = Path(__file__).parent
CASES = 50  # of each number of ranks
ALL = {
    f"MPI_Neighbor_{each}"
    for each in ("alltoall", "alltoallv", "alltoallw", "allgather", "allgatherv")
}


def run_cases(mpi: Mpi, folder: Path, ranks: int, seed: int, **settings: str) -> Report:
    """None may be wrong, and where MPI leaves it open all bytes are as they are without haichi."""
    program = mpi.compile(HERE / "neighbour_cases.c")
    argv = [program, str(seed), str(CASES)]
    out, report = run_on_nodes(mpi, folder, ranks, argv, HAICHI_COLLECTIVES_AFTER="1", **settings)
    assert f"cases {CASES} wrong 0" in out
    assert out == mpi.run(ranks, argv, mpi.stock(), timeout=300).stdout
    return report


@pytest.mark.parametrize("place", mpis.slow_but([1], range(4)))
def test_random_exchanges_by_trial(mpi: Mpi, tmp_path: Path, place: int) -> None:
    sizes = RANKS[mpi.abi]
    ranks = sizes[place % len(sizes)]
    report = run_cases(mpi, tmp_path, ranks, 1000 * place)
    if ranks < 2:
        return
    assert {each.collective for each in report.collectives} == ALL
    tried = {c.name for each in report.collectives for c in each.candidates if c.trials}
    assert {"library", "spread(nd_rank_shift,0)"} <= tried


@pytest.mark.parametrize("algorithm", mpis.slow_but(["ring"], ["spread(nd_shift,2)", "ring"]))
def test_random_exchanges_by_one_algorithm(mpi: Mpi, tmp_path: Path, algorithm: str) -> None:
    """What goes round all ranks is not for neighbours: the library does it."""
    ranks = max(size for size in RANKS[mpi.abi] if size <= 8)
    report = run_cases(mpi, tmp_path, ranks, 7000, HAICHI_COLLECTIVES_ALGORITHM=algorithm)
    assert {each.collective for each in report.collectives} == ALL
    expected = "library" if algorithm == "ring" else algorithm
    assert {each.chosen for each in report.collectives} == {expected}


def test_wrong_calls_are_the_library_s(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.compile(HERE / "neighbour_errors.c")
    ranks = 4 if mpi.abi == "mpiabi" else 3
    out, report = run_on_nodes(mpi, tmp_path, ranks, [program], HAICHI_COLLECTIVES_AFTER="1")
    assert out == mpi.run(ranks, [program], mpi.stock()).stdout
    assert len(re.findall(r"^negative count: [1-9]", out, re.MULTILINE)) == 3
    assert [each.collective for each in report.collectives] == ["MPI_Neighbor_alltoallv"]


@pytest.mark.slow
def test_explain_names_the_choice_and_its_trials(mpi: Mpi, tmp_path: Path) -> None:
    run_cases(mpi, tmp_path, RANKS[mpi.abi][-1], 1)
    command = [str(mpis.ROOT / "haichi"), "explain", str(tmp_path / "report.json")]
    done = mpis.run_bounded(command, timeout=120)
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"MPI_Neighbor_alltoallv, blocks of any size, \d+ ranks on \d+ nodes: ", done.stdout
    )
    assert re.search(r"^  (library|spread\(nd_rank_shift,0\)) +\d", done.stdout, re.MULTILINE)
