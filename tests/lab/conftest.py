"""The MPIs that the measurement programs are built for (bench/io/CMakeLists.txt)."""

from __future__ import annotations

import mpis
import pytest

NAMES = ("mpich-4.0.2", "mpich-5.0.2", "openmpi-4.1.4")


@pytest.fixture(
    params=mpis.slow_but(NAMES[:1], [m for m in mpis.all_mpis() if m.name in NAMES]), ids=str
)
def mpi(request: pytest.FixtureRequest) -> mpis.Mpi:
    """Each of them in turn; one that is not here is a skip that says so."""
    if request.param.missing:
        pytest.skip(request.param.missing)
    return request.param
