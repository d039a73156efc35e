"""`haichi figures large-job`: what agreeing on and planning a collective access in two phases costs
each rank of 100,000, 128 on a node.

bin/large-job-study runs the very code of the ranks and times it (processor time), counts the memory
that it has at most, and simulates its messages. Here that is held against what a rank may spend on
a call in steady state, and on opening a file. The figures of the code are this machine's, those of
the messages the simulated machine's (docs/guide/simulation.md). The bytes of the access itself, its
collective buffers and what the MPI library does are not in them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypedDict

from rich.table import Table

from haichi import programs

SCHEMA = "haichi.large-job/1"
RANKS, PER_NODE = 100_000, 128
SECONDS, BYTES, OPEN_SECONDS = 1e-3, 64 << 10, 10e-3
KINDS = ("rank", "speaker", "aggregator")


class Cost(TypedDict):
    """What a pattern costs one kind of rank."""

    pattern: str
    kind: Literal["rank", "speaker", "aggregator", "told by all", "other ranks than the world's"]
    code: float
    messages: float
    bytes: float


class Agreement(TypedDict):
    """What the messages of all ranks come to in a pattern."""

    pattern: str
    kind: Literal["agreement"]
    ranks: int
    nodes: int
    simulated: float
    count: int
    busiest: int
    mean: float
    cycles: int


Row = Cost | Agreement  # a line that bin/large-job-study prints


@dataclass(frozen=True)
class Figure:
    """One kind of rank in one pattern, or the mean over the ranks of a node."""

    pattern: str
    kind: str
    code: float  # seconds of a processor
    messages: float  # the same, for messages on the simulated machine
    bytes: float

    @property
    def seconds(self) -> float:
        return self.code + self.messages


@dataclass(frozen=True)
class Claim:
    """What was to be reached."""

    what: str
    value: float
    most: float
    unit: str

    @property
    def reached(self) -> bool:
        return self.value <= self.most

    def text(self) -> str:
        """One line."""
        verdict = "reached" if self.reached else "not reached"
        return f"{self.what}: {self.value:.3g} {self.unit}, at most {self.most:.3g}: {verdict}"


def simulated(program: Path, ranks: int = RANKS, per_node: int = PER_NODE) -> list[Row]:
    """What the program says; raises mpi.Missing if it is not built or fails."""
    out = programs.output(program, "--ranks", str(ranks), "--per-node", str(per_node))
    return [json.loads(line) for line in out.splitlines()]


def figures(rows: Sequence[Row], per_node: int = PER_NODE) -> list[Figure]:
    """Of each kind, and the mean over a node that has one speaker and one aggregator."""
    found: list[Figure] = []
    shares = {"rank": per_node - 2, "speaker": 1, "aggregator": 1}
    for pattern in dict.fromkeys(row["pattern"] for row in rows if row["kind"] in KINDS):
        of: dict[str, Figure] = {
            row["kind"]: _figure(row)
            for row in rows
            if row["kind"] != "agreement" and row["kind"] in KINDS and row["pattern"] == pattern
        }
        found += of.values()
        found.append(
            Figure(
                pattern,
                "mean of a node",
                sum(of[kind].code * n for kind, n in shares.items()) / per_node,
                sum(of[kind].messages * n for kind, n in shares.items()) / per_node,
                sum(of[kind].bytes * n for kind, n in shares.items()) / per_node,
            )
        )
    return found


def _figure(row: Cost) -> Figure:
    return Figure(row["pattern"], row["kind"], row["code"], row["messages"], row["bytes"])


def claims(rows: Sequence[Row], found: Sequence[Figure]) -> list[Claim]:
    """What a rank may spend, for every kind of rank."""
    result = []
    for each in found:
        who = f"{each.pattern}, {each.kind}"
        result.append(Claim(f"{who}, processor", each.seconds * 1e3, SECONDS * 1e3, "ms"))
        result.append(Claim(f"{who}, memory", each.bytes / 1024, BYTES / 1024, "KiB"))
    result += [
        Claim("opening a file of other ranks", row["code"] * 1e3, OPEN_SECONDS * 1e3, "ms")
        for row in rows
        if row["kind"] == "other ranks than the world's"
    ]
    return result


def table(rows: Sequence[Row], found: Sequence[Figure]) -> Table:
    """For the eye; the last rows are of all ranks telling all, as small jobs do."""
    shown = Table()
    for head in ("pattern", "kind of rank", "code, ms", "messages, ms", "memory, KiB"):
        shown.add_column(head, justify="left" if head in ("pattern", "kind of rank") else "right")
    told = [_figure(row) for row in rows if row["kind"] == "told by all"]
    for each in [*found, *told]:
        shown.add_row(
            each.pattern,
            each.kind,
            f"{each.code * 1e3:.3f}",
            f"{each.messages * 1e3:.3f}" if each.kind != "told by all" else "",
            f"{each.bytes / 1024:.1f}",
        )
    return shown


def document(rows: Sequence[Row], found: Sequence[Figure]) -> dict[str, object]:
    """Everything, figures first (haichi.large-job/1)."""
    return {
        "schema": SCHEMA,
        "figures": [asdict(each) for each in found],
        "claims": [asdict(each) | {"reached": each.reached} for each in claims(rows, found)],
        "rows": list(rows),
    }
