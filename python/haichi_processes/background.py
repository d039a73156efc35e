"""A program that runs beside the one that started it, and is ended with a block."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def running(
    words: Sequence[str | Path], log: Path, patience: float
) -> Iterator[Callable[[], bool]]:
    """Runs a program, whose output and errors go to `log`; yields what says whether it runs. At the
    end it is told to end, and killed if it has not after `patience` seconds.

    Raises:
        OSError: it cannot be started, or the log cannot be written.
    """
    with log.open("wb") as out:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        yield lambda: process.poll() is None
    finally:
        process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
