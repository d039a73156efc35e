"""What an importer makes of a benchmark's output, and the samples file that becomes of it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel

from haichi.samples.model import FORM, Description, Launch, Point

MEGABYTE = 1e6  # as OSU's benchmarks and IMB count it
MICROSECOND = 1e-6


@dataclass(frozen=True)
class Row:
    """One line of a table. Times are in seconds."""

    bytes: int
    seconds: float
    samples: int = 0
    """0 where the output does not tell."""
    all: tuple[float, ...] = ()
    """Each repetition's time, if it is printed: then there is a median."""


@dataclass
class Table:
    """One measurement, as it was printed."""

    name: str
    timed: str
    """What the benchmark times, in words, as far as its output or manual says."""
    formula: str
    """How the second was made of what is printed."""
    who: Literal["pair", "all"]
    over: Literal["slowest rank", "first rank", "mean of the ranks"]
    functions: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)


@dataclass
class Output:
    """All of a file."""

    source: str
    """The benchmark and its version."""
    group: str
    tables: list[Table]
    ranks: int = 0
    """0 where the output does not tell."""
    nodes: int = 1
    started: str = ""
    library: str = ""
    kernel: str = ""
    machine: str = ""


def records(output: Output) -> Iterator[BaseModel]:
    """The lines of the samples file."""
    yield _launch(output)
    for table in output.tables:
        yield _description(output, table)
        for row in table.rows:
            yield _point(table, row)


def _launch(output: Output) -> Launch:
    ranks = output.ranks or (2 if all(table.who == "pair" for table in output.tables) else 1)
    nodes = max(1, min(output.nodes, ranks))
    machine = output.machine or "not-told"
    return Launch(
        schema=FORM,
        kind="launch",
        launch=1,
        haichi="",
        source=output.source,
        started=output.started,
        library=output.library,
        mpi="",
        compiled_for="",
        job_ranks=ranks,
        node_names=[machine] if nodes == 1 else [f"{machine}-{node}" for node in range(nodes)],
        nodes_of_ranks=[rank * nodes // ranks for rank in range(ranks)],
        binding=[],
        bound_by_haichi=False,
        host_cores=[],
        oversubscribed=False,
        reference=False,
        under=False,
        tuning={},
        kernel=output.kernel,
        processor="",
        governor="",
        load="",
        cgroup_cpu="",
        cgroup_memory="",
        init_seconds=0,
        clock="",
        clock_cost=0,
        clock_resolution=0,
        wtime_cost=0,
        wtime_resolution=0,
        seed=0,
        within=0,
    )


def _description(output: Output, table: Table) -> Description:
    return Description(
        kind="measurement",
        name=table.name,
        group=output.group,
        functions=table.functions,
        section="",
        timed=table.timed,
        sample="as the benchmark has it",
        formula=table.formula,
        buffers="as the benchmark has them",
        who=table.who,
        start="not told",
        over=table.over,
        sized=any(row.bytes for row in table.rows),
        unit="s",
    )


def _point(table: Table, row: Row) -> Point:
    ordered = sorted(row.all)
    median = statistics.median(ordered) if ordered else row.seconds
    return Point(
        kind="point",
        launch=1,
        name=table.name,
        place=table.who,
        ranks=None,
        bytes=row.bytes,
        samples=row.samples,
        batch=1,
        visits=1,
        statistic="median" if ordered else "mean",
        median=median,
        median_low=None,
        median_high=None,
        narrow=False,
        p5=None,
        p95=None,
        p99=None,
        least=ordered[0] if ordered else None,
        most=ordered[-1] if ordered else None,
        mean=sum(ordered) / len(ordered) if ordered else row.seconds,
        first=row.all[0] if row.all else None,
        bins=[],
        counts=[],
        raw=list(row.all) or None,
    )
