"""Writes docs/guide/catalogue.md, the table of all that `haichi measure` measures, from its own
catalogue and src/measure/asked_for.txt: `python -m haichi.samples.catalogue`. A test fails while
the page is not what they say.
"""

from __future__ import annotations

import fnmatch
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

from haichi import programs
from haichi.paths import ROOT, program
from haichi.samples.model import Description

PAGE = ROOT / "docs" / "guide" / "catalogue.md"
ASKED_FOR = ROOT / "src" / "measure" / "asked_for.txt"

HEAD = """# All that is measured

The catalogue of `haichi measure` with an MPI 4 library; `./haichi measure --list --json` has more
of each. A library of an older standard lacks some. What two ranks do (`pair`) is measured for each
placement class that a job has: `core`, `numa`, `node`, `network`; the rest on all ranks at once
(`all`), however they are placed. This page is made by `python -m haichi.samples.catalogue`.
"""


@dataclass(frozen=True)
class Asked:
    """Something that is asked of a suite, and patterns of the names that answer it."""

    source: str
    what: str
    patterns: tuple[str, ...]

    def names(self, all_names: Iterable[str]) -> list[str]:
        """The measurements that answer it, in the order of the catalogue."""
        return [
            name
            for name in all_names
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in self.patterns)
        ]


def asked_for() -> list[Asked]:
    """The lines of the table."""
    rows = []
    for line in ASKED_FOR.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            source, what, names = (part.strip() for part in line.split("|"))
            rows.append(Asked(source, what, tuple(names.split())))
    return rows


def of_program() -> list[Description]:
    """The catalogue as the build's program for MPICH, an MPI 4, prints it.

    Raises:
        mpi.Missing: it is not built, or fails.
    """
    text = programs.output(program("haichi-measure-mpich"), "--list", "--json")
    return TypeAdapter(list[Description]).validate_json(text)


def page(catalogue: Sequence[Description], asked: Sequence[Asked]) -> str:
    """The page's text."""
    parts = [HEAD, "\n## What was asked for\n\n| by | what | measured by |\n|---|---|---|\n"]
    names = [each.name for each in catalogue]
    for row in asked:
        found = ", ".join(f"`{name}`" for name in row.names(names))
        parts.append(f"| {row.source} | {row.what} | {found} |\n")
    for group in dict.fromkeys(each.group for each in catalogue):
        parts.append(f"\n## {group}\n\n| name | functions | timed | places |\n|---|---|---|---|\n")
        for each in catalogue:
            if each.group == group:
                functions = ", ".join(name.removeprefix("MPI_") for name in each.functions)
                sized = ", by size" if each.sized else ""
                cells = (f"`{each.name}`", functions, each.timed, each.who + sized)
                parts.append(f"| {' | '.join(cells)} |\n")
    return "".join(parts)


def main() -> None:
    """Writes the page if it is not current."""
    text = page(of_program(), asked_for())
    if not PAGE.exists() or PAGE.read_text("utf-8") != text:
        PAGE.write_text(text, "utf-8")
        sys.stdout.write(f"wrote {PAGE}\n")


if __name__ == "__main__":
    main()
