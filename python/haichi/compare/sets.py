"""Sets of samples files, and what their launches have to say of each point."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from haichi.compare.model import Side
from haichi.report.load import ReportError
from haichi.samples.model import Description, Launch
from haichi.samples.read import read
from haichi.units import printable

BETWEEN = ":"  # the sets, where one has several files; as between mpiexec's programs
Key = tuple[str, str, int]
"""Label, placement class and bytes of a point."""


@dataclass
class Set:
    """All launches of some files."""

    files: list[Path]
    launches: list[Launch] = field(default_factory=list)
    descriptions: dict[str, Description] = field(default_factory=dict)
    medians: dict[Key, list[float]] = field(default_factory=dict)
    """Of each point, one for each launch that has it."""
    cut: list[Path] = field(default_factory=list)
    """Files whose last line is not whole."""

    def side(self) -> Side:
        """What the form says of it."""
        starts = sorted(launch.started for launch in self.launches)
        return Side(
            files=[str(path) for path in self.files],
            launches=len(self.launches),
            libraries=list(dict.fromkeys(launch.library for launch in self.launches)),
            under=sorted({launch.under for launch in self.launches}),
            first=starts[0],
            last=starts[-1],
        )


def two_sets(words: Sequence[str]) -> tuple[Set, Set]:
    """A and B as they are written: two files or folders, or more with a colon between the sets.

    Raises:
        ReportError: as read_set(); or the words are not two sets, or a file is in both.
    """
    colons = [at for at, word in enumerate(words) if word == BETWEEN]
    if len(colons) > 1 or (not colons and len(words) != 2):
        raise ReportError(
            f"{len(words) - len(colons)} files{' in more than two sets' if colons else ''}: give "
            "two files or folders, or two sets with a colon between: haichi compare A… : B…; a "
            "program stands behind --"
        )
    at = colons[0] if colons else 1
    a, b = words[:at], words[at + len(colons) :]
    if not a or not b:
        raise ReportError("a set is empty: give files before the colon and behind it")
    one, other = read_set(a), read_set(b)
    for file in one.files:
        if any(file.samefile(each) for each in other.files):
            raise ReportError(f"{printable(str(file))}: is in both sets; compare it with another")
    return one, other


def read_set(words: Iterable[str | Path]) -> Set:
    """The launches of samples files, and of all *.jsonl in folders.

    Raises:
        ReportError: as haichi.samples.read.read(); or a folder has none, or a file is named twice.
    """
    made = Set(files=[])
    for path in (file for word in words for file in _files(Path(word))):
        if any(path.samefile(each) for each in made.files):
            raise ReportError(
                f"{printable(str(path))}: is named twice; its launches would count so"
            )
        _add(made, path)
    return made


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.jsonl"))
    if not files:
        raise ReportError(
            f"{printable(str(path))}: is a folder without *.jsonl; name samples files"
        )
    return files


def _add(made: Set, path: Path) -> None:
    found = read(path)
    made.files.append(path)
    made.launches += found.launches
    if found.cut:
        made.cut.append(path)
    for name, description in found.descriptions.items():
        _check_formula(made, path, description)
        made.descriptions[name] = description
    for point in (*found.points, *found.variants):
        if point.median > 0:
            key = (point.label(), point.place, point.bytes)
            made.medians.setdefault(key, []).append(point.median)


def _check_formula(made: Set, path: Path, description: Description) -> None:
    """One set is of one quantity: what a sample is must not change from file to file."""
    known = made.descriptions.get(description.name, description)
    if not same_quantity(known, description):
        raise ReportError(
            f"{printable(str(path))}: {description.name} is {description.formula} of "
            f"{description.timed} there, and {known.formula} of {known.timed} in the files before; "
            "compare them as two sets"
        )


def measurement_of(key: Key) -> str:
    """The name in the catalogue, without how it was measured (`Point.label`)."""
    return key[0].partition(" (")[0]


def same_quantity(one: Description, other: Description) -> bool:
    """Whether two measurements of one name can be compared."""
    return (one.timed, one.formula, one.start, one.over, one.who) == (
        other.timed,
        other.formula,
        other.start,
        other.over,
        other.who,
    )
