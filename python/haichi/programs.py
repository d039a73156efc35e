"""The programs of the build that are no MPI jobs: simulations, and what measurements ask."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from haichi_processes import runner

from haichi.mpi import Missing


class _Each:
    """Hands on each whole line."""

    def __init__(self, take: Callable[[str], None]) -> None:
        self._take = take

    def read(self, line: bytes) -> None:
        self._take(line.decode())

    def end(self) -> None:
        pass


def built(program: Path) -> Path:
    """The program itself.

    Raises:
        Missing: it is not built.
    """
    if not program.exists():
        raise Missing(f"{program} is not built: ./haichi build")
    return program


def output(
    program: Path,
    *words: str,
    stdin: str | None = None,
    timeout: float | None = 600,
    take: Callable[[str], None] | None = None,
) -> str:
    """What a program prints; `take` has each line as it comes. At most `timeout` seconds.

    Raises:
        Missing: it is not built, fails, or does not end.
    """
    follow = _Each(take) if take else None
    done = runner.run([built(program), *words], stdin=stdin, timeout=timeout, follow=follow)
    if done.code != 0:
        said = f": {done.last_error}" if done.last_error else ""
        raise Missing(f"{program.name}: {done.how}{said}")
    return done.out
