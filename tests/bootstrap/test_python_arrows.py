"""The arrows between the Python packages: what is planted is found, and nothing in our own."""

from pathlib import Path

import pytest
from haichi_bootstrap import paths, python_arrows

PYTHON = paths.ROOT / "python"


def found(python: Path, name: str, text: str) -> list[str]:
    file = python / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return list(python_arrows.violations(python, [file]))


@pytest.mark.parametrize(
    ("name", "line", "says"),
    [
        ("haichi_bootstrap/x.py", "import haichi.paths", "may import: haichi_processes"),
        ("haichi_bootstrap/x.py", "import rich", "the standard library only"),
        ("haichi_processes/x.py", "from haichi_bootstrap import shell", "may import: none"),
        ("haichi/x.py", "def f():\n    from haichi_bootstrap import shell", "may not import"),
        ("haichi/figures/x.py", "from subprocess import run", "haichi_processes.runner"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, name: str, line: str, says: str) -> None:
    (problem,) = found(tmp_path, name, f"import os\n{line}\n")
    assert says in problem


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("haichi_bootstrap/x.py", "from haichi_processes.runner import run"),
        ("haichi/x.py", "import numpy"),
        ("haichi/lab.py", "import subprocess"),
        ("tests/x.py", "import haichi_bootstrap, subprocess"),
    ],
)
def test_what_is_allowed_is_not_found(tmp_path: Path, name: str, line: str) -> None:
    assert found(tmp_path, name, line) == []


def test_our_own_keep_to_them() -> None:
    assert list(python_arrows.violations(PYTHON, sorted(PYTHON.rglob("*.py")))) == []
