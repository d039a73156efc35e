"""Where the project's own files lie. What a command writes goes under OUT by default."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# An installed haichi writes where it is called; a checkout into a folder of its own.
OUT = ROOT / "out" if (ROOT / "deps.txt").exists() else Path("haichi-out").absolute()


def build() -> Path:
    """The build directory in use: HAICHI_BUILD (what is installed sets it), or build/current."""
    return Path(os.environ.get("HAICHI_BUILD", ROOT / "build" / "current")).absolute()


def program(name: str) -> Path:
    """A program of the build directory, e.g. `hpio-openmpi`."""
    return build() / "bin" / name


def empty_folder(folder: Path) -> None:
    """Makes a folder for the results of one command, emptied of those of an earlier time. Only
    haichi's own are taken away: a hidden file in them tells, or that they lie in a folder of OUT.

    Raises:
        FileExistsError: it holds files that are not haichi's.
        OSError: it cannot be made or emptied.
    """
    mark = folder / ".haichi-results"
    if folder.exists() and any(folder.iterdir()):
        if not mark.exists() and OUT not in folder.resolve().parents:
            raise FileExistsError(f"{folder} holds files that are not haichi's: name a new folder")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    mark.touch()
