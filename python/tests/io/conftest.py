"""Fixtures of the tests of haichi.io."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from haichi import io, paths

LEAST = 64 << 10


@pytest.fixture(autouse=True)
def _small_calls_are_split() -> Iterator[None]:
    library = paths.build() / "lib" / "libhaichi-io.so"
    if not library.exists():
        pytest.skip(f"no {library} (./haichi build, with libnuma-dev)")
    before = io.get_options()
    io.set_options(io.Options(threads=0, cold_bytes=LEAST, hot_bytes=LEAST, always=True))
    yield
    io.set_options(before)
