"""From what haichi found to what an MPI library can be told.

A library has other algorithms than haichi, so each of haichi's candidates has an algorithm of the
library's that sends the same messages, or one that is only near, or none. Where the trials' times
are known, the fastest candidate counts that the library can do as well; where only the choice is
known, the nearest to it. What is lost on the way is said in notes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from haichi.export.known import LIBRARY, Finding, Kind


@dataclass(frozen=True)
class Own:
    """An algorithm of the library's own."""

    name: str
    parameter: int | None = None  # messages at once, or radix
    differs: str = field(
        default="", compare=False
    )  # how it differs from haichi's; empty if it sends the same messages


@dataclass(frozen=True)
class Candidate:
    """A candidate's text in its parts: `bruck(4)` is bruck with ["4"]."""

    name: str
    parameters: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Candidate:
        """The parts; a text that is no candidate's is a name that nobody knows."""
        found = re.fullmatch(r"(\w+)(?:\(([^()]*)\))?", text)
        if not found:
            return cls(text, ())
        return cls(found[1], tuple(found[2].split(",")) if found[2] else ())

    def number(self, place: int, absent: int) -> int:
        """A parameter that is a whole number."""
        text = self.parameters[place] if place < len(self.parameters) else ""
        return int(text) if text.isdecimal() else absent

    @property
    def window(self) -> int:
        """Of spread: most sends outstanding, 0 is no limit."""
        return self.number(1, 0)

    @property
    def radix(self) -> int:
        """Of bruck."""
        return self.number(0, 2)


# What a library has for a candidate of haichi's in calls of a kind; None: nothing like it.
OwnOf = Callable[[Kind, Candidate], Own | None]


@dataclass(frozen=True)
class Rule:
    """What the library shall do: calls of this kind by this algorithm."""

    kind: Kind
    own: Own
    why: str  # what haichi had found


@dataclass(frozen=True)
class Range:
    """Sizes of blocks for which one algorithm shall be taken."""

    first: int  # bytes of a block
    last: int | None  # the last such size; None: no end
    own: Own
    why: str


def rules(findings: Iterable[Finding], own_of: OwnOf, title: str) -> tuple[list[Rule], list[str]]:
    """The rules for a library of this title, by function, ranks and size, and the notes."""
    taken: dict[Kind, Finding] = {}
    notes = []
    for finding in findings:
        other = taken.get(finding.kind)
        if other and other.chosen != finding.chosen:
            less, more = sorted((other, finding), key=lambda each: each.calls)
            if less.calls == more.calls:
                less, more = finding, other
            notes.append(
                f"{finding.kind}: {more.chosen} ({more.file}, {more.nodes} nodes) is taken, not "
                f"{less.chosen} ({less.file}, {less.nodes} nodes); rules do not know who is where"
            )
            taken[finding.kind] = more
        elif not other:
            taken[finding.kind] = finding
    made = []
    for kind, finding in taken.items():
        own, why, note = _choose(finding, own_of, title)
        notes += [f"{kind}: {note}"] if note else []
        if own:
            made.append(Rule(kind, own, why))
    made.sort(key=lambda each: (each.kind.function, each.kind.ranks, each.kind.block or 0))
    return made, notes


def _choose(finding: Finding, own_of: OwnOf, title: str) -> tuple[Own | None, str, str]:
    """The library's algorithm (None: its own rule), what it stands for, and what is lost."""
    if finding.chosen == LIBRARY:
        return None, "", ""
    chosen = own_of(finding.kind, Candidate.parse(finding.chosen))
    if chosen and not chosen.differs:
        return chosen, finding.chosen, ""
    best = finding.times.get(finding.chosen)
    for name in sorted(finding.times, key=finding.times.__getitem__):
        if not best:
            break
        own = None if name == LIBRARY else own_of(finding.kind, Candidate.parse(name))
        if name == LIBRARY or (own and not own.differs):
            what = f"{own.name}, as {name}," if own else "its own rule"
            slower = f"{finding.times[name] / best:.2f} times as long"
            return own, name, f"{title} has no {finding.chosen}; {what} took {slower}"
    if chosen:
        text = f"{chosen.name} is the nearest to {finding.chosen}: {chosen.differs}"
        return chosen, finding.chosen, text
    why = "no trial of anything that it has" if finding.times else "a run's report would say more"
    return None, "", f"{title} has no {finding.chosen}; its own rule stays, {why}"


def ranges(of_one_size: Iterable[Rule]) -> list[Range]:
    """The rules for one function and number of ranks as ranges of sizes, ascending; neighbours
    with the same algorithm become one."""
    made: list[Range] = []
    for rule in of_one_size:
        first = rule.kind.block or 0
        last = None if rule.kind.block is None else 2 * rule.kind.block - 1
        before = made[-1] if made else None
        if before and before.own == rule.own and before.last == first - 1:
            why = before.why if before.why == rule.why else f"{before.why}, {rule.why}"
            made[-1] = Range(before.first, last, rule.own, why)
        else:
            made.append(Range(first, last, rule.own, rule.why))
    return made
