"""Nonblocking collectives that a thread carries out behind the program (`io.nonblocking=thread`):
what must come behind them does, and what becomes of their failures.

The thread is held back by a gate, so that it is late whenever a check wants it to be.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import mpis
import pytest
from test_faults import faultio, mpi, small_disk

__all__ = ["faultio", "mpi", "small_disk"]  # fixtures

HERE = Path(__file__).parent
RANKS = 3


def run(mpi: mpis.Mpi, name: str, folder: Path, which: str, preload: Path, **env: str) -> None:
    """Runs the checks of a program whose names have `which` in them; all must be good."""
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    environment = mpi.preload(
        preload, HAICHI_IO_NONBLOCKING="thread", FAULT_PATH="check.dat", **env
    )
    source = HERE / f"{name}.c"
    program = mpi.compile(source, "-pthread")
    done = mpi.run(RANKS, [program, folder, which], environment, timeout=120)
    assert done.returncode == 0 and "FAILED" not in done.stdout, done.stdout + done.stderr
    good = re.findall("^ok (.+)$", done.stdout, re.MULTILINE)
    wanted = re.findall(r'^    \{"([^"]+)"', source.read_text(), re.MULTILINE)
    assert good == [name for name in wanted if which in name]


@pytest.mark.parametrize("which", ["behind", "before an access", "before a call"])
def test_behind_the_program(mpi: mpis.Mpi, tmp_path: Path, faultio: Path, which: str) -> None:
    """Requests stay open as long as the thread is held back, and other calls wait for it."""
    run(mpi, "late_part", tmp_path, which, faultio, FAULT_GATE=str(tmp_path / "gate"))


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
def test_failures_come_where_the_request_ends(
    mpi: mpis.Mpi, tmp_path: Path, faultio: Path, error: str
) -> None:
    report = tmp_path / "report.json"
    run(
        mpi,
        "late_failures",
        tmp_path,
        "failed",
        faultio,
        FAULT_WRITE=error,
        HAICHI_REPORT=str(report),
    )
    assert any("check.dat: writing" in note for note in json.loads(report.read_text())["notes"])


def test_full_disk(mpi: mpis.Mpi, small_disk: Path, faultio: Path) -> None:
    run(mpi, "late_failures", small_disk, "full disk", faultio)


@pytest.mark.parametrize(
    ("setting", "fault", "who"),
    [
        ("now", {}, "main"),
        ("thread", {}, "other"),
        ("thread", {"FAULT_THREAD": "EAGAIN"}, "main"),
    ],
    ids=["now", "thread", "no thread"],
)
def test_who_accesses_the_file(
    mpi: mpis.Mpi, tmp_path: Path, faultio: Path, setting: str, fault: dict[str, str], who: str
) -> None:
    """A thread only if it is asked for, and the rank itself where the system gives none."""
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    if fault and mpis.sanitizers():
        pytest.skip("sanitizers start threads by the C library's own function")
    said = tmp_path / "said"
    environment = mpi.preload(
        faultio,
        HAICHI_IO_NONBLOCKING=setting,
        HAICHI_LOG="info",
        FAULT_PATH="check.dat",
        FAULT_SAY=str(said),
        **fault,
    )
    program = mpi.compile(HERE.parent / "mpi/nonblocking.c")
    done = mpi.run(RANKS, [program, tmp_path, "one after"], environment, timeout=60)
    assert "ok one after the other" in done.stdout, done.stdout + done.stderr
    assert set(said.read_text().split()) == {who}
    assert done.stderr.count("no thread to be had") == (RANKS if fault else 0)
