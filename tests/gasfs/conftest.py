"""Fixtures of the tests of the faces. Each of these files has a fixture `whole` of its own: the
mount that its tests have in common."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import differential
import pytest
from faces import on_tmpfs


@pytest.fixture
def mount(whole: Path) -> Iterator[Path]:
    """The mount, empty."""
    yield whole
    differential.empty(whole)


@pytest.fixture
def tmpfs() -> Iterator[Path]:
    """A folder on tmpfs."""
    with on_tmpfs() as folder:
        yield folder
