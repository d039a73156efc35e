"""What a report says in words: findings, and the choices of collectives on the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from haichi.report import html
from haichi.report.findings import findings
from haichi.report.load import load
from haichi.report.summary import summarize

ALLTOALL: dict[str, Any] = {
    "collective": "MPI_Alltoall",
    "ranks": 2,
    "nodes": 2,
    "block_at_least": 1024,
    "calls": 200,
    "seconds": 4.0,
    "locked": True,
    "chosen": "ring",
    "why": "fastest of 3 tried",
    "candidates": [
        {"name": "library", "trials": [0.03, 0.03], "dropped": True},
        {"name": "ring", "trials": [0.02, 0.02], "dropped": False},
    ],
}
WRITES = {**ALLTOALL, "collective": "two-phase write, 2 aggregators", "seconds": 5.0}


def summarized(tmp_path: Path, **fields: Any):
    """The run of a report with these fields beside what every report has."""
    report = {
        "schema": "haichi.report/1",
        "haichi": "0.1.0",
        "program": {
            "command": "./app",
            "ranks": 2,
            "started": "2026-01-01T00:00:00Z",
            "wall_s": 10.0,
            "job": None,
        },
        "mpi": {"abi": "mpich", "library": "a library"},
        "placement": {
            "schema": "haichi.placement/1",
            "nodes": [{"name": "a", "ranks": "0"}, {"name": "b", "ranks": "1"}],
        },
        "ranks": [{"rank": r, "node": r, "seconds": {}} for r in range(2)],
        **fields,
    }
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report))
    return summarize([path], [load(path)])


def said(tmp_path: Path, **fields: Any) -> list[str]:
    runs, _ = summarized(tmp_path, **fields)
    return findings(runs[0].report, runs[0].facts)


def test_a_collective_that_takes_long_is_found_with_all_its_sizes(tmp_path: Path) -> None:
    larger = {**ALLTOALL, "block_at_least": 4096, "seconds": 1.0, "chosen": "library"}
    assert said(tmp_path, collectives=[larger, ALLTOALL, WRITES]) == [
        "MPI_Alltoall takes 5.00 s of 10.0 s (50 %) in 400 calls, most of it by ring: "
        "haichi explain says more"
    ]


def test_a_collective_that_takes_little_is_not(tmp_path: Path) -> None:
    assert said(tmp_path, collectives=[{**ALLTOALL, "seconds": 0.4}]) == []


def test_the_page_shows_collectives_those_that_took_longest_first(tmp_path: Path) -> None:
    little = {**ALLTOALL, "collective": "MPI_Allgather", "seconds": 0.1, "chosen": ""}
    page = html.page(*summarized(tmp_path, collectives=[little, ALLTOALL]))
    assert "Collectives and what was chosen" in page
    first, second = page.index("MPI_Alltoall, blocks"), page.index("MPI_Allgather, blocks")
    assert first < second
    assert "10.0 ms a call less than the library&#x27;s, 1.50x" in page
    assert "nothing yet" in page


def test_the_page_of_a_run_without_collectives_says_nothing_of_them(tmp_path: Path) -> None:
    assert "Collectives and what was chosen" not in html.page(*summarized(tmp_path))
