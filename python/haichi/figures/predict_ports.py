"""`haichi figures predict-ports`: collective calls of the rows and the columns of a grid of ranks,
whose columns share the ports of the nodes, on ranks that SimGrid simulates, and what is predicted
of them by sequence.

The profile has each call alone: of as many ranks on one node, and on as many nodes. SMPI makes it
by several algorithms (`smpi/alltoall`), where the prediction knows one, so that a call alone takes
more than its messages as they are predicted, or less. All columns at once go through the same
ports.
"""

from __future__ import annotations

import json
import math
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from haichi.figures import record
from haichi.figures.command import INVALID, choose, keep, one_line, progress_on_errors
from haichi.figures.smpi import Cluster
from haichi.figures.smpi_profile import (
    EAGER,
    LATENCY,
    PORT,
    PROGRAM,
    curves_of,
    predicted,
    write_profile,
)

SCHEMA = "haichi.predict-ports/1"
ROWS = COLUMNS = 4  # a row on each node
CALLS = 24  # of rows and of columns in a run, as the program has it
ALGORITHMS = ("pair", "ring", "bruck", "basic_linear", "ring_light_barrier", "pair_mpi_barrier")
SIZES = (1024, 8192, 65536, 524288)
MESSAGES = sorted({0, 1, EAGER - 17, EAGER - 16, *(2**power for power in range(4, 23))})
MOST_ERROR = 0.15
PATIENCE_S = 120


@dataclass(frozen=True)
class Case:
    """An algorithm of SMPI's; seconds."""

    algorithm: str
    bytes: int
    row_alone: float  # one call
    column_alone: float
    simulated: float  # of the whole run
    predicted: float

    @property
    def error(self) -> float:
        """As a share of what SMPI says."""
        return self.predicted / self.simulated - 1


def command(
    only: Annotated[
        list[str] | None, typer.Option("--algorithm", help="One of SMPI's; repeatable.")
    ] = None,
    size: Annotated[
        list[int] | None, typer.Option(min=1, help="Bytes of a block; repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
) -> None:
    """All-to-alls of rows and columns of a grid in SMPI, predicted from each call alone."""
    with one_line():
        chosen = choose("--algorithm", only, dict.fromkeys(ALGORITHMS, None))
        with tempfile.TemporaryDirectory() as folder:
            progress = progress_on_errors()
            cases = []
            for algorithm in chosen:
                progress(algorithm)
                cases += measure(Path(folder), algorithm, size or SIZES)
    console = record.console()
    console.print(table(cases))
    off = [abs(math.log(each.predicted / each.simulated)) for each in cases]
    console.print(f"geometric mean of the errors: {100 * math.expm1(statistics.fmean(off)):.1f} %")
    keep(
        {"schema": SCHEMA, "cases": [{**asdict(each), "error": each.error} for each in cases]},
        out,
        "predict-ports",
    )
    if any(abs(each.error) > MOST_ERROR for each in cases):
        raise typer.Exit(INVALID)


def measure(folder: Path, algorithm: str, sizes: Sequence[int]) -> list[Case]:
    """Each size in SMPI, and predicted.

    Raises:
        Missing: SMPI or a program is not there, or fails.
    """
    spread = Cluster(
        ROWS,
        PORT,
        LATENCY,
        EAGER,
        topology=f'core="{COLUMNS}"',
        options=("--cfg=network/crosstraffic:0", f"--cfg=smpi/alltoall:{algorithm}"),
    )
    filled = replace(spread, per_node=COLUMNS)
    row = _curves(filled, folder, COLUMNS, "calls", *map(str, sizes))["alltoall"]
    column = _curves(spread, folder, ROWS, "calls", *map(str, sizes))["alltoall"]
    words = ("rows-and-columns", str(ROWS), *map(str, sizes))
    whole = _curves(filled, folder, ROWS * COLUMNS, *words)["rows-and-columns"]
    messages = {
        place: _curves(cluster, folder, 2, "messages", *map(str, MESSAGES))["ping-pong"]
        for place, cluster in (("network", spread), ("node", filled))
    }
    profile = folder / "machine.json"
    write_profile(
        profile,
        messages,
        (
            {"name": "alltoall", "ranks": ROWS, "nodes": nodes, "times": times}
            for nodes, times in ((1, row), (ROWS, column))
        ),
    )
    return [
        Case(
            algorithm, size, row[size], column[size], whole[size], _predicted(folder, profile, size)
        )
        for size in sizes
    ]


def _curves(cluster: Cluster, folder: Path, ranks: int, *words: str) -> dict[str, dict[int, float]]:
    text = cluster.run(folder, PROGRAM, ranks, words, timeout=PATIENCE_S)
    return curves_of(text.splitlines())


def _predicted(folder: Path, profile: Path, size: int) -> float:
    file = folder / "calls.jsonl"
    file.write_text(_record(size))
    return predicted(file, profile)["total_s"]


def _record(size: int) -> str:
    """What the program does: calls of its row and its column in turns, without computing."""
    nodes = [
        {"name": f"node{node}", "ranks": f"{node * COLUMNS}-{(node + 1) * COLUMNS - 1}"}
        for node in range(ROWS)
    ]
    ranks = ROWS * COLUMNS
    lines: list[dict[str, object]] = [
        {
            "kind": "record",
            "schema": "haichi.record/1",
            "by": PROGRAM,
            "started": "",
            "program": ["rows-and-columns", str(size)],
            "abi": "smpi",
            "ranks": ranks,
            "placement": {"schema": "haichi.placement/1", "nodes": nodes},
            "signature": {"library": "SMPI"},
            "sync": False,
            "sequence": True,
        },
        {"kind": "communicator", "id": 0, "name": "MPI_COMM_WORLD", "members": f"0-{ranks - 1}"},
        *(
            {"kind": "communicator", "id": 1 + row, "members": str(nodes[row]["ranks"])}
            for row in range(ROWS)
        ),
        *(
            {
                "kind": "communicator",
                "id": 1 + ROWS + column,
                "members": ",".join(str(rank) for rank in range(column, ranks, COLUMNS)),
            }
            for column in range(COLUMNS)
        ),
    ]
    for rank in range(ranks):
        call = {"call": "MPI_Alltoall", "bytes": size, "compute_s": 0.0, "took_s": 0.0}
        events = [
            {**call, "comm": 1 + rank // COLUMNS},
            {**call, "comm": 1 + ROWS + rank % COLUMNS},
        ]
        lines.append(
            {
                "kind": "sequence",
                "rank": rank,
                "cut": False,
                "events": events,
                "program": [[CALLS, [0, 1]]],
            }
        )
    lines.append({"kind": "end", "ranks": ranks, "calls": 2 * CALLS * ranks})
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def table(cases: Sequence[Case]) -> Table:
    """The algorithms and their errors."""
    made = Table(title=f"{CALLS} calls of rows and of columns, {ROWS} x {COLUMNS} ranks")
    for column in ("SMPI's algorithm", "bytes", "a row alone, ms", "a column alone, ms"):
        made.add_column(column, justify="left" if "algorithm" in column else "right")
    for column in ("all, ms", "predicted, ms", "error"):
        made.add_column(column, justify="right")
    for each in cases:
        times = (each.row_alone, each.column_alone, each.simulated, each.predicted)
        made.add_row(
            each.algorithm,
            str(each.bytes),
            *(f"{1e3 * seconds:.4f}" for seconds in times),
            f"{100 * each.error:+.1f} %",
        )
    return made
