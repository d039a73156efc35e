"""`haichi figures validate`: what the simulator says beside what others say, with errors.

Three parts. *smpi*: SimGrid carries out the same schedules, where messages meet, on a machine that
both describe alike; but links take one message after the other here, and are shared there. *lab*:
ratios between algorithms that were measured on clusters of network namespaces. *published*: ratios
that others have printed, on machines of which they tell the shape and the ports; all else is the
default. What was measured is in validation.csv, one row each.
"""

from __future__ import annotations

import csv
import json
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from haichi.figures import record, truth
from haichi.figures.command import choose, keep, one_line, progress_on_errors
from haichi.figures.simulated import simulated
from haichi.figures.smpi import Cluster

SCHEMA = "haichi.validate/1"
RECORDED = Path(__file__).with_name("validation.csv")
BARS = {"smpi": 0.05, "lab": 0.15, "published": 0.15}
PROGRAM = "exchange-smpi"
PATIENCE_S = 300

# The machines of recorded ratios. The lab: 100 Mbit/s, two cores for 16 ranks.
SETTINGS = {
    "lab": truth.machine(gbs=0.0125, cores=2, ranks=16),
    "hpc7g": {"out_gbs": 25.0, "in_gbs": 25.0},
}

# Nothing takes time but links, 1 GB/s and 500 ns each. One nanosecond a send says which is first.
PLAIN = {"copy_gbs": 1e9, "send_ns": 1.0, "receive_ns": 0.0, "match_ns": 0.0}
EAGER = 100_000_000
# Links as they are.
AS_THEY_ARE = (
    *("--cfg=network/model:CM02", "--cfg=network/crosstraffic:0", "--cfg=network/weight-S:0"),
    *("--cfg=network/latency-factor:1", "--cfg=network/bandwidth-factor:1"),
)
# A crossbar has a link at either end of a message; a torus has none but those between nodes.
SIMGRID = {"crossbar": "", "torus:4x4": 'topology="TORUS" topo_parameters="4,4"'}
OURS = {
    "crossbar": {"out_gbs": 1.0, "in_gbs": 1.0, "latency_ns": 1000.0},
    "torus:4x4": {"out_gbs": 1e9, "in_gbs": 1e9, "latency_ns": 0.0, "link_gbs": 1.0}
    | {"hop_ns": 500.0},
}
RANKS = 16
ALGORITHMS = [
    *("spread(rank,0)", "spread(rank,1)", "spread(pairwise,0)", "spread(pairwise,1)", "ring"),
    *("ring_mpi_barrier", "ring_light_barrier", "pair", "bruck(2)", "bruck(4)"),
]
BYTES = [1000, 20000]


@dataclass(frozen=True)
class Compared:
    """One figure of theirs and ours: seconds, or a ratio."""

    part: str
    source: str
    case: str
    theirs: float
    ours: float

    @property
    def error(self) -> float:
        """By how much more: a half is as far off as twice."""
        return math.exp(abs(math.log(self.ours / self.theirs))) - 1

    @property
    def near(self) -> bool:
        """Within the bar of its part."""
        return self.error <= BARS[self.part]


def command(
    part: Annotated[
        list[str] | None, typer.Option(help="smpi, lab or published; repeatable.")
    ] = None,
    algorithm: Annotated[
        list[str] | None, typer.Option(help="Of smpi, one of them; repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
) -> None:
    """The simulator beside SimGrid's SMPI, the lab, and what others have printed."""
    with one_line():
        parts = choose("--part", part, BARS)
        algorithms = choose("--algorithm", algorithm, ALGORITHMS)
        rows = measure(parts, algorithms, progress_on_errors())
    console = record.console()
    for each in parts:
        console.print(table(each, rows))
    for each in parts:
        console.print(summary(each, rows))
    keep(
        {
            "schema": SCHEMA,
            "bars": BARS,
            "cases": [{**asdict(row), "error": row.error, "near": row.near} for row in rows],
        },
        out,
        "validate",
    )


def measure(
    parts: Sequence[str], algorithms: Sequence[str], progress: Callable[[str], None]
) -> list[Compared]:
    """All cases of those parts. Raises mpi.Missing without SMPI, if that part is among them."""
    rows: list[Compared] = []
    if "smpi" in parts:
        with tempfile.TemporaryDirectory() as folder:
            rows += _by_smpi(Path(folder), algorithms, progress)
    with RECORDED.open() as lines:
        for row in csv.DictReader(lines):
            if row["part"] in parts:
                progress(f"{row['source']}: {row['algorithm']}")
                rows.append(_recorded(row))
    return rows


def _recorded(row: dict[str, str]) -> Compared:
    place = ["--nodes", row["nodes"], "--ppn", row["ppn"], "--placement", row["placement"]]
    words = ["alltoall", *place, "--bytes", row["bytes"]]
    both = (row["algorithm"], row["over"])
    times = simulated(words, SETTINGS[row["setting"]], both, timeout=PATIENCE_S)
    case = f"{row['algorithm']} over {row['over']}, {row['bytes']} B, "
    case += f"{row['nodes']}x{row['ppn']} {row['placement']}"
    ours = times[row["algorithm"]] / times[row["over"]]
    return Compared(row["part"], row["source"], case, float(row["measured"]), ours)


def _by_smpi(
    folder: Path, algorithms: Sequence[str], progress: Callable[[str], None]
) -> list[Compared]:
    rows = []
    protocols = {"eager": EAGER, "rendezvous": 0}
    for network, name, algorithm, size in product(SIMGRID, protocols, algorithms, BYTES):
        progress(f"{network}, {name}, {algorithm}, {size} B")
        eager = protocols[name]
        cluster = Cluster(RANKS, "1GBps", "500ns", eager, SIMGRID[network], AS_THEY_ARE)
        out = cluster.run(folder, PROGRAM, RANKS, [algorithm, str(size)], timeout=PATIENCE_S)
        words = ["alltoall", "--nodes", str(RANKS), "--bytes", str(size)]
        words += ["--set", f"network={network}"]
        # There both sides know at once of a rendezvous.
        machine = {**PLAIN, **OURS[network], "eager_bytes": eager, "rendezvous_words": 0}
        ours = simulated(words, machine, [algorithm], timeout=PATIENCE_S)[algorithm]
        theirs = float(json.loads(out)["seconds"])
        rows.append(Compared("smpi", f"{network}, {name}", f"{algorithm}, {size} B", theirs, ours))
    return rows


def table(part: str, rows: Sequence[Compared]) -> Table:
    """The cases of a part."""
    made = Table(title=f"{part}: within {100 * BARS[part]:.0f} %?", title_justify="left")
    made.add_column("source")
    made.add_column("case")
    for head in ("theirs", "ours", "ours ÷ theirs"):
        made.add_column(head, justify="right")
    for row in rows:
        if row.part == part:
            ratio = f"{row.ours / row.theirs:.2f}"
            colour = "green" if row.near else "yellow"
            figures = [
                f"{1e6 * each:.1f} µs" if part == "smpi" else f"{each:.2f}"
                for each in (row.theirs, row.ours)
            ]
            made.add_row(row.source, row.case, *figures, f"[{colour}]{ratio}[/{colour}]")
    return made


def summary(part: str, rows: Sequence[Compared]) -> str:
    """How many are near, the mean error, and the worst."""
    own = [row for row in rows if row.part == part]
    near = sum(row.near for row in own)
    mean = math.expm1(sum(math.log1p(row.error) for row in own) / len(own))
    worst = max(own, key=lambda row: row.error)
    return (
        f"{part}: {near} of {len(own)} within {100 * BARS[part]:.0f} %, "
        f"geometric mean of the errors {100 * mean:.1f} %, "
        f"worst {100 * worst.error:.0f} %: {worst.source}, {worst.case}"
    )
