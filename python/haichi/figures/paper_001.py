"""Paper 001's tables with ours beside them: Uehara, Tamura, Itakura, Yokokawa, MPI performance
evaluation on the Earth Simulator.

The paper's numbers are in paper_001.csv, ours in samples files. The machines have nothing in
common, so what can be compared is shape: where protocols switch, which call costs what beside which
other, what an assertion saves a fence, and the order of the ways to exchange.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table

from haichi.fit.curves import LOCAL, NETWORK, PING_PONG, Fitted, ping_pongs
from haichi.fit.gather import Curve, Gathered
from haichi.fit.model import Place

FACTS = Path(__file__).with_name("paper_001.csv")
TABLE_2_SIZES = (1020, 1024, 1028, 204796, 204800, 204804)
# Section 3.1: up to 1 KB eager, from 200 KB one copy; the sizes of Table 2 before and after.
SWITCHES = ((1024, 1028), (204796, 204800))
TRANS7_BYTES, TRANS7_EXCHANGES = 6150 << 10, 2400  # section 3.7
CALLS = {
    "MPI_Send": "call-send",
    "MPI_Isend": "call-isend",
    "MPI_Put": "call-put",
    "MPI_Get": "call-get",
    "MPI_Accumulate": "call-accumulate",
}
FENCES = {
    "none": "fence",
    "NOSTORE": "fence-nostore",
    "NOPUT": "fence-noput",
    "NOPRECEDE": "fence-noprecede",
    "NOSUCCEED": "fence-nosucceed",
    "all four": "fence-all-assertions",
}
EXCHANGES = {
    "Isend": "exchange-isend",
    "Send": "exchange-send",
    "Send+Barrier": "exchange-send-barrier",
    "Put": "exchange-put",
}
# What to measure, in runs of the suite with sizes of their own; none: each measurement's own.
RUNS: tuple[tuple[tuple[str, ...], tuple[int, ...]], ...] = (
    ((PING_PONG, *CALLS.values(), *FENCES.values(), *EXCHANGES.values()), ()),
    ((PING_PONG,), TABLE_2_SIZES),
    (tuple(EXCHANGES.values()), (TRANS7_BYTES,)),
)
MICRO = 1e6


def facts() -> dict[tuple[str, str], float]:
    """The paper's numbers by table and condition: microseconds, seconds of Table 4 and 3.7."""
    with FACTS.open(encoding="utf-8", newline="") as file:
        return {
            (row["where"], f"{row['what']};{row['condition']}"): float(row["value"])
            for row in csv.DictReader(file)
        }


def tables(found: Gathered) -> Iterator[Table]:
    """All of them, in the paper's order."""
    paper, fitted = facts(), ping_pongs(found)
    yield _table_2(paper, found)
    yield _switches(paper, fitted)
    yield _table_3(paper, found)
    yield _fences(paper, found)
    yield _exchanges(found)
    yield _table_4(paper, found)


def _table(title: str, first: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _local(found: Gathered, name: str) -> Curve:
    """A measurement of two ranks inside a node."""
    return next((curve for place in LOCAL if (curve := found.pair(name, place))), {})


def _at(curve: Curve, size: int) -> str:
    return f"{curve[size].value * MICRO:.3g}" if size in curve else "-"


def _smallest(curve: Curve) -> str:
    return _at(curve, min(curve)) if curve else "-"


def _all(found: Gathered, name: str) -> Curve:
    """A measurement of all ranks, of the largest job."""
    return next(reversed(found.jobs_of(name).values()), {})


def _table_2(paper: dict[tuple[str, str], float], found: Gathered) -> Table:
    table = _table(
        "Table 2: MPI_Send about the switches of protocol, µs (paper: local memory, global memory)",
        "bytes",
        *("paper, node", "paper, network", "ours, node", "ours, network"),
    )
    for size in TABLE_2_SIZES:
        pairs = []
        for where in ("intra", "inter"):
            local, shared = (
                paper["Table 2", f"MPI_Send;bytes={size};{memory}_{where}"]
                for memory in ("local", "global")
            )
            pairs.append(f"{local:.2f}, {shared:.2f}")
        ours = (_local(found, PING_PONG), found.pair(PING_PONG, NETWORK))
        table.add_row(f"{size:,}", *pairs, *(_at(curve, size) for curve in ours))
    return table


def _switches(paper: dict[tuple[str, str], float], fitted: dict[Place, Fitted]) -> Table:
    table = _table(
        "Section 3.1: where the protocol of MPI_Send changes (the paper: up to 1 KB eager, from "
        "200 KB one copy)",
        "place",
        *("between", "and bytes", "times the time"),
    )
    for last, first in SWITCHES:
        for place, where in (("node", "intra"), ("network", "inter")):
            times = [
                paper["Table 2", f"MPI_Send;bytes={size};local_{where}"] for size in (last, first)
            ]
            step = times[1] / times[0]
            table.add_row(f"paper, {place}, local memory", f"{last:,}", f"{first:,}", f"{step:.2f}")
    for near, each in fitted.items():
        for before, after in zip(each.lines, each.lines[1:], strict=False):
            last, first = each.sizes[before.last], each.sizes[after.first]
            step = each.seconds[after.first] / each.seconds[before.last]
            table.add_row(f"ours, {near}", f"{last:,}", f"{first:,}", f"{step:.2f}")
    return table


def _table_3(paper: dict[tuple[str, str], float], found: Gathered) -> Table:
    table = _table(
        "Table 3: a call's own time, 200 in a row, µs (paper: 0 or 4 bytes; ours: 4 bytes)",
        "call",
        *("paper, node", "paper, network", "ours, node", "ours, network"),
    )
    for function, name in CALLS.items():
        table.add_row(
            function,
            *(
                f"{paper['Table 3', f'200 calls in a row;{function};{where}']:.2f}"
                for where in ("intra", "inter")
            ),
            _smallest(_local(found, name)),
            _smallest(found.pair(name, NETWORK)),
        )
    return table


def _fences(paper: dict[tuple[str, str], float], found: Gathered) -> Table:
    table = _table(
        "Section 3.4: MPI_Win_fence by assertion, µs (the paper's own assertion is faster than "
        "none with any number of nodes; it prints no figure of it)",
        "assertion",
        *("paper, 512 nodes", "ours", "ours ÷ none"),
    )
    none = _all(found, FENCES["none"]).get(0)
    for words, name in FENCES.items():
        ours = _all(found, name).get(0)
        told = paper["section 3.4", "fence;512 nodes x 1 proc, no assertion"]
        table.add_row(
            words,
            f"{told:.2f}" if words == "none" else "",
            f"{ours.value * MICRO:.3g}" if ours else "-",
            f"{ours.value / none.value:.2f}" if ours and none else "-",
        )
    return table


PAPER_ORDER = (
    "16 nodes: up to 1 KB Isend and Send before Put, above Put not behind; 128 nodes: Put not "
    "behind, and from 1 MB on Send+Barrier before Send"
)


def _exchanges(found: Gathered) -> Table:
    table = _table(
        f"Section 3.6: the ways to exchange, µs. The paper: {PAPER_ORDER}",
        "bytes",
        *EXCHANGES,
        "order",
    )
    curves = {words: _all(found, name) for words, name in EXCHANGES.items()}
    for size in sorted({size for curve in curves.values() for size in curve}):
        there = {words: curve[size].value for words, curve in curves.items() if size in curve}
        order = " < ".join(sorted(there, key=there.__getitem__))
        table.add_row(f"{size:,}", *(_at(curve, size) for curve in curves.values()), order)
    return table


def _table_4(paper: dict[tuple[str, str], float], found: Gathered) -> Table:
    table = _table(
        "Table 4 and section 3.7: Trans7's 2,400 exchanges of 6,150 KB, s (64 nodes there; ours "
        "as the paper predicts its own: 2,400 times the exchange measured alone, with our ranks)",
        "way",
        *("paper, local memory", "paper, global memory", "paper, predicted", "ours, predicted"),
    )
    for words in ("Send+Barrier", "Put"):
        ours = _all(found, EXCHANGES[words]).get(TRANS7_BYTES)
        table.add_row(
            words,
            *(
                f"{paper['Table 4', f'Trans7 comm;{memory},{words}']:.2f}"
                for memory in ("local", "global")
            ),
            f"{paper['section 3.7', f'predicted comm;global,{words}']:.1f}",
            f"{ours.value * TRANS7_EXCHANGES:.3g}" if ours else "-",
        )
    return table


def words_of(run: tuple[Sequence[str], Sequence[int]]) -> list[str]:
    """A run of the suite on its command line."""
    names, sizes = run
    return [*names, *(word for size in sizes for word in ("--size", str(size)))]
