"""Fixtures of all the tests that start MPI programs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import mpis
import pytest

# One of each family: from release to release little differs.
QUICK = ("mpich-4.0.2", "openmpi-4.1.4")


@pytest.fixture(params=mpis.slow_but(QUICK, mpis.all_mpis()), ids=str)
def mpi(request: pytest.FixtureRequest) -> mpis.Mpi:
    """Each MPI known to the tests in turn; one that is not here is a skip that says so."""
    one: mpis.Mpi = request.param
    if one.missing:
        pytest.skip(one.missing)
    return one


@pytest.fixture(scope="session", autouse=True)
def _remove_scratch() -> Iterator[None]:
    yield
    shutil.rmtree(mpis.scratch(), ignore_errors=True)
