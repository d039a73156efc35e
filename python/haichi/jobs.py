"""Starting a job and being sure of its end.

An MPI job is many processes, some of them in other namespaces and other sessions, and a library can
leave ranks behind that never end (MPICH 4.0.2 over UCX hangs in MPI_Finalize in about 40 % of its
oversubscribed runs). So every job carries a mark in its environment, and whatever still carries it
once the launcher is gone or the time is over is killed. Times are in seconds.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MARK = "LAB_JOB"  # not HAICHI_*: haichi warns of settings that it does not know
TIMED_OUT = 124  # exit code of timeout(1)
LONGEST_LOOK = 1.0  # seconds


@dataclass(frozen=True)
class Outcome:
    """What became of a job. `code` is the launcher's exit code, or TIMED_OUT."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def timed_out(self) -> bool:
        """Whether it was ended because its time was over."""
        return self.code == TIMED_OUT


def run(
    words: Sequence[str],
    env: Mapping[str, str],
    *,
    timeout: float,
    capture: bool = True,
    grace: float | None = None,
    cwd: Path | None = None,
) -> Outcome:
    """Runs `words` with exactly the environment `env` and returns what became of it.

    Without `capture` the job has this process's standard output and error. With `grace`, a job that
    has printed a whole line is given at most that long to end: its result is there, and a library
    that hangs on the way out shall not cost the whole timeout.
    """
    mark = uuid.uuid4().hex
    begin = time.monotonic()
    process = subprocess.Popen(
        words,
        env={**env, MARK: mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if capture else None,
        stderr=subprocess.PIPE if capture else None,
        cwd=cwd,
        start_new_session=True,
    )
    out, err = bytearray(), bytearray()
    timed_out = True
    try:
        timed_out = _wait(process, out, err, timeout, grace)
    finally:
        _end(process, mark)
    code = TIMED_OUT if timed_out else process.returncode
    seconds = time.monotonic() - begin
    return Outcome(code, out.decode(errors="replace"), err.decode(errors="replace"), seconds)


def _wait(
    process: subprocess.Popen[bytes],
    out: bytearray,
    err: bytearray,
    left: float,
    grace: float | None,
) -> bool:
    """Collects the output until the process ends; True if `left` seconds are over first. A look
    counts as a second at most: on a machine that stood still the job did, too."""
    with selectors.DefaultSelector() as selector:
        for stream, sink in ((process.stdout, out), (process.stderr, err)):
            if stream is not None:
                selector.register(stream, selectors.EVENT_READ, sink)
        waiting_for_line = grace is not None
        last = time.monotonic()
        while left > 0:
            if process.poll() is not None:
                _drain(selector)
                return False
            for key, _ in selector.select(min(left, 0.05)):
                _read(selector, key.fd, key.data)
            if not selector.get_map():
                time.sleep(0.02)
            now = time.monotonic()
            left -= min(now - last, LONGEST_LOOK)
            last = now
            if waiting_for_line and b"\n" in out:
                waiting_for_line = False
                left = min(left, grace or 0)
    return process.poll() is None


def _read(selector: selectors.BaseSelector, file: int, sink: bytearray) -> None:
    data = os.read(file, 65536)
    if data:
        sink.extend(data)
    else:
        selector.unregister(file)


def _drain(selector: selectors.BaseSelector) -> None:
    """Reads what is left, without waiting for a process that inherited the pipe."""
    while ready := selector.select(0):
        for key, _ in ready:
            _read(selector, key.fd, key.data)


def _end(process: subprocess.Popen[bytes], mark: str) -> None:
    """Ends the launcher, politely first, and then everything that carries the mark."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    kill_until_gone(lambda: marked(mark))
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


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
    outlived `patience`."""
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
