"""Output of the Intel MPI Benchmarks: IMB-MPI1, -NBC, -RMA, -EXT, -IO.

A block begins with `# Benchmarking NAME` and `# #processes = N`, then come a header and rows. Times
are means over repetitions; of several ranks IMB prints the least, the largest and the mean, and
that is what is taken here, as it is what is quoted. Blocks of other numbers of processes are
measurements of their own.
"""

from __future__ import annotations

import re

from haichi.samples.imports.table import MEGABYTE, MICROSECOND, Output, Row, Table

NAME = re.compile(r"^#\s*Benchmarking\s+(.+?)\s*$")
RANKS = re.compile(r"^#\s*\(?\s*#processes\s*=\s*(\d+)")
MODE = re.compile(r"^#\s+MODE:\s*(\S+)")
VERSION = re.compile(r"Intel\s?\(R\) MPI Benchmark\w*\s+(?:Suite\s+)?(V?\d[\d.]*)", re.IGNORECASE)
FACT = re.compile(r"^#\s*(Date|Machine|System|Release)\s*:\s*(.+?)\s*$")
TIMES = ("t[usec]", "t_avg[usec]", "t_ovrl[usec]")


def is_output(text: str) -> bool:
    """Whether one of the programs printed this."""
    return "# Benchmarking " in text and ("#repetitions" in text or "MPI Benchmark" in text)


def read(text: str) -> Output:
    """All blocks of a file."""
    tables = list[Table]()
    facts = dict[str, str]()
    name, mode, ranks, most, columns = "", "", 0, 0, list[str]()
    for line in text.splitlines():
        if found := NAME.match(line):
            name, mode, columns = found[1], "", []
        elif found := RANKS.match(line):
            ranks, most = int(found[1]), max(most, int(found[1]))
        elif found := MODE.match(line):
            mode = found[1]
        elif found := FACT.match(line):
            facts[found[1]] = found[2]
        elif name and ("#bytes" in line or "#repetitions" in line):
            columns = line.split()
            if _figure(columns) is not None:
                tables.append(_table(name, mode, ranks, columns))
        elif columns and re.match(r"^\s*\d", line) and _figure(columns) is not None:
            _add(tables[-1], columns, line.split())
    version = VERSION.search(text)
    return Output(
        f"Intel MPI Benchmarks {version[1] if version else ''}".strip(),
        "imb",
        _apart(tables),
        ranks=most,
        started=facts.get("Date", ""),
        kernel=f"{facts.get('System', '')} {facts.get('Release', '')}".strip(),
    )


def _figure(columns: list[str]) -> int | None:
    """The column that is taken: a time, or else a rate."""
    known = [*(time for time in TIMES if time in columns), "Mbytes/sec"]
    return columns.index(known[0]) if known[0] in columns else None


def _table(name: str, mode: str, ranks: int, columns: list[str]) -> Table:
    alone = "t[usec]" in columns
    words = "-".join(re.findall(r"[a-z0-9]+", f"imb {name} {mode}".lower()))
    rate = columns[_figure(columns) or 0] == "Mbytes/sec"
    return Table(
        words if ranks <= 2 else f"{words}-{ranks}",
        timed=f"what {name} times{f', {mode}' if mode else ''}, {ranks} processes",
        formula="bytes ÷ the rate that is printed" if rate else "as printed",
        who="pair" if ranks == 2 and alone else "all",
        over="first rank" if alone else "mean of the ranks",
    )


def _add(table: Table, columns: list[str], words: list[str]) -> None:
    at = _figure(columns)
    if at is None or len(words) < len(columns):
        return
    size = int(words[columns.index("#bytes")]) if "#bytes" in columns else 0
    samples = int(words[columns.index("#repetitions")]) if "#repetitions" in columns else 0
    value = float(words[at])
    if columns[at] != "Mbytes/sec":
        table.rows.append(Row(size, value * MICROSECOND, samples))
    elif value > 0 and size > 0:
        table.rows.append(Row(size, size / (value * MEGABYTE), samples))


def _apart(tables: list[Table]) -> list[Table]:
    """Tables that have rows; those of one name are told apart by a number."""
    seen = dict[str, int]()
    for table in (kept := [each for each in tables if each.rows]):
        count = seen[table.name] = seen.get(table.name, 0) + 1
        if count > 1:
            table.name += f"-{count}"
    return kept
