"""Fixtures of all the tests that start MPI programs."""

from __future__ import annotations

import re
import shutil
import zlib
from collections import defaultdict
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


@pytest.hookimpl(tryfirst=True)  # before -m looks at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test that is quick with several MPIs one has to do; its name says which one."""
    alike: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        parameters = getattr(item, "callspec", None)
        values = parameters.params.values() if parameters else ()
        for value in values:
            if isinstance(value, mpis.Mpi) and not item.get_closest_marker("slow"):
                alike[re.sub(rf"(?<=[-\[]){re.escape(str(value))}(?=[-\]])", "", item.nodeid)] += [
                    item
                ]
    for name, several in alike.items():
        stays = zlib.crc32(name.encode()) % len(several)
        for item in several[:stays] + several[stays + 1 :]:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def _remove_scratch() -> Iterator[None]:
    yield
    shutil.rmtree(mpis.scratch(), ignore_errors=True)
