"""`haichi measure collectives`: the program, and what is made of the trials."""

from __future__ import annotations

import json
from pathlib import Path

import mpis
import pytest
from haichi.measure import collectives
from haichi.measure.cases import Plan
from haichi.measure.places import temporary_machine
from haichi.mpi import NAMES, Missing, find
from test_hpio import program


@pytest.mark.parametrize("function", collectives.FUNCTIONS)
def test_every_byte_arrives(mpi: mpis.Mpi, function: str) -> None:
    words = [str(program(mpi, "exchange")), function, "1000", "2"]
    line = json.loads(mpi.run(4, words, timeout=60, check=True).stdout)
    assert [r["wrong_bytes"] for r in line["results"]] == [0] * 4
    assert all(r["seconds"] > 0 for r in line["results"])


@pytest.mark.parametrize("words", [[], ["alltoall", "0", "1"], ["reduce", "8", "1"]])
def test_bad_arguments_are_refused(mpi: mpis.Mpi, words: list[str]) -> None:
    done = mpi.run(2, [str(program(mpi, "exchange")), *words], timeout=60)
    assert done.returncode != 0
    assert "usage: exchange" in done.stderr


def test_a_cell_has_every_candidate_and_the_choice(tmp_path: Path) -> None:
    """On this machine, playing four nodes: the library, haichi's, and one of them chosen."""
    for name in NAMES:
        try:
            which = find(name)
            break
        except Missing:
            continue
    else:
        pytest.skip("no MPI")
    with temporary_machine(4, collectives.RANKS) as place:
        plan = Plan(place, collectives.RANKS, "ucx", tmp_path)
        cell = collectives.Cell(plan, which, "BK", 4, "skewed", 64)
        cases, figures = collectives.run_cell(cell, rounds=2)
    assert not [case.problems for case in cases if case.problems]
    names = [case.variant.split(" ")[0] for case in cases]
    assert "library" in names
    assert "ring" in names
    assert sum("haichi's choice" in case.variant for case in cases) == 1
    assert {len(case.operations["call"].seconds) for case in cases} == {2}
    assert figures is not None
    assert figures[0] >= 1


def test_claims_count_the_cells_that_are_near() -> None:
    near, worst, mean = collectives.claims([(1.0, 1.2), (1.04, 1.0), (1.06, 0.96), (1.0, 1.0)])
    assert (near.ratio, near.reached) == (0.75, False)
    assert (worst.ratio, worst.reached) == (0.96, False)
    assert mean.ratio == pytest.approx((1.2 * 0.96) ** 0.25)
