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
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.table import Table

from haichi import mpi

SCHEMA = "haichi.large-job/1"
RANKS, PER_NODE = 100_000, 128
SECONDS, BYTES, OPEN_SECONDS = 1e-3, 64 << 10, 10e-3
KINDS = ("rank", "speaker", "aggregator")


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


def simulated(program: Path, ranks: int = RANKS, per_node: int = PER_NODE) -> list[dict]:
    """What the program says; raises mpi.Missing if it is not built or fails."""
    if not program.exists():
        raise mpi.Missing(f"no {program}: ./haichi build")
    words = [str(program), "--ranks", str(ranks), "--per-node", str(per_node)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise mpi.Missing(done.stderr.strip() or f"{program.name}: exit code {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def figures(rows: Sequence[dict], per_node: int = PER_NODE) -> list[Figure]:
    """Of each kind, and the mean over a node that has one speaker and one aggregator."""
    found = []
    for pattern in dict.fromkeys(row["pattern"] for row in rows if row["kind"] in KINDS):
        of = {
            row["kind"]: Figure(pattern, row["kind"], row["code"], row["messages"], row["bytes"])
            for row in rows
            if row["pattern"] == pattern and row["kind"] in KINDS
        }
        found += of.values()
        others = {"rank": per_node - 2, "speaker": 1, "aggregator": 1}

        def mean(name: str, of: dict = of, others: dict = others) -> float:
            return sum(getattr(of[kind], name) * n for kind, n in others.items()) / per_node

        found.append(
            Figure(pattern, "mean of a node", mean("code"), mean("messages"), mean("bytes"))
        )
    return found


def claims(rows: Sequence[dict], found: Sequence[Figure]) -> list[Claim]:
    """What a rank may spend, for every kind of rank."""
    result = []
    for each in found:
        who = f"{each.pattern}, {each.kind}"
        result.append(Claim(f"{who}, processor", each.seconds * 1e3, SECONDS * 1e3, "ms"))
        result.append(Claim(f"{who}, memory", each.bytes / 1024, BYTES / 1024, "KiB"))
    result += [
        Claim("opening a file of other ranks", row["code"] * 1e3, OPEN_SECONDS * 1e3, "ms")
        for row in rows
        if row["pattern"] == "open"
    ]
    return result


def table(rows: Sequence[dict], found: Sequence[Figure]) -> Table:
    """For the eye; the last rows are of all ranks telling all, as small jobs do."""
    shown = Table()
    for head in ("pattern", "kind of rank", "code, ms", "messages, ms", "memory, KiB"):
        shown.add_column(head, justify="left" if head in ("pattern", "kind of rank") else "right")
    told = [
        Figure(row["pattern"], row["kind"], row["code"], row["messages"], row["bytes"])
        for row in rows
        if row["kind"] == "told by all"
    ]
    for each in [*found, *told]:
        shown.add_row(
            each.pattern,
            each.kind,
            f"{each.code * 1e3:.3f}",
            f"{each.messages * 1e3:.3f}" if each.kind != "told by all" else "",
            f"{each.bytes / 1024:.1f}",
        )
    return shown


def document(rows: Sequence[dict], found: Sequence[Figure]) -> dict:
    """Everything, figures first (haichi.large-job/1)."""
    return {
        "schema": SCHEMA,
        "figures": [asdict(each) for each in found],
        "claims": [asdict(each) | {"reached": each.reached} for each in claims(rows, found)],
        "rows": list(rows),
    }
