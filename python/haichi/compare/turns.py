"""A user's program run in several ways, in turns: who comes first when, and what is said of a run
that fails."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from haichi_processes.runner import Outcome

LINES_OF_A_FAILURE = 15


class RunFailed(Exception):
    """A run of the program failed; the message says which and shows its last lines."""


def in_turns(ways: Sequence[str], repetitions: int) -> Iterator[tuple[int, str]]:
    """Each way so often, with the number of the turn from one on. The order changes from turn to
    turn, as who comes first makes the files."""
    for number in range(1, repetitions + 1):
        for way in ways if number % 2 else reversed(ways):
            yield number, way


def failure(done: Outcome, words: Sequence[str], timeout: float) -> str:
    """How a run ended that did not end well, its command and its last lines."""
    how = f"did not end in {timeout:g} s" if done.timed_out else done.how
    last = "\n".join((done.out + done.err).splitlines()[-LINES_OF_A_FAILURE:])
    return f"{how}: {shlex.join(words)}\n{last}"
