"""Output of IOR in JSON (`-O summaryFormat=JSON`), of its versions 3.2 and later.

Each test has the results of its repetitions, so there is a median; `bytes` is the transfer size,
and the time that of one transfer of a task at the rate of all: what a client waits for a request on
average. Text before and behind the document, which IOR prints on a terminal, is passed over.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias, cast

from haichi.report.load import ReportError
from haichi.samples.imports.table import Output, Row, Table

Json: TypeAlias = "dict[str, Json] | list[Json] | str | float | int | bool | None"
KIBIBYTE, MEBIBYTE = 1 << 10, 1 << 20


def is_output(text: str) -> bool:
    """Whether IOR printed this, as JSON."""
    return '"tests"' in text and '"Command line"' in text


def is_text(text: str) -> bool:
    """Whether IOR printed this, but not as JSON."""
    return "MPI Coordinated Test of Parallel I/O" in text and not is_output(text)


def read(text: str) -> Output:
    """All tests of a file.

    Raises:
        ReportError: the document is damaged, or has no results.
    """
    start = text.index("{")
    try:
        document, _ = json.JSONDecoder().raw_decode(text[start:])
    except ValueError as error:
        raise ReportError(f"is no whole JSON of IOR ({error}); repeat the run") from None
    tests = _list(_field(document, "tests"))
    tables, ranks, nodes = list[Table](), 0, 1
    for test in tests:
        results = _results(test)
        tables += _tables(_field(test, "Parameters"), results)
        ranks = max([ranks, *(int(_number(result, "numTasks")) for result in results)])
        nodes = max(nodes, int(_number(_field(test, "Options"), "nodes") or 1))
    if not tables:
        raise ReportError("has no results: did IOR come to its end?")
    version = _words(document, "Version") or _words(document, "version")
    return Output(
        f"IOR {version.removeprefix('IOR-')}".strip(),
        "ior",
        tables,
        ranks=ranks,
        nodes=nodes,
        started=_words(document, "Began"),
        machine=_words(document, "Machine").removeprefix("Linux ").split(" ")[0],
    )


def _results(test: Json) -> list[Json]:
    """Of a test; some versions have a list in the list."""
    found: list[Json] = []
    for each in _list(_field(test, "Results")):
        found += each if isinstance(each, list) else [each]
    return found


def _tables(parameters: Json, results: list[Json]) -> Iterator[Table]:
    api = _words(parameters, "api") or "IOR"
    collective = bool(_number(parameters, "collective"))
    own = bool(_number(parameters, "filePerProc"))
    by_access: dict[tuple[str, int], list[float]] = defaultdict(list)
    for result in results:
        rate = _number(result, "bwMiB") * MEBIBYTE
        size = int(_number(result, "xferKiB") * KIBIBYTE)
        tasks = int(_number(result, "numTasks")) or int(_number(parameters, "numTasks")) or 1
        if rate > 0 and size > 0:
            by_access[_words(result, "access"), size].append(size * tasks / rate)
    for (access, size), times in by_access.items():
        words = ["ior", api.lower(), access, *(["collective"] if collective else [])]
        words += ["file-per-process"] if own else []
        yield Table(
            "-".join(words),
            timed=f"{access} by {api}, {'collective' if collective else 'independent'}, "
            f"{'a file for each task' if own else 'one file'}",
            formula="transfer size × tasks ÷ bwMiB",
            who="all",
            over="slowest rank",
            rows=[Row(size, sum(times) / len(times), len(times), tuple(times))],
        )


def _field(value: Json, name: str) -> Json:
    return value.get(name) if isinstance(value, dict) else None


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _number(value: Json, name: str) -> float:
    found = _field(value, name)
    try:
        return float(cast(str, found)) if found is not None else 0.0
    except (TypeError, ValueError):
        return 0.0


def _words(value: Json, name: str) -> str:
    found = _field(value, name)
    return found if isinstance(found, str) else ""
