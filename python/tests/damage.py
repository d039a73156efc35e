"""Text files damaged at random, by a seed: what a full disk, a bad copy or an editor makes of
them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

# What no writer writes, in place of a number or a word.
ODD = (
    *("-1", "0", "1", "7", "2147483648", "-9223372036854775808", "99999999999999999999"),
    *("1e308", "-0.5", "1e-320", "null", "true", '""', '"x"', "[]", "{}", "[[0]]", "NaN"),
)
VALUE = re.compile(r'-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|"[^"\n]*"')


def cut(text: str, rng: random.Random) -> str:
    """Its beginning."""
    return text[: rng.randrange(len(text))]


def other_byte(text: str, rng: random.Random) -> str:
    """One character is another one."""
    at = rng.randrange(len(text))
    return text[:at] + chr(rng.choice([*range(32, 127), 0, 10, 0x2028])) + text[at + 1 :]


def lost_bytes(text: str, rng: random.Random) -> str:
    """Some characters are gone."""
    at = rng.randrange(len(text))
    return text[:at] + text[at + rng.randint(1, 30) :]


def lines_moved(text: str, rng: random.Random) -> str:
    """A line is lost, comes twice, or at another place."""
    lines = text.splitlines(keepends=True)
    line = lines.pop(rng.randrange(len(lines)))
    for _ in range(rng.randrange(3)):
        lines.insert(rng.randrange(len(lines) + 1), line)
    return "".join(lines)


def odd_value(text: str, rng: random.Random) -> str:
    """A number or word is one that nobody expects. The text may stay valid JSON."""
    found = rng.choice(list(VALUE.finditer(text)))
    return text[: found.start()] + rng.choice(ODD) + text[found.end() :]


WAYS: tuple[Callable[[str, random.Random], str], ...] = (
    *(cut, other_byte, lost_bytes, lines_moved),
    *(odd_value, odd_value, odd_value, odd_value),
)


def damaged(text: str, seed: int, times: int) -> Iterator[tuple[str, str]]:
    """So many damaged forms of a text, each with a name that says how it came about."""
    for number in range(times):
        rng = random.Random(f"{seed} {number}")
        way = WAYS[number % len(WAYS)]
        result = way(text, rng)
        if rng.random() < 0.2:
            result = rng.choice(WAYS)(result or text, rng)
        yield f"{way.__name__} {number}", result
