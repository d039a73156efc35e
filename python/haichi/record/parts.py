"""What the ranks of a recorded run leave when it does not come to MPI_Finalize.

A job whose record is `run.jsonl` keeps what each rank has recorded in a folder beside it,
`run.jsonl.parts-<number>`, until the record is written. The native program makes a record of it.
"""

from __future__ import annotations

import re
from pathlib import Path

from haichi import paths, programs

PATIENCE_S = 600.0


def folder_for(path: Path) -> Path | None:
    """The folder that stands for `path`: itself if it is one; if it is the name of a record that is
    not there, that of the last job which was to write it. Else none."""
    if path.is_dir():
        return path
    if path.exists() or not path.parent.is_dir():
        return None
    name = re.compile(re.escape(path.name) + r"\.parts-[0-9a-f]{16}")
    left = [each for each in path.parent.iterdir() if name.fullmatch(each.name) and each.is_dir()]
    return max(left, key=lambda each: each.stat().st_mtime, default=None)


def merged(folder: Path) -> str:
    """The record that the parts of one job make; its last line is missing.

    Raises:
        Missing: they make none; the message is one line.
    """
    return programs.output(
        paths.program("haichi"), "merge-records", str(folder), timeout=PATIENCE_S
    )
