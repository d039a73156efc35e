"""Finding what a program has started wherever it went: other sessions, other namespaces.

A mark is a variable of the environment, which every process hands on to those that it starts.
"""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

MARK = "LAB_JOB"  # not HAICHI_*: haichi warns of settings that it does not know


def marked(mark: str) -> list[int]:
    """Processes whose environment carries the mark."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue  # it ended, or is another user's
    return found


def kill_until_gone(find: Callable[[], list[int]], patience: float = 5.0) -> list[int]:
    """Kills what `find()` lists until it lists nothing, twice: a process between two programs has
    no environment for a moment, and its child may come while the list is made. Returns those that
    outlived `patience` seconds."""
    deadline = time.monotonic() + patience
    empty = 0
    while empty < 2:
        pids = find()
        empty = 0 if pids else empty + 1
        if pids and time.monotonic() > deadline:
            return pids
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.02)
    return []
