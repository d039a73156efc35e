"""Places of a program that called MPI, by the debug information of the object that holds them.

addr2line of the GNU binutils reads it. What it does not know, or where it or the object is not
here, stays the object and the offset in it.
"""

from __future__ import annotations

import shutil
import struct
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from haichi_processes import runner

from haichi.record.model import Site
from haichi.units import plural, printable

SECONDS = 60.0
_ELF, _64_BITS, _FIXED, _LOAD = b"\x7fELF", 2, 2, 1


@dataclass
class Named:
    """Places by their ids, and a line for each thing that could not be looked up."""

    words: dict[int, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def name_sites(sites: Iterable[Site]) -> Named:
    """Function, file and line of each place, as far as they can be known here."""
    named = Named()
    of_objects: dict[str, list[Site]] = defaultdict(list)
    for site in sites:
        of_objects[site.object].append(site)
        named.words[site.id] = f"{_short(site.object)}+{site.offset:#x}"
    if not of_objects:
        return named
    tool = shutil.which("addr2line")
    if tool is None:
        named.notes.append(
            "places in the program are offsets: addr2line is not here (apt-get install binutils)"
        )
        return named
    gone = []
    for path, those in of_objects.items():
        if Path(path).is_file():
            named.words.update(_looked_up(tool, path, those))
        else:
            gone.append(path)
    if gone:
        named.notes.append(
            f"places in {', '.join(_short(path) for path in gone[:4])} are offsets: "
            f"{plural(len(gone), 'object')} of the program not here"
        )
    return named


def _short(path: str) -> str:
    return printable(path.rpartition("/")[2] or path)


def _looked_up(tool: str, path: str, sites: list[Site]) -> dict[int, str]:
    """What addr2line knows of the places of one object."""
    base = _fixed_base(Path(path))
    # A return address is behind the call; the byte before it belongs to the call's line.
    addresses = [site.offset + (base if site.offset < base else 0) - 1 for site in sites]
    text = "".join(f"{max(address, 0):#x}\n" for address in addresses)
    done = runner.run([tool, "-f", "-C", "-e", path], stdin=text, timeout=SECONDS)
    lines = done.out.splitlines() if done.code == 0 else []
    if len(lines) < 2 * len(sites):
        return {}
    found = {}
    for site, function, line in zip(sites, lines[::2], lines[1::2], strict=False):
        where = _line(line)
        if function != "??" and where:
            found[site.id] = f"{printable(function)} ({where})"
        elif function != "??":
            found[site.id] = f"{printable(function)} ({_short(path)}+{site.offset:#x})"
        elif where:
            found[site.id] = where
    return found


def _line(text: str) -> str:
    """`/src/app.c:12 (discriminator 3)` becomes `app.c:12`."""
    path, _, number = text.partition(" (")[0].rpartition(":")
    return f"{_short(path)}:{number}" if path and path != "??" and number.isdecimal() else ""


def _fixed_base(path: Path) -> int:
    """Where an object that cannot be moved says that it begins; 0 of one that can."""
    try:
        with path.open("rb") as file:
            head = file.read(64)
            if len(head) < 64 or head[:4] != _ELF or head[4] != _64_BITS:
                return 0
            order = "<" if head[5] == 1 else ">"
            (kind,) = struct.unpack_from(order + "H", head, 16)
            if kind != _FIXED:
                return 0
            (table,) = struct.unpack_from(order + "Q", head, 32)
            size, count = struct.unpack_from(order + "HH", head, 54)
            file.seek(table)
            entries = file.read(size * count)
    except (OSError, struct.error):
        return 0
    starts = []
    for at in range(0, len(entries) - size + 1, max(size, 1)):
        (kind,) = struct.unpack_from(order + "I", entries, at)
        if kind == _LOAD:
            starts.append(struct.unpack_from(order + "Q", entries, at + 16)[0])
    return int(min(starts, default=0))
