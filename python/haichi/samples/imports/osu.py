"""Output of the OSU micro-benchmarks (5.x to 7.x), and of mpi4py's ports of them.

A program prints a title (`# OSU MPI Latency Test v7.4`), perhaps what it does it with, a header
and rows of size and figures. Figures are means over iterations, of collectives over the ranks too;
`-f` adds the least and the largest rank's, and iterations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from haichi.samples.imports.table import MEGABYTE, MICROSECOND, Output, Row, Table

TITLE = re.compile(
    r"^#?\s*(?:OSU )?(MPI\S* .*?(?:Test|Exchange))(?:\s+v(\d\S*))?\s*$", re.IGNORECASE
)
TWO = re.compile(
    r"MPI(-\w+)? (Persistent )?(Multi[- ]?threaded )?(Latency|Bandwidth|Bi-Directional Bandwidth) "
    r"|MPI_(Put|Get|Acc|Fetch|Compare)",
    re.IGNORECASE,
)
SYNC = re.compile(r"^#\s*Synchronization:\s*(\S+)", re.IGNORECASE)
RATE = re.compile(r"(?:bandwidth\s*)?[\[(]?MB/s[\])]?", re.IGNORECASE)
COLUMN = re.compile(
    r"Size(?: \[B\])?|(?:Avg |Min |Max )?Latency ?[\[(]us[\])]|Bandwidth ?[\[(]MB/s[\])]|MB/s"
    r"|Messages/s|Overall\(us\)|Compute\(us\)|Coll\. Init\(us\)|MPI_Test\(us\)|MPI_Wait\(us\)"
    r"|Pure Comm\.\(us\)|Overlap\(%\)|Iterations|P\d+ Tail \S+|Transfer Size|Validation"
)
FIGURE = re.compile(r"^\s*\d[\d.eE+-]*(?:\s+\S+)*\s*$")


def is_output(text: str) -> bool:
    """Whether a program of the suite printed this."""
    return any(_title(line) for line in text.splitlines()[:200])


def _title(line: str) -> re.Match[str] | None:
    found = TITLE.match(line)
    return found if found and ("OSU" in line or line.startswith("# MPI")) else None


def read(text: str) -> Output:
    """All tables of a file, of one program or of several after each other."""
    version, tables = "", list[Table]()
    title, sync, columns = "", "", list[str]()
    for line in text.splitlines():
        if found := _title(line):
            title, sync, columns = found[1], "", []
            version = version or found[2] or ""
        elif found := SYNC.match(line):
            sync = found[1].removeprefix("MPI_Win_").removeprefix("MPI_")
        elif title and line.startswith(("#", "  ")) and _is_header(line):
            columns = COLUMN.findall(line)
            tables += _tables(title, sync, columns)
        elif columns and FIGURE.match(line):
            _add(tables, title, columns, line.split())
    name = "OSU micro-benchmarks" if "OSU" in text else "a port of the OSU micro-benchmarks"
    return Output(f"{name} {version}".strip(), "osu", [table for table in tables if table.rows])


def _is_header(line: str) -> bool:
    return any(not name.startswith("Size") for name in COLUMN.findall(line))


def _figures(title: str, columns: list[str]) -> Iterator[tuple[int, str, str]]:
    """The columns that become measurements: where each is, what its name gets, its kind."""
    for index, column in enumerate(columns):
        if RATE.fullmatch(column):
            yield index, "", "rate"
        elif column.startswith(("Overall", "Avg Lat", "Latency")):
            # mpi4py's ports of the bandwidths have the header of a latency, and print MB/s.
            yield index, "", "rate" if "bandwidth" in title.lower() else "time"
        elif column.startswith("Pure Comm"):
            yield index, "-pure", "time"


def _tables(title: str, sync: str, columns: list[str]) -> list[Table]:
    words = re.sub(r"\b(?:test|mpi)\b", " ", title.replace("MPI_", "").lower())
    name = "-".join(re.findall(r"[a-z0-9]+", f"osu {words} {sync}".lower()))
    two = TWO.match(title) is not None
    made = []
    for _, suffix, kind in _figures(title, columns):
        made.append(
            Table(
                name + suffix,
                timed=f"what {title} times{f', by {sync}' if sync else ''}",
                formula="bytes ÷ the rate that is printed" if kind == "rate" else "as printed",
                who="pair" if two else "all",
                over="first rank" if two else "mean of the ranks",
                functions=re.findall(r"MPI_[A-Z]\w+", title),
            )
        )
    return made


def _add(tables: list[Table], title: str, columns: list[str], words: list[str]) -> None:
    figures = list(_figures(title, columns))
    sized = columns[0].startswith("Size")
    if len(words) < len(columns):
        return
    size = int(words[0]) if sized else 0
    samples = int(words[columns.index("Iterations")]) if "Iterations" in columns else 0
    for table, (index, _, kind) in zip(tables[-len(figures) :], figures, strict=True):
        value = float(words[index])
        if kind == "rate" and (value <= 0 or size == 0):
            continue
        seconds = size / (value * MEGABYTE) if kind == "rate" else value * MICROSECOND
        table.rows.append(Row(size, seconds, samples))
