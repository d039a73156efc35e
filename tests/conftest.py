"""Fixtures of all the tests that start MPI programs."""

from __future__ import annotations

import re
import shutil
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator

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
    """Of the cases of a test that are quick, one with each MPI has to do; names say which ones."""
    with_mpi = [(item, one) for item in items if (one := _quick_with(item))]
    _leave_one_each(
        with_mpi, lambda item, one: re.sub(rf"(?<=[-\[]){re.escape(one)}(?=[-\]])", "", item.nodeid)
    )
    _leave_one_each(with_mpi, lambda item, one: f"{item.nodeid.partition('[')[0]} {one}")


def _quick_with(item: pytest.Item) -> str:
    """The MPI that a case is for, if it is quick; else ""."""
    parameters = getattr(item, "callspec", None)
    values = parameters.params.values() if parameters else ()
    found = [str(value) for value in values if isinstance(value, mpis.Mpi)]
    return "" if item.get_closest_marker("slow") else "".join(found)


def _leave_one_each(
    cases: list[tuple[pytest.Item, str]], group: Callable[[pytest.Item, str], str]
) -> None:
    """Marks all but one of each group slow, and takes them off the list."""
    alike: dict[str, list[tuple[pytest.Item, str]]] = defaultdict(list)
    for item, one in cases:
        alike[group(item, one)].append((item, one))
    cases.clear()
    for name, several in alike.items():
        stays = several.pop(zlib.crc32(name.encode()) % len(several))
        for item, _ in several:
            item.add_marker(pytest.mark.slow)
        cases.append(stays)


@pytest.fixture(scope="session", autouse=True)
def _remove_scratch() -> Iterator[None]:
    yield
    shutil.rmtree(mpis.scratch(), ignore_errors=True)
