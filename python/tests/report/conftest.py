"""Reports on disk for the tests of `haichi report`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import synthetic
from haichi.report.load import load
from haichi.report.summary import Run, Summary, summarize

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a document, or the synthetic report that the keywords describe, as NAME.json."""

    def write_one(name: str = "run", document: Any = None, **shape: Any) -> Path:
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(synthetic.report(**shape) if document is None else document))
        return path

    return write_one


@pytest.fixture
def runs(write: Write) -> Callable[..., tuple[list[Run], Summary]]:
    """Loads synthetic reports, one for each of the given shapes."""

    def load_all(*shapes: dict[str, Any]) -> tuple[list[Run], Summary]:
        paths = [write(f"run{number}", **shape) for number, shape in enumerate(shapes)]
        return summarize(paths, [load(path) for path in paths])

    return load_all
