"""`./haichi check --rooms`: the folders of src/ and those in them as rooms, measured from the
includes.

A module is a header with its source; an arrow goes from the module that includes to the one that is
included. Modules that include each other, directly or around a corner, are a circle.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from haichi_bootstrap.arrows import INCLUDE

SOURCES = {".h", ".cpp", ".c"}


@dataclass
class Room:
    """A folder: files without tests and their lines; the rooms that it uses, and that use it."""

    files: int = 0
    lines: int = 0
    tests: int = 0
    uses: set[str] = field(default_factory=set)
    used_by: set[str] = field(default_factory=set)
    circles: list[list[str]] = field(default_factory=list)


def rooms(src: Path) -> dict[str, Room]:
    """All rooms of a source tree, by name."""
    found: dict[str, Room] = {}
    arrows: dict[str, set[str]] = {}
    files = [f for f in sorted(src.rglob("*")) if f.suffix in SOURCES]
    here = {f.relative_to(src).as_posix() for f in files}
    for file in files:
        name = file.relative_to(src)
        folder = name.parent.as_posix()
        room = found.setdefault(folder, Room())
        text = file.read_text()
        if name.stem.endswith("_test"):
            room.tests += 1
            continue
        room.files += 1
        room.lines += text.count("\n")
        module = name.with_suffix("").as_posix()
        for _, target in INCLUDE.findall(text):
            if target not in here:
                continue  # generated, or another's
            other = Path(target).with_suffix("").as_posix()
            if other != module:
                arrows.setdefault(module, set()).add(other)
            used = Path(target).parent.as_posix()
            if used != folder:
                room.uses.add(used)
    for folder, room in found.items():
        for used in room.uses:
            found.setdefault(used, Room()).used_by.add(folder)
    for circle in circles(arrows):
        found[Path(circle[0]).parent.as_posix()].circles.append(circle)
    return dict(sorted(found.items()))


def circles(arrows: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The largest sets of nodes of which each reaches all others, each sorted."""
    reached = {node: _reached(node, arrows) for node in arrows}
    found = {
        tuple(sorted(other for other in reached[node] if node in reached.get(other, ())))
        for node in arrows
        if node in reached[node]
    }
    return [list(circle) for circle in sorted(found)]


def _reached(start: str, arrows: Mapping[str, Iterable[str]]) -> set[str]:
    found: set[str] = set()
    ahead = [start]
    while ahead:
        new = set(arrows.get(ahead.pop(), ())) - found
        found |= new
        ahead += new
    return found


def table(src: Path) -> list[str]:
    """Lines to print: a row for each room, then the circles."""
    form = "{:<18} {:>5} {:>6} {:>5}  {:<4} {:<4} {}"
    lines = [form.format("room", "files", "lines", "tests", "in", "out", "uses")]
    found = rooms(src)
    for name, room in found.items():
        row = (name, room.files, room.lines, room.tests, len(room.used_by), len(room.uses))
        lines.append(form.format(*row, " ".join(sorted(room.uses))).rstrip())
    return [*lines, *(circles_in(src) or ["circles: none"])]


def circles_in(src: Path) -> list[str]:
    """A line for each circle of a source tree."""
    found = [circle for room in rooms(src).values() for circle in room.circles]
    return [f"circle of {len(circle)}: {' '.join(circle)}" for circle in found]
