"""How far a build is, while it goes on: percent, what was made last, how long it may still take."""

import re
import sys
import time

# How ninja begins its lines, so that they can be read here.
NINJA = {"NINJA_STATUS": "[%f/%t] "}
LINE = re.compile(rb"\[(\d+)/(\d+)\] (.*)")
APART_S = 20.0  # between two lines where there is no terminal to write one line over


class Progress:
    """Follows what a build prints. On a terminal it keeps one line up to date, elsewhere it prints
    one every 20 seconds."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._said = self._begin
        self._terminal = sys.stdout.isatty()

    def read(self, line: bytes) -> None:
        """Takes one line of the build's output."""
        match = LINE.match(line)
        now = time.monotonic()
        if not match or (not self._terminal and now - self._said < APART_S):
            return
        self._said = now
        text = describe(int(match[1]), int(match[2]), match[3].decode(), now - self._begin)
        if self._terminal:
            sys.stdout.write(f"\r\x1b[K    {text[:100]}")
        else:
            sys.stdout.write(f"    {text}\n")
        sys.stdout.flush()

    def end(self) -> None:
        """Leaves the terminal's line empty for what comes next."""
        if self._terminal:
            sys.stdout.write("\r\x1b[K")
            sys.stdout.flush()


def describe(done: int, all_of_it: int, what: str, took_s: float) -> str:
    """One line: `done` steps of `all_of_it` are made in `took_s` seconds, the last one was
    `what`."""
    name = what.split(" ")[-1].rpartition("/")[2].removesuffix(".o")
    left = took_s * (all_of_it - done) / done if done else 0
    return f"{100 * done // all_of_it:3} %, about {left:.0f} s left: {name}"
