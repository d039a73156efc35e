"""The type checker of `./haichi check`, as pyproject.toml sets it up."""

from pathlib import Path

import pytest
from haichi_bootstrap import checking, paths

pytestmark = pytest.mark.skipif(
    not (paths.TOOLS / "bin/mypy").exists(), reason="no mypy in .venv: ./haichi build"
)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("def f(x): return x", "no-untyped-def"),
        ("def f(x: list) -> None: ...", "type-arg"),
        ("def f(x: int) -> str: return x", "return-value"),
        ("def f(x: object) -> int: return x  # type: ignore", "ignore-without-code"),
        ("from typing import Any\ndef f(x: Any) -> None: ...", "explicit-any"),
    ],
)
def test_what_is_not_typed_strictly_is_named(line: str, complaint: str, tmp_path: Path) -> None:
    source = tmp_path / "loose.py"
    source.write_text(line + "\n")
    assert any(f"[{complaint}]" in said for said in checking.types([source]))


def test_what_is_typed_passes(tmp_path: Path) -> None:
    source = tmp_path / "strict.py"
    source.write_text("def f(x: int) -> int:\n    return x\n")
    assert checking.types([source]) == []
