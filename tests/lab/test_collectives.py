"""`haichi figures collectives`: the program, and what is made of the trials."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import mpis
import pytest
from haichi.figures import collectives, exchange_cell
from haichi.figures.cases import Plan
from haichi.figures.places import OnMachine, temporary_machine
from haichi.mpi import NAMES, Missing, find


@pytest.mark.parametrize("function", collectives.FUNCTIONS)
def test_every_byte_arrives(mpi: mpis.Mpi, function: str) -> None:
    words = [str(mpi.bench("exchange")), function, "1000", "2"]
    line = json.loads(mpi.run(4, words, mpi.stock(), timeout=60, check=True).stdout)
    assert [r["wrong_bytes"] for r in line["results"]] == [0] * 4
    assert all(r["seconds"] > 0 for r in line["results"])


@pytest.mark.parametrize("words", [[], ["alltoall", "0", "1"], ["reduce", "8", "1"]])
def test_bad_arguments_are_refused(mpi: mpis.Mpi, words: list[str]) -> None:
    done = mpi.run(2, [str(mpi.bench("exchange")), *words], timeout=60)
    assert done.returncode != 0
    assert "usage: exchange" in done.stderr


def cell(place: OnMachine, function: str, reports: Path) -> exchange_cell.Cell:
    """64 bytes on this machine, playing four nodes."""
    for name in NAMES:
        with contextlib.suppress(Missing):
            plan = Plan(place, collectives.RANKS, "ucx", reports)
            return exchange_cell.Cell(plan, find(name), "4x4 BK", function, 64)
    pytest.skip("no MPI")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "one_of_them", "trials"),
    [
        ("skewed", "ring", {2}),
        pytest.param("iskewed", "spread(rank,0)", {2 * exchange_cell.JOBS}, marks=pytest.mark.slow),
    ],
)
def test_a_cell_has_every_candidate_and_the_choice(
    tmp_path: Path, function: str, one_of_them: str, trials: set[int]
) -> None:
    """The library, haichi's, and one of them chosen: by trial, or by rule."""
    with temporary_machine(4, collectives.RANKS) as place:
        found = exchange_cell.run(cell(place, function, tmp_path), rounds=2)
    assert not [case.problems for case in found.cases if case.problems]
    names = [case.variant.split(" ")[0] for case in found.cases]
    assert {"library", one_of_them} <= set(names)
    assert sum("haichi's choice" in case.variant for case in found.cases) == 1
    assert {len(case.operations["call"].seconds) for case in found.cases} == trials
    assert found.over_best is not None
    assert found.over_best >= 1


def test_claims_count_the_cells_that_are_near() -> None:
    ratios = [(1.0, 1.2), (1.04, 1.0), (1.06, 0.96), (1.0, 1.0), (None, None)]
    found = [exchange_cell.Found([], *each) for each in ratios]
    near, worst, mean = collectives.claims(found)
    assert (near.ratio, near.reached) == (0.75, False)
    assert (worst.ratio, worst.reached) == (0.96, False)
    assert mean.ratio == pytest.approx((1.2 * 0.96) ** 0.25)


def test_places_that_there_are() -> None:
    try:
        find("openmpi")
    except Missing as missing:
        pytest.skip(str(missing))
    there = [
        (shape, mapping)
        for shape in collectives.SHAPES
        for mapping in collectives.MAPPINGS
        if collectives.can_be(shape, mapping, "openmpi")
    ]
    assert len(there) == 2 * len(collectives.SHAPES) - 1
    assert ("16x1", "RR") not in there
