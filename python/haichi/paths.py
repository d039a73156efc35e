"""Where the project's own files lie. Everything written by a command goes under OUT."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "out"


def build() -> Path:
    """The build directory in use: HAICHI_BUILD, or build/current."""
    return Path(os.environ.get("HAICHI_BUILD", ROOT / "build" / "current")).absolute()


def program(name: str) -> Path:
    """A program of the build directory, e.g. `hpio-openmpi`."""
    return build() / "bin" / name
