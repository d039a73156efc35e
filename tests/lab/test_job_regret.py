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


def test_spread_has_the_median_its_interval_and_both_ends() -> None:
    assert job_regret.spread([]) is None
    few = job_regret.spread([3, 1, 2])
    assert few and (few.low, few.median, few.high) == (1, 2, 3)
    # Of 20 values, the 6th and the 15th: Binomial(20, 1/2) is below 6 with 2.1 %.
    many = job_regret.spread(list(range(20, 0, -1)))
    assert many and (many.low, many.median, many.high) == (6, 10.5, 15)
    assert (many.count, many.least, many.most) == (20, 1, 20)


def test_what_is_drawn_depends_on_the_seed_alone(tmp_path: Path) -> None:
    with temporary_machine() as place:
        all_cells = [cell(place, f"alltoall{n}", tmp_path) for n in range(20)]
    once, again = (job_regret.drawn(all_cells, 3) for _ in range(2))
    assert once == again != job_regret.drawn(all_cells, 4)
    assert {id(each) for each in once} == {id(each) for each in all_cells}


def test_no_cell_is_begun_that_would_not_be_done_in_time(tmp_path: Path) -> None:
    """Ten seconds, twenty, then ten each, of a minute and a half: the dearest one counts."""
    times = [0.0]
    with temporary_machine() as place:
        all_cells = [cell(place, "alltoall", tmp_path) for _ in range(20)]
    words = []
    for number, (_, left) in enumerate(job_regret.in_time(all_cells, 1.5, lambda: times[-1])):
        words.append(left)
        times.append(times[-1] + (20 if number == 1 else 10))
    assert times[-1] == 80
    assert words[0] == "1.5 minutes left"
    assert words[2] == "1.0 minutes left, about 4 more"
    assert len(list(job_regret.in_time(all_cells, 0))) == 1


def test_summary_says_how_sure_it_is(tmp_path: Path) -> None:
    rows = [row(tmp_path, 20, stock=1, haichi=1 + n / 100) for n in range(20)]
    lines = job_regret.summary(rows, 48)
    assert lines[0] == "20 of 48 cells, drawn at random"
    assert "regret 9.5 % in the median (5.0 to 14.0 at 95 %), 19.0 % at worst" in lines[1]
    assert job_regret.summary(rows)[0] == lines[1]


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
