"""Runs a program to its end: bounded in time, with what it printed, and nothing of it left behind.

A program reads nothing from standard input unless it is given something: a question that it would
ask is a hang on a machine with nobody at it. It has a process group of its own, which is killed
once the program has ended, its time is over, or an exception passes by; by the number of a process
that is not waited for before, so that no other can have it. Times are in seconds.
"""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from haichi_processes import marks
from haichi_processes.ending import ENDING

TIMED_OUT = 124  # as timeout(1) has it
LOOK = 0.05
LONGEST_LOOK = 1.0


class Follower(Protocol):
    """Is shown what a program prints, line by line, as it comes."""

    def read(self, line: bytes) -> None:
        """Takes a line with its end; the last one may have none."""
        ...

    def end(self) -> None:
        """There are no more."""
        ...


@dataclass(frozen=True)
class Outcome:
    """What became of a program."""

    code: int  # exit code; minus the number of the signal that ended it; TIMED_OUT
    out: str = ""
    err: str = ""
    seconds: float = 0.0  # until it ended or its time was over
    timed_out: bool = False  # whether it was ended because its time was over

    @property
    def how(self) -> str:
        """How it ended, in words."""
        return "no end in time" if self.timed_out else how(self.code)

    @property
    def status(self) -> int:
        """The exit code that a shell would tell."""
        return 128 - self.code if self.code < 0 else self.code

    @property
    def last_error(self) -> str:
        """The last line of standard error, or what fits into a message of it; "" if none."""
        lines = [line.strip() for line in self.err.splitlines() if line.strip()]
        return lines[-1][:300] if lines else ""


def how(code: int) -> str:
    """An Outcome's code in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"


def run(
    words: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str | None = None,
    timeout: float | None = None,
    grace: float | None = None,
    polite: float = 0.0,
    everywhere: bool = False,
    capture: bool = True,
    log: Path | None = None,
    follow: Follower | None = None,
) -> Outcome:
    """Runs a program and returns what became of it.

    `env` is the whole environment; without it the program has ours. What it prints is in the
    Outcome, or in `log`, output and errors together, or is printed as our own without `capture`.
    `follow` sees the lines of the output, in case of a log those of the errors too.

    With `grace`, a program that has printed a whole line has at most that long left: its result is
    there, and a library that hangs on the way out shall not cost the whole timeout. A program whose
    time is over is told to end `polite` seconds before it is killed. With `everywhere` all that it
    started is ended, also what has left its process group.

    Raises:
        OSError: it cannot be started, or the log cannot be written.
    """
    mark = uuid.uuid4().hex if everywhere else ""
    own = {**(os.environ if env is None else env), **({marks.MARK: mark} if mark else {})}
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        sink = stack.enter_context(_opened(log)) if log else None
        piped = follow is not None if sink else capture
        process = _start(
            words,
            env=own,
            cwd=cwd,
            stdin=_source(stack, stdin),
            stdout=subprocess.PIPE if piped else sink,
            stderr=subprocess.STDOUT if sink else subprocess.PIPE if piped else None,
        )
        out, err = _Pipe(process.stdout, sink, follow), _Pipe(process.stderr)
        try:
            ENDING.wait_no_longer()
            timed_out = _wait(process.pid, out, err, timeout, grace)
            seconds = time.monotonic() - begin
        finally:
            ENDING.wait()
            try:
                _end(process, polite, mark)
                out.close()
                err.close()
            finally:
                ENDING.wait_no_longer()
    code = TIMED_OUT if timed_out else process.returncode
    return Outcome(code, out.text(), err.text(), seconds, timed_out)


def _opened(log: Path) -> IO[bytes]:
    log.parent.mkdir(parents=True, exist_ok=True)
    return open(log, "wb")


def _source(stack: contextlib.ExitStack, text: str | None) -> int | IO[bytes]:
    """What to read from. Not a pipe, which would have to be written while the program runs."""
    if text is None:
        return subprocess.DEVNULL
    file = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)
    file.write(text.encode())
    file.seek(0)
    return file


def _start(
    words: Sequence[str | Path],
    *,
    env: Mapping[str, str],
    cwd: Path | None,
    stdin: int | IO[bytes],
    stdout: int | IO[bytes] | None,
    stderr: int | IO[bytes] | None,
) -> subprocess.Popen[bytes]:
    """Starts it, and leaves ENDING waiting until there is a block that ends it."""
    ENDING.wait()
    try:
        return subprocess.Popen(
            [str(word) for word in words],
            env=env,
            cwd=cwd,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    except BaseException:
        ENDING.wait_no_longer()
        raise


class _Pipe:
    """What comes through one pipe, if there is one: kept, or written to a log, and followed."""

    def __init__(
        self, stream: IO[bytes] | None, log: IO[bytes] | None = None, follow: Follower | None = None
    ) -> None:
        self.stream = stream
        self.kept = bytearray()
        self._log, self._follow = log, follow
        self._part = b""

    def read(self) -> bool:
        """Takes what is there, for which it may wait; False at its end."""
        data = os.read(self.stream.fileno(), 65536) if self.stream else b""
        if self._log:
            self._log.write(data)
            self._log.flush()
        else:
            self.kept += data
        if self._follow:
            *lines, self._part = (self._part + data).split(b"\n")
            for line in lines:
                self._follow.read(line + b"\n")
        return bool(data)

    def close(self) -> None:
        """Takes what is left, without waiting for who has inherited the pipe and left the group."""
        try:
            if self.stream:
                with selectors.DefaultSelector() as selector:
                    selector.register(self.stream, selectors.EVENT_READ)
                    while selector.select(0) and self.read():
                        pass
                self.stream.close()
            if self._follow and self._part:
                self._follow.read(self._part)
        finally:
            if self._follow:
                self._follow.end()

    def text(self) -> str:
        """What was kept."""
        return self.kept.decode(errors="replace")


def _wait(pid: int, out: _Pipe, err: _Pipe, timeout: float | None, grace: float | None) -> bool:
    """Collects the output until the process ends; True if `timeout` is over first. A look counts as
    a second at most: on a machine that stood still the program did, too."""
    left = math.inf if timeout is None else timeout
    pause = LOOK / 64
    with selectors.DefaultSelector() as selector:
        for pipe in (out, err):
            if pipe.stream:
                selector.register(pipe.stream, selectors.EVENT_READ, pipe)
        last = time.monotonic()
        while not _has_ended(pid):
            if left <= 0:
                return True
            for key, _ in selector.select(min(left, LOOK)) if selector.get_map() else ():
                if not key.data.read():
                    selector.unregister(key.fileobj)
            if not selector.get_map():
                time.sleep(min(left, pause))
                pause = min(2 * pause, LOOK)
            if grace is not None and b"\n" in out.kept:
                left, grace = min(left, grace), None
            now = time.monotonic()
            left -= min(now - last, LONGEST_LOOK)
            last = now
    return False


def _has_ended(pid: int) -> bool:
    """Whether it has, without taking its number away from it."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True  # where SIGCHLD is ignored


def _end(process: subprocess.Popen[bytes], polite: float, mark: str) -> None:
    """Ends the program, politely first, its process group, and then everything with the mark."""
    deadline = time.monotonic() + polite
    if polite > 0 and not _has_ended(process.pid):
        os.kill(process.pid, signal.SIGTERM)
        while not _has_ended(process.pid) and time.monotonic() < deadline:
            time.sleep(LOOK / 5)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if mark:
        marks.kill_until_gone(lambda: marks.marked(mark))
