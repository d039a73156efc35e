"""The logs that a run leaves when it does not come to MPI_Finalize (`haichi.log/2`).

Each node of a job whose report is `run.json` has one, `run.json.log-<job>-<node>`, as long as the
job runs. The native program makes a report of them, as it does of a run that ends well.
"""

from __future__ import annotations

import re
from pathlib import Path

from haichi import paths, programs

NAME = re.compile(r"(?P<report>.+)\.log-(?P<job>[0-9a-f]{16})-(?P<node>\d+)")
PATIENCE_S = 60.0


def logs_for(path: Path) -> list[Path]:
    """The logs that stand for `path`: of its job if it is a log itself; if it is the name of a
    report that is not there, those of the last job that was to write it. Else none."""
    match = NAME.fullmatch(path.name)
    if match and path.exists():
        return _of_job(path.parent, match["report"], match["job"])
    return [] if path.exists() else last_left(path)


def last_left(report: Path) -> list[Path]:
    """The logs of the last job that was to write `report` and has not; in order of node."""
    written = [each for each in _beside(report.parent, report.name) if each.exists()]
    if not written:
        return []
    newest = max(written, key=lambda log: log.stat().st_mtime)
    match = NAME.fullmatch(newest.name)
    return _of_job(report.parent, report.name, match["job"]) if match else []


def merged(logs: list[Path]) -> str:
    """The report that the logs of one job make, as JSON.

    Raises:
        Missing: they make none; the message is one line.
    """
    return programs.output(
        paths.program("haichi"), "merge-logs", *map(str, logs), timeout=PATIENCE_S
    )


def _of_job(folder: Path, report: str, job: str) -> list[Path]:
    found = [(m, log) for log in _beside(folder, report) if (m := NAME.fullmatch(log.name))]
    return [log for m, log in sorted(found, key=lambda p: int(p[0]["node"])) if m["job"] == job]


def _beside(folder: Path, report: str) -> list[Path]:
    if not folder.is_dir():
        return []
    return [
        log
        for log in folder.iterdir()
        if (match := NAME.fullmatch(log.name)) and match["report"] == report
    ]
