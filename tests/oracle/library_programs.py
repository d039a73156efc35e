"""Test programs out of the sources of I/O libraries: what they are, where the sources lie, and how
they are held against stock. Times are in seconds."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import mpis
import pytest
from haichi_bootstrap import sources
from oracle_support import calls_of, collective_calls, placement

RANKS = 4


@dataclass(frozen=True)
class Program:
    """One of them, and what haichi must have done in it."""

    name: str
    parts: tuple[str, ...]
    """Its sources."""
    collective: int
    """Least number of collective calls that haichi carries out."""
    arguments: tuple[str, ...] = ()
    buffer: str = "8KiB"
    """haichi's collective buffer, so small that many cycles run."""
    limit_s: float = 280
    """Several times what it takes on two cores that have other work too."""


def source_of(name: str, packages: str) -> Path:
    """The source of the library that is installed, as ./haichi test has fetched it; `packages` are
    those that install it."""
    version = sources.installed_version(name)
    if version is None:
        pytest.skip(f"{name} is not installed: apt install {packages}")
    folder = sources.folder_of(name, version)
    if not folder.exists():
        pytest.skip(
            f"no source of {name} in .deps/sources: ./haichi test, where apt has an archive"
        )
    return folder


def run(
    mpi: mpis.Mpi, program: Program, words: list[str | Path], folder: Path, haichi: bool
) -> subprocess.CompletedProcess[str]:
    """Runs a program in a folder for its files, on two pretended nodes, with haichi's report in
    it."""
    env = mpi.preload() if haichi else mpi.stock()
    if haichi:
        env["HAICHI_IO_BUFFER"] = program.buffer
        env["HAICHI_REPORT"] = str(folder / "report.json")
        env["HAICHI_PLACEMENT"] = str(placement("deal2", RANKS, folder))
    return mpi.run(RANKS, words, env, timeout=program.limit_s, cwd=folder)


def passes(
    mpi: mpis.Mpi, program: Program, words: list[str | Path], folder: Path, haichi: bool
) -> subprocess.CompletedProcess[str]:
    """The program says with its exit code that all is right."""
    done = run(mpi, program, words, folder, haichi)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done


def passes_in_stock(
    mpi: mpis.Mpi, program: Program, words: list[str | Path], folder: Path
) -> subprocess.CompletedProcess[str]:
    """The same without haichi; what fails there is a skip that says how."""
    try:
        return passes(mpi, program, words, folder, haichi=False)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"{program.name} fails on {mpi.name} without haichi: {str(error)[-300:]}")


def assert_carried_out(program: Program, folder: Path) -> None:
    """haichi has seen all the program's collective calls, and carried out those that are listed."""
    report = folder / "report.json"
    assert collective_calls(report) >= program.collective
    assert all(call["handled"] for call in calls_of(report))
