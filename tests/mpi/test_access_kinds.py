"""Split, nonblocking and ordered collectives of real programs: right, and done by haichi.

The random oracle (tests/oracle) has their bytes and datatypes; here is what a program does around
them: other requests, messages, several files, errors, the shared file pointer.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import mpis
import pytest
from mpis import ROOT, Mpi

HERE = Path(__file__).parent
TWO_NODES = {
    "schema": "haichi.placement/1",
    "nodes": [{"name": "left", "ranks": "0-1"}, {"name": "right", "ranks": "2"}],
}
RANKS = 3
# Program -> its checks, and the functions that the report must list as done by haichi.
PROGRAMS = {
    "nonblocking": (12, {"iwrite_all", "iwrite_at_all", "iread_all", "iread_at_all"}),
    "split": (
        7,
        {"write_all_begin", "read_all_begin", "write_at_all_begin", "read_at_all_begin"},
    ),
    "pointer": (
        3,
        {"write_all", "read_all", "iwrite_all", "iread_all", "write_all_begin", "read_all_begin"},
    ),
    "ordered": (
        5,
        {"write_ordered", "read_ordered", "write_ordered_begin", "read_ordered_begin"},
    ),
}


def run(
    mpi: Mpi, argv: list[str | Path], folder: Path, nodes: str = "one", **settings: str
) -> tuple[str, list[dict]]:
    """Runs a program under haichi; its output, and the calls of the report."""
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    report = folder / "report.json"
    env = mpi.preload(HAICHI_REPORT=str(report), HAICHI_LOG="error", **settings)
    if nodes == "two":
        (folder / "placement.json").write_text(json.dumps(TWO_NODES))
        env["HAICHI_PLACEMENT"] = str(folder / "placement.json")
    done = mpi.run(RANKS, argv, env, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    files = json.loads(report.read_text())["files"]
    return done.stdout, [call for file in files for call in file["calls"]]


def handled(calls: list[dict]) -> set[str]:
    """Names of the functions that haichi did."""
    return {call["call"].removeprefix("MPI_File_") for call in calls if call["handled"]}


@pytest.mark.parametrize("nodes", mpis.slow_but(["two"], ["one", "two"]))
@pytest.mark.parametrize("name", mpis.slow_but(["nonblocking", "split", "ordered"], PROGRAMS))
def test_access_kind(mpi: Mpi, name: str, nodes: str, tmp_path: Path) -> None:
    """Every check of the program is good, on one node and on two."""
    checks, functions = PROGRAMS[name]
    argv: list[str | Path] = [mpi.compile(HERE / f"{name}.c"), tmp_path]
    out, calls = run(mpi, argv, tmp_path, nodes)
    assert "FAILED" not in out
    assert len(re.findall("^ok ", out, re.MULTILINE)) == checks
    assert functions <= handled(calls)
    for call in calls:
        assert call["why"] or not call["bytes"], call


def test_nonblocking_behind_the_program(mpi: Mpi, tmp_path: Path) -> None:
    """By a thread every check is good too, and the report says what it did."""
    argv: list[str | Path] = [mpi.compile(HERE / "nonblocking.c"), tmp_path]
    out, calls = run(mpi, argv, tmp_path, HAICHI_IO_NONBLOCKING="thread")
    assert "FAILED" not in out
    checks, functions = PROGRAMS["nonblocking"]
    assert len(re.findall("^ok ", out, re.MULTILINE)) == checks
    assert functions <= handled(calls)
    by_thread = [call for call in calls if "thread_seconds" in call]
    assert {call["call"].removeprefix("MPI_File_") for call in by_thread} == functions
    for call in by_thread:
        assert call["thread_seconds"] > 0
        assert call["waited_seconds"] <= call["seconds"]
        assert any("a thread does it" in why for why in call["why"]), call


@pytest.mark.slow
def test_pointer_between_haichi_and_the_library(mpi: Mpi, tmp_path: Path) -> None:
    """Where some calls are the library's, each finds the pointer where the other has left it."""
    argv: list[str | Path] = [mpi.compile(HERE / "pointer.c"), tmp_path]
    out, _ = run(mpi, argv, tmp_path, HAICHI_IO_LIBRARY="on")
    assert len(re.findall("^ok ", out, re.MULTILINE)) == PROGRAMS["pointer"][0]


def test_switched_off_is_the_librarys(mpi: Mpi, tmp_path: Path) -> None:
    """Handed back at open, by io.enable=off on all ranks: the library's own nonblocking
    collectives are called, and nothing is agreed on."""
    argv: list[str | Path] = [mpi.compile(HERE / "nonblocking.c"), tmp_path, "one after the other"]
    out, calls = run(mpi, argv, tmp_path, HAICHI_IO_ENABLE="off")
    assert "ok one after the other" in out
    assert not calls
    notes = (tmp_path / "report.json").read_text()
    assert "handed back to the MPI library at open: io.enable is off" in notes


def test_fortran(mpi: Mpi, tmp_path: Path) -> None:
    """Split and nonblocking collectives of a Fortran program, with its requests and statuses."""
    if mpi.mpif90 is None:
        pytest.skip(f"{mpi.name} has no Fortran compiler here")
    program = mpi.compile(ROOT / "tests/fortran/access_kinds.f90", fortran=True)
    out, calls = run(mpi, [program, tmp_path / "data"], tmp_path)
    assert "intact" in out
    assert {"write_all_begin", "read_at_all_begin", "iwrite_at_all", "iread_all"} <= handled(calls)
