"""Nonblocking and persistent all-to-alls by haichi: random exchanges byte by byte, many under
way at once, and legal programs that would hang if they needed more of others than MPI allows."""

from __future__ import annotations

import re
from pathlib import Path

import mpis
import pytest
from exchange_support import RANKS, first_mpi, run_on_nodes
from haichi.report.load import load
from haichi.report.model import Collective
from mpis import Mpi
from test_threads import ROUNDS

HERE = Path(__file__).parent
CASES = 40  # of each number of ranks
CHECKS = 11


def run(
    mpi: Mpi, folder: Path, ranks: int, argv: list[str | Path], **settings: str
) -> tuple[str, list[Collective]]:
    """Runs a program on several nodes; its output, and the report's nonblocking collectives."""
    out, report = run_on_nodes(
        mpi, folder, ranks, argv, HAICHI_COLLECTIVES_NONBLOCKING="on", **settings
    )
    blocking = ("MPI_Alltoall", "MPI_Alltoallv")
    return out, [each for each in report.collectives if each.collective not in blocking]


@pytest.mark.parametrize("place", mpis.slow_but([1], range(4)))
def test_random_exchanges(mpi: Mpi, tmp_path: Path, place: int) -> None:
    """Many requests of haichi's, of the library's and of the program's own in one list."""
    sizes = RANKS[mpi.abi]
    ranks = sizes[place % len(sizes)]
    program = mpi.compile(HERE / "nonblocking_exchange_cases.c")
    out, kinds = run(mpi, tmp_path, ranks, [program, str(1000 * place), str(CASES)])
    assert f"cases {CASES} wrong 0" in out
    if ranks > 1:
        assert {"spread(nd_rank_shift,0)"} <= {each.chosen for each in kinds}
        names = {each.collective for each in kinds}
        assert names >= {"MPI_Ialltoall", "MPI_Ialltoallv", "MPI_Ialltoallw"}
        persistent = {f"MPI_Alltoall{each}_init" for each in ("", "v", "w")}
        assert names & persistent == (set() if mpi.abi == "openmpi" else persistent)


@pytest.mark.parametrize("place", mpis.slow_but([1], range(4)))
def test_random_exchanges_among_neighbours(mpi: Mpi, tmp_path: Path, place: int) -> None:
    """Where a rank is a neighbour more than once all bytes are as they are without haichi."""
    sizes = RANKS[mpi.abi]
    ranks = sizes[place % len(sizes)]
    program = mpi.compile(HERE / "nonblocking_neighbour_cases.c")
    argv: list[str | Path] = [program, str(1000 * place), str(CASES)]
    out, kinds = run(mpi, tmp_path, ranks, argv)
    assert f"cases {CASES} wrong 0" in out
    assert out == mpi.run(ranks, [*argv, "stock"], mpi.stock(), timeout=240).stdout
    if ranks == 1:
        return
    assert {each.chosen for each in kinds} == {"spread(nd_rank_shift,0)"}
    forms = ("MPI_Ineighbor_alltoall{}",)
    if mpi.abi != "openmpi":
        forms += ("MPI_Neighbor_alltoall{}_init",)
    assert {each.collective for each in kinds} == {
        f.format(v) for f in forms for v in ("", "v", "w")
    }


@pytest.mark.parametrize("order", mpis.slow_but(["rank"], ["rank", "pairwise", "nd_shift"]))
def test_random_exchanges_in_another_order(mpi: Mpi, tmp_path: Path, order: str) -> None:
    ranks = max(size for size in RANKS[mpi.abi] if size <= 8)
    program = mpi.compile(HERE / "nonblocking_exchange_cases.c")
    wanted = f"spread({order},0)"
    out, kinds = run(
        mpi, tmp_path, ranks, [program, "9000", "15"], HAICHI_COLLECTIVES_ALGORITHM=wanted
    )
    assert "cases 15 wrong 0" in out
    assert {each.chosen for each in kinds} == {wanted}


def test_what_legal_programs_do_around_them(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.compile(HERE / "nonblocking_exchange.c")
    out, kinds = run(mpi, tmp_path, 4 if mpi.abi == "mpiabi" else 3, [program, tmp_path])
    assert "FAILED" not in out
    assert len(re.findall("^ok ", out, re.MULTILINE)) == CHECKS
    assert sum(each.calls for each in kinds if each.chosen != "library") > CHECKS


def test_left_to_the_library(tmp_path: Path) -> None:
    """Where an algorithm is named that cannot do it, on one node, and switched off."""
    mpi = first_mpi()
    argv: list[str | Path] = [mpi.compile(HERE / "nonblocking_exchange.c"), tmp_path]
    for name in ("ring", "library"):
        out, kinds = run(mpi, tmp_path, 3, argv, HAICHI_COLLECTIVES_ALGORITHM=name)
        assert "FAILED" not in out
        assert {each.chosen for each in kinds} == {"library"}
    _, kinds = run(mpi, tmp_path, 3, argv, HAICHI_COLLECTIVES_ENABLE="off")
    assert not kinds
    report = tmp_path / "one.json"
    env = mpi.preload(HAICHI_REPORT=str(report), HAICHI_COLLECTIVES_NONBLOCKING="on")
    assert mpi.run(3, argv, env, timeout=120).returncode == 0
    assert not load(report).collectives


def test_explain_says_by_which_rule(tmp_path: Path) -> None:
    mpi = first_mpi()
    program = mpi.compile(HERE / "nonblocking_exchange_cases.c")
    run(mpi, tmp_path, 3, [program, "1", "20"])
    command = [str(mpis.ROOT / "haichi"), "explain", str(tmp_path / "report.json")]
    done = mpis.run_bounded(command, timeout=120)
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"MPI_Ialltoallv, blocks of any size, \d ranks on \d nodes: spread\(nd_rank_shift,0\)\n"
        r"  \d+ calls?, by rule: all messages at once, other nodes first\n",
        done.stdout,
    )


def test_threads_with_communicators_of_their_own(mpi: Mpi, tmp_path: Path) -> None:
    """Each makes and frees communicators, starts exchanges, and waits for them, all at once."""
    if mpi.abi != "openmpi":
        pytest.skip("stock MPICH does not finish this itself: its threads spin under one lock")
    program = mpi.compile(HERE / "nonblocking_threads.c", *mpis.thread_flags())
    out, kinds = run(mpi, tmp_path, 2, [program, str(ROUNDS)])
    if "no MPI_THREAD_MULTIPLE" in out:
        pytest.skip(f"{mpi.name} does not give MPI_THREAD_MULTIPLE")
    assert "threads: right" in out
    assert sum(each.calls for each in kinds if each.chosen != "library") > ROUNDS
