"""docs/guide/catalogue.md is what the catalogue says, and holds all that was asked for."""

from __future__ import annotations

import fnmatch

import pytest
from haichi.samples import catalogue
from haichi.samples.catalogue import Asked
from haichi.samples.model import Description
from mpis import BUILD


@pytest.fixture(scope="module")
def measured() -> list[Description]:
    if not (BUILD / "bin" / "haichi-measure-mpich").exists():
        pytest.skip("no haichi-measure-mpich in this build: no MPICH when it was made")
    return catalogue.of_program()


def test_the_page_is_current(measured: list[Description]) -> None:
    says = f"{catalogue.PAGE} is not current: run python -m haichi.samples.catalogue"
    assert catalogue.PAGE.read_text() == catalogue.page(measured, catalogue.asked_for()), says


def test_all_that_was_asked_for_is_measured(measured: list[Description]) -> None:
    names = [each.name for each in measured]
    rows = catalogue.asked_for()
    assert len(rows) > 30
    for row in rows:
        assert row.patterns, row.what
        for pattern in row.patterns:
            assert fnmatch.filter(names, pattern), f"{row.what}: nothing is named {pattern}"


def test_what_is_not_measured_is_noticed(measured: list[Description]) -> None:
    names = [each.name for each in measured]
    assert Asked("x", "y", ("barrier", "no-such-*")).names(names) == ["barrier"]
    without = [each for each in measured if each.name != "fence"]
    rows = catalogue.asked_for()
    assert catalogue.page(without, rows) != catalogue.page(measured, rows)
