"""Access patterns as words, the named ones and those that are drawn at random, and where each runs.

A draw depends on the seed and its number alone: any one of them can be run by itself.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from haichi.figures import never_slower_table


@dataclass(frozen=True)
class Where:
    """So many ranks on so many nodes; more than one node is a lab."""

    nodes: int
    ranks: int

    def __str__(self) -> str:
        """As in `4x4`."""
        return f"{self.nodes}x{self.ranks // self.nodes}"

    @property
    def lab(self) -> bool:
        """Whether there is a network."""
        return self.nodes > 1


ONE = (Where(1, 2), Where(1, 4))
LAB = (Where(4, 16), Where(8, 16))
MPIS = ("mpich5", "openmpi")


@dataclass(frozen=True)
class Pattern:
    """What one start of a measurement program does."""

    name: str
    words: Mapping[str, str]

    @property
    def communicates(self) -> bool:
        """Whether it is one of comm-pattern's, without files."""
        return "op" in self.words

    def number(self, key: str, default: int = 1) -> int:
        """The value of a word that is a number."""
        return int(self.words.get(key, default))

    def text(self) -> list[str]:
        """As the program takes them."""
        return [f"{key}={value}" for key, value in self.words.items()]

    def __str__(self) -> str:
        """All of it."""
        return " ".join(self.text())


def pattern_of(name: str, text: str) -> Pattern:
    """From words KEY=VALUE."""
    return Pattern(name, dict(word.split("=", 1) for word in text.split()))


def named() -> list[Pattern]:
    """Those of the table."""
    text = never_slower_table.TEXT.replace("\n ", " ")  # lines that go on
    lines = (line.split(None, 1) for line in text.strip().splitlines())
    return [pattern_of(name, text) for name, text in lines]


# How much of it


@dataclass(frozen=True)
class Limits:
    """What one section of a job may move and how many calls it may make, so that a start takes some
    tenths of a second."""

    bytes: int  # of all ranks, files or messages
    calls: int
    small_calls: int  # messages and exchanges of at most 1 KiB


ONE_NODE = Limits(64 << 20, 1000, 2000)
NETWORK = Limits(12 << 20, 60, 300)
SMALL = 1024


def volume(pattern: Pattern, ranks: int) -> int:
    """About how many bytes all ranks write, or send."""
    p = pattern
    if p.communicates:
        size = p.number("size", 8) * p.number("calls") * p.number("comms")
        return size * ranks * (ranks if p.words["op"] in EXCHANGES else 4)
    if p.words.get("shape") in ("block", "columns", "rows"):
        unknowns = p.words.get("unknowns", "1").split(",")
        cells = math.prod(int(n) for n in p.words["array"].split("x"))
        each = p.number("piece", 1024) * cells * sum(map(int, unknowns)) // len(unknowns)
    else:
        parts = 4 if p.words.get("shape") == "unequal" else 1
        each = p.number("piece", 1024) * p.number("pieces") * ranks * parts
    return each * p.number("calls") * p.number("opens")


EXCHANGES = ("alltoall", "alltoallv", "ialltoall", "allgather", "allgatherv", "fft")


def bounded(pattern: Pattern, where: Where) -> Pattern:
    """Less of the same where it would take too long: first fewer calls, then less in each."""
    limits = NETWORK if where.lab else ONE_NODE
    words = dict(pattern.words)
    made = Pattern(pattern.name, words)
    small = pattern.communicates and pattern.number("size", 8) <= SMALL
    calls = limits.small_calls if small else limits.calls
    while made.number("calls") * made.number("opens") * made.number("comms") > calls:
        key = max(("calls", "opens", "comms"), key=made.number)
        words[key] = str(made.number(key) // 2)
    while volume(made, where.ranks) > limits.bytes:
        many = next((k for k in ("calls", "opens", "pieces") if made.number(k) > 1), None)
        if many:
            words[many] = str(made.number(many) // 2)
        elif "array" in words:
            first, *others = words["array"].split("x")
            words["array"] = "x".join([str(max(1, int(first) // 2)), *others])
        else:
            key = "size" if pattern.communicates else "piece"
            words[key] = str(made.number(key) // 2)
    return made


# What is drawn

CALLS = ("all", "at_all", "iall", "iat_all", "split", "at_split", "ordered", "at", "iat")
WITH_OFFSET = ("at_all", "iat_all", "at_split", "at", "iat")
NONBLOCKING = ("iall", "iat_all", "iat")
ARRAYS = ("block", "columns", "rows")
IN_A_ROW = ("segmented", "unequal", "one", "far")
# Not all that a pattern may have: another entry would make every draw another one.
SHAPES = ("segmented", "strided", *ARRAYS, "unequal", "irregular", "one", "one-strided", "header")
OPS = ("pingpong", "allreduce", "barrier", "bcast", *EXCHANGES, "halo", "sendrecv")
HINTS = (
    "cb_buffer_size:65536",
    "cb_buffer_size:4194304",
    "cb_buffer_size:67108864",
    "romio_cb_write:enable",
    "romio_cb_write:disable",
    "romio_ds_write:disable",
    "cb_nodes:1",
)
COMMUNICATES = 0.2  # of the draws
MOST_BYTES = 16 << 20  # of a rank in one call
MOST_PIECES = 100_000
SPARSE_CALLS = ("all", "all", "at_all", "split")
SPARSE_RANKS = (1, 2, 3, 4, 4, 6, 8, 16)
MOST_RANGE = 64 << 30  # of a rank's pieces and the holes between them, about


@dataclass(frozen=True)
class Draw:
    """A pattern, and where it runs."""

    pattern: Pattern
    where: Where
    mpi: str


def draw(seed: int, number: int, places: Sequence[Where], mpis: Sequence[str]) -> Draw:
    """The draw of that number."""
    dice = random.Random(f"{seed}/{number}")
    # The pattern is the same whatever places and libraries are asked for, and so are these if they
    # are among those.
    words = _exchange(dice) if dice.random() < COMMUNICATES else _access(dice)
    where, mpi = dice.choice((*ONE, *LAB)), dice.choice(MPIS)
    where = where if where in places else dice.choice(places)
    mpi = mpi if mpi in mpis else dice.choice(mpis)
    pattern = Pattern(f"draw-{number}", words)
    return Draw(bounded(pattern, where), where, mpi)


def draw_sparse(seed: int, number: int, places: Sequence[Where], mpis: Sequence[str]) -> Draw:
    """The same of accesses whose pieces have holes of up to 1 GiB between them; on one node by up
    to 16 ranks, where no number of ranks was asked for."""
    dice = random.Random(f"{seed}/{number}/sparse")
    words = _sparse(dice)
    where, mpi = dice.choice((*ONE, *LAB)), dice.choice(MPIS)
    ranks = dice.choice(SPARSE_RANKS)
    where = where if where in places else dice.choice(places)
    mpi = mpi if mpi in mpis else dice.choice(mpis)
    if not where.lab and set(ONE) <= set(places):
        where = Where(1, ranks)
    return Draw(bounded(Pattern(f"sparse-{number}", words), where), where, mpi)


def _sparse(dice: random.Random) -> dict[str, str]:
    call = dice.choice(SPARSE_CALLS)
    piece, gap = _log(dice, 8, 1 << 20), _log(dice, 1, 1 << 30)
    pieces = _log(dice, 1, min(4000, max(1, MOST_RANGE // gap)))
    shape = dice.choice(("sparse", "sparse", "strided", "irregular"))
    words = {"call": call, "shape": shape, "piece": str(piece), "pieces": str(pieces)}
    words |= {"gap": str(gap), "calls": str(dice.choice((1, 1, _log(dice, 2, 20))))}
    if shape == "sparse":
        words["seed"] = str(dice.randrange(1_000_000))
    if dice.random() < 0.2:
        words["views"] = "each"
    if dice.random() < 0.2:
        words["reader"] = "next"
    return words


def _log(dice: random.Random, least: int, most: int) -> int:
    """As often between 1 and 10 as between 10 and 100."""
    return round(math.exp(dice.uniform(math.log(least), math.log(most))))


def _exchange(dice: random.Random) -> dict[str, str]:
    words = {"op": dice.choice(OPS), "size": str(8 * _log(dice, 1, 65536))}
    words["calls"] = str(dice.choice((_log(dice, 5, 40), 300)))
    if dice.random() < 0.1:
        words |= {"calls": str(_log(dice, 1, 5)), "comms": str(_log(dice, 2, 20))}
    return words


def _access(dice: random.Random) -> dict[str, str]:
    call, shape = dice.choice(CALLS), dice.choice(SHAPES)
    if call == "ordered":  # needs the same view everywhere
        shape = dice.choice(("segmented", "unequal", "one"))
    words = {"call": call, "shape": shape, **_amount(dice, shape)}
    piece, pieces = int(words["piece"]), int(words.get("pieces", 1))
    few = dice.choice((1, _log(dice, 2, 20), _log(dice, 2, 1000)))
    words["calls"] = str(max(1, min(few, (64 << 20) // (piece * pieces))))
    in_a_row = shape in IN_A_ROW or (shape == "strided" and pieces == 1)
    if call == "ordered" or (call in WITH_OFFSET and in_a_row and dice.random() < 0.6):
        words["view"] = "no"
    elif dice.random() < 0.25:
        words["views"] = "each"
        if shape in ARRAYS and dice.random() < 0.3:
            words["unknowns"] = dice.choice(("11,3,1,1", "5,1", "3"))
    if call in NONBLOCKING and words.get("views") != "each" and dice.random() < 0.5:
        words["depth"] = str(_log(dice, 2, 16))
    if dice.random() < 0.2:
        words["opens"] = str(_log(dice, 2, 50))
    words |= _seldom(dice, words)
    return words


def _amount(dice: random.Random, shape: str) -> dict[str, str]:
    """Of one call."""
    if shape in ARRAYS:
        size = dice.choice((4, 8, 16, 40))
        dimensions = dice.choice((2, 3, 3))
        cells = max(64, _log(dice, 4096, 16 << 20) // size)
        edge = max(4, round(cells ** (1 / dimensions)))
        array = [max(4, round(edge * dice.uniform(0.6, 1.6))) for _ in range(dimensions)]
        words = {"piece": str(size), "array": "x".join(map(str, array))}
        return words | ({"type": "darray"} if dice.random() < 0.4 else {})
    piece = _log(dice, 8, 4 << 20)
    if dice.random() < 0.5:
        piece = 1 << (piece.bit_length() - 1)
    least = max(1, 64 // piece)
    most = max(least, min(MOST_PIECES, MOST_BYTES // piece))
    pieces = dice.choice((least, _log(dice, least, most)))
    words = {"piece": str(piece), "pieces": str(pieces)}
    if shape in ("strided", "irregular", "header") and dice.random() < 0.4:
        words["gap"] = str(_log(dice, 8, 65536))
    if shape == "header":
        words |= {"header": str(_log(dice, 8, 65536)), "far": str(_log(dice, 65536, 4 << 30))}
    return words


def _seldom(dice: random.Random, words: Mapping[str, str]) -> dict[str, str]:
    more = {}
    if dice.random() < 0.3:
        more["memory"] = dice.choice(("strided", "irregular"))
        more["memory-piece"] = str(8 * _log(dice, 1, 512))
    if dice.random() < 0.2:
        more["hints"] = dice.choice(HINTS)
    if dice.random() < 0.15:
        more["reader"] = "next"
    if dice.random() < 0.05:
        more["sync"] = "yes"
    if dice.random() < 0.03:
        more["atomic"] = "yes"
    if dice.random() < 0.05 and words["call"] != "ordered":
        more["comm"] = "self"
    return more


def problem(pattern: Pattern) -> str | None:
    """Why a pattern is no legal program; None if it is one."""
    w = pattern.words
    if pattern.communicates:
        return None if w["op"] in (*OPS, "none") else f"unknown op {w['op']}"
    call, shape = w.get("call", "all"), w.get("shape", "segmented")
    in_a_row = shape in IN_A_ROW or (shape == "strided" and pattern.number("pieces") == 1)
    if w.get("view") == "no" and not in_a_row:
        return "offsets without a view are for bytes that lie in a row"
    if w.get("view") == "no" and call not in (*WITH_OFFSET, "ordered"):
        return "without a view and an offset all ranks write the same bytes"
    if call == "ordered" and w.get("view") != "no":
        return "a shared pointer needs the same view on all ranks"
    if w.get("views") == "each" and (w.get("view") == "no" or pattern.number("depth") > 1):
        return "no view is set while calls are under way"
    if "unknowns" in w and w.get("views") != "each":
        return "calls of different sizes need views of their own"
    return None
