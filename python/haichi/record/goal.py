"""Records as GOAL, the text that LogGOPSim and ATLAHS simulate, and GOAL as records. The native
program does both; src/goal/ says how."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from haichi_processes import runner

from haichi import paths, programs
from haichi.mpi import Missing
from haichi.report.load import ReportError
from haichi.units import printable


def is_goal(text: str) -> bool:
    """Whether a text begins as GOAL does."""
    return text.lstrip().startswith("num_ranks")


def write_goal(record: Path, out: Path) -> list[str]:
    """Writes a record's sequences as GOAL; what was left out, a line each.

    Raises:
        ReportError: the record has no sequences, or a file can't be read or written; then what was
            at `out` before is untouched.
    """
    try:
        folder = tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}.")
    except OSError as error:
        raise ReportError(f"{printable(str(out))}: {(error.strerror or '').lower()}") from None
    temporary = Path(folder) / out.name
    try:
        done = _native("write-goal", str(record), str(temporary))
        os.replace(temporary, out)
    finally:
        temporary.unlink(missing_ok=True)
        os.rmdir(folder)
    return [printable(line) for line in done.err.splitlines() if line]


def record_of_goal(goal: Path) -> str:
    """The text of a record.

    Raises:
        ReportError: it can't be read, or is no GOAL.
    """
    return _native("read-goal", str(goal)).out


def _native(*words: str) -> runner.Outcome:
    try:
        done = runner.run([programs.built(paths.program("haichi")), *words], timeout=None)
    except Missing as error:
        raise ReportError(str(error)) from None
    if done.code != 0:
        raise ReportError(done.last_error.removeprefix("haichi: error: ") or done.how)
    return done
