"""Running other programs, and saying what is done and why.

A program started here reads nothing from standard input: a question that it would ask is a hang on
a machine with nobody at it.
"""

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

Command = list[str | Path]  # a program and its arguments


class Stop(Exception):
    """The command can't go on. The message is one line: what is wrong, where, and what to do."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


def say(line: str) -> None:
    """Prints a line at once, so that a log shows it before what it announces."""
    print(line, flush=True)


def step(what: str, why: str) -> None:
    """Announces one step and its reason."""
    say(f"==> {what}: {why}")


def words(command: Sequence[str | Path]) -> list[str]:
    return [str(word) for word in command]


class _Ending:
    """Turns SIGINT and SIGTERM into SystemExit, so that what was started ends with us and what was
    mounted is taken down. Between the start of a program and the block that ends it, the exception
    has to wait; signals reach the main thread alone, so only that one asks for it."""

    def __init__(self) -> None:
        self._waits = False
        self._number = 0

    def install(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._told)

    def _told(self, number: int, frame: object) -> None:
        self._number = number
        if not self._waits:
            sys.exit(128 + number)

    def wait(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._waits = True

    def wait_no_longer(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._waits = False
            if self._number:
                sys.exit(128 + self._number)


ENDING = _Ending()


class Follower(Protocol):
    """Is shown what a program prints, line by line."""

    def read(self, line: bytes) -> None: ...

    def end(self) -> None: ...


class Echo:
    """Prints it as our own output."""

    def read(self, line: bytes) -> None:
        sys.stdout.write(line.decode(errors="replace"))
        sys.stdout.flush()

    def end(self) -> None:
        pass


def run(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    log: Path | None = None,
    timeout: float | None = None,
    cwd: Path | None = None,
    follow: Follower | None = None,
) -> int:
    """Runs a program and returns its exit status; 124 if `timeout` (seconds) ran out, 127 if it
    can't be started. The whole process group ends with it.

    `env` is added to the environment. Output goes to `log` if given, where `follow` sees it too,
    else to our own output.
    """
    full = {**os.environ, **(env or {})}
    if log:
        log.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        sink = stack.enter_context(open(log, "wb")) if log else None
        ENDING.wait()
        try:
            process = subprocess.Popen(
                words(command),
                env=full,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if follow and sink else sink,
                stderr=subprocess.STDOUT if sink else None,
                start_new_session=True,
            )
        except OSError as error:
            ENDING.wait_no_longer()
            say(f"{command[0]}: {error.strerror}")
            return 127
        with _ended_with_us(process), _limited(process, timeout) as expired:
            if follow and sink:
                try:
                    for line in process.stdout or ():
                        sink.write(line)
                        follow.read(line)
                finally:
                    follow.end()
            status = process.wait()
        return 124 if expired else status


@contextlib.contextmanager
def _ended_with_us(process: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        ENDING.wait_no_longer()
        yield
    finally:
        # What the program left running would hold pipes, ports and processors; also after Ctrl-C.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def _limited(process: subprocess.Popen[bytes], timeout: float | None) -> Iterator[list[bool]]:
    """Ends the process group after `timeout` seconds; the list that it gives is then not empty."""
    expired: list[bool] = []
    if timeout is None:
        yield expired
        return

    def end() -> None:
        expired.append(True)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(timeout, end)
    timer.daemon = True
    timer.start()
    try:
        yield expired
    finally:
        timer.cancel()


def output(command: Sequence[str | Path], timeout: float = 60) -> str | None:
    """What a program prints on standard output, or None if it fails or is not there."""
    try:
        done = subprocess.run(
            words(command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=True,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def must(
    command: Sequence[str | Path],
    what: str,
    log: Path,
    env: Mapping[str, str] | None = None,
    follow: Follower | None = None,
) -> None:
    """Runs a program with its output in `log`; if it fails, shows what it said last and stops."""
    status = run(command, env=env, log=log, follow=follow)
    if status:
        for line in _telling(tail(log, 2000)):
            say(f"    {line}")
        raise Stop(f"{what} failed ({shlex.join(words(command)[:4])} …, exit {status}); see {log}")


def _telling(lines: list[str]) -> list[str]:
    """The lines of a failed program's output to show: from the first failure of a build on (other
    jobs go on printing after it), else the last ones."""
    for position, line in enumerate(lines):
        if line.startswith("FAILED: "):
            return lines[position : position + 30]
    return lines[-20:]


def tail(path: Path, lines: int) -> list[str]:
    """The last lines of a text file; none if it can't be read."""
    try:
        return path.read_text(errors="replace").splitlines()[-lines:]
    except OSError:
        return []


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))
