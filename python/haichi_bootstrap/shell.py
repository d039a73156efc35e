"""Running other programs, and saying what is done and why."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from haichi_processes import runner
from haichi_processes.runner import Follower

Command = list[str | Path]  # a program and its arguments
NOT_STARTED = 127  # as a shell has it


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
    """Runs a program and returns its exit status, as runner.Outcome has it; 127 if it can't be
    started.

    `env` is added to the environment. Output goes to `log` if given, where `follow` sees it too,
    else to our own output.
    """
    try:
        done = runner.run(
            command,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            timeout=timeout,
            capture=False,
            log=log,
            follow=follow,
        )
    except OSError as error:
        say(f"{error.filename or command[0]}: {error.strerror}")
        return NOT_STARTED
    return done.code


def output(command: Sequence[str | Path], timeout: float = 60) -> str | None:
    """What a program prints on standard output, or None if it fails or is not there."""
    try:
        done = runner.run(command, env={**os.environ, "LC_ALL": "C"}, timeout=timeout)
    except OSError:
        return None
    return done.out if done.code == 0 else None


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
        raise Stop(
            f"{what} failed ({shlex.join(words(command)[:4])} …, {runner.how(status)}); see {log}"
        )


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
