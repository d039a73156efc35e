"""`haichi figures job-regret`: whole jobs, and what is made of their times."""

from __future__ import annotations

from pathlib import Path

import pytest
from haichi.figures import exchange_cell, job_regret
from haichi.figures.job_regret import BEST, EARLIER, JOB, Asked, Row
from haichi.figures.model import Case, Samples
from haichi.figures.places import temporary_machine
from haichi.figures.trial import DEFAULT, STOCK
from test_collectives import cell


def case(variant: str, seconds: list[float], operation: str = JOB) -> Case:
    """Times of one variant."""
    return Case(
        mpi="openmpi",
        library="",
        program="",
        ranks=16,
        variant=variant,
        settings={},
        operations={operation: Samples(seconds=seconds)},
    )


def row(tmp_path: Path, calls: int = 20, **seconds: float) -> Row:
    """One job's times; no place, no program."""
    with temporary_machine() as place:
        of = cell(place, "alltoall", tmp_path)
    names = {"stock": STOCK.name, "haichi": DEFAULT.name, "best": BEST}
    return Row(of, calls, "ring", {names[n]: case(names[n], [s]) for n, s in seconds.items()})


def test_a_jobs_time_is_that_of_its_calls() -> None:
    two = case("stock", [1, 2, 3, 4, 5, 6], "last rank")
    assert job_regret.job_times(two, 3) == [6, 15]


def test_regret_is_against_the_better_of_stock_and_the_best(tmp_path: Path) -> None:
    gains = row(tmp_path, stock=4, haichi=3.3, best=3)
    assert gains.over(DEFAULT.name) == pytest.approx(4 / 3.3)
    assert gains.regret == pytest.approx(0.1)
    assert row(tmp_path, stock=4, haichi=4.2).regret == pytest.approx(0.05)
    assert row(tmp_path, stock=4).regret is None


def test_claims_are_by_the_jobs_length(tmp_path: Path) -> None:
    rows = [row(tmp_path, 20, stock=1, haichi=2), row(tmp_path, 200, stock=2, haichi=1)]
    short, short_regret, long, _ = job_regret.claims(rows)
    assert (short.ratio, short.reached, short_regret.reached) == (0.5, False, False)
    assert (long.ratio, long.reached) == (2, True)


@pytest.mark.slow
def test_every_variant_has_its_jobs(tmp_path: Path) -> None:
    """64 bytes on this machine, playing four nodes; twice five calls of each."""
    asked = Asked((), (), (), (), [5], 2, "ucx")
    with temporary_machine(4, exchange_cell.RANKS) as place:
        (found,) = job_regret.rows_of(cell(place, "alltoall", tmp_path), asked, lambda _: None)
    assert not [each.problems for each in found.cases.values() if each.problems]
    assert {STOCK.name, DEFAULT.name, EARLIER} <= set(found.cases)
    assert (BEST in found.cases) == (found.best != "library")
    for each in found.cases.values():
        assert len(each.operations[JOB].seconds) == 2
    assert found.regret is not None
