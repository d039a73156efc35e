"""`haichi figures predict-smpi`: programs on ranks that SimGrid simulates, and what is predicted of
them by sequence from a profile that was measured on the same simulated machine.

Nothing disturbs a simulated machine, so what differs is the prediction's own error. The machine is
a crossbar (figures/smpi_profile.py); collective algorithms are those that SMPI has as its defaults.
The programs are in bench/smpi/programs.c: paper 001's Trans7 (section 3.7) and five that
communicate as NPB and HPCG do.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, TypedDict

import numpy as np
import typer
from rich.table import Table

from haichi.figures import record
from haichi.figures.command import INVALID, choose, keep, one_line, progress_on_errors
from haichi.figures.smpi import FLOPS, Cluster
from haichi.figures.smpi_profile import (
    EAGER,
    LATENCY,
    PORT,
    PROGRAM,
    curves_of,
    predicted,
    write_profile,
)
from haichi.record import smpi_trace

SCHEMA = "haichi.predict-smpi/1"
PATIENCE_S = 900
MOST_ERROR = {"trans7-send": 0.01, "trans7-put": 0.01}  # of the others OTHERS
OTHERS = 0.02
# Ranks, and steps of each: a step of Trans7 is 24 exchanges, the paper's run a hundred of them.
JOBS = {
    "trans7-send": (64, 100),
    "trans7-put": (64, 2),
    "is": (16, 10),
    "ft": (16, 6),
    "cg": (16, 75),
    "mg": (16, 4),
    "hpcg": (16, 50),
}
# Four to each doubling, and both sides of the switch to rendezvous with SMPI's head of 16 bytes.
SIZES = sorted(
    {int(2 ** (quarter / 4)) for quarter in range(95)}
    | {EAGER - 17, EAGER - 16, EAGER - 1, EAGER, 6150 << 10}
)
BLOCKS = [0, *(4**power for power in range(1, 10)), 131072]


@dataclass(frozen=True)
class Case:
    """A program, seconds."""

    program: str
    ranks: int
    steps: int
    simulated: float
    predicted: float
    by_table: float
    waiting: float  # of the last rank
    notes: list[str]

    @property
    def error(self) -> float:
        """As a share of what SMPI says."""
        return self.predicted / self.simulated - 1

    @property
    def table_error(self) -> float:
        """Of sums of counts times times: what overlaps is counted twice, and waiting not at all."""
        return self.by_table / self.simulated - 1

    @property
    def most(self) -> float:
        """The error that is allowed."""
        return MOST_ERROR.get(self.program, OTHERS)


def command(
    only: Annotated[
        list[str] | None, typer.Option("--program", help="One of them; repeatable.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Of each program, in place of its own.")
    ] = None,
    cross_traffic: Annotated[
        bool, typer.Option(help="Whether acknowledgements take room on the way back, as in TCP.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
) -> None:
    """Programs in SimGrid's SMPI, predicted by sequence from a profile measured there."""
    with one_line():
        chosen = choose("--program", only, JOBS)
        with tempfile.TemporaryDirectory() as folder:
            machine = Simulated(Path(folder), cross_traffic=cross_traffic)
            cases = measure(machine, chosen, steps, progress_on_errors())
    console = record.console()
    console.print(table(cases))
    wrong = [each.program for each in cases if abs(each.error) > each.most]
    keep(
        {
            "schema": SCHEMA,
            "cross_traffic": cross_traffic,
            "cases": [
                {**asdict(each), "error": each.error, "table_error": each.table_error}
                for each in cases
            ],
        },
        out,
        "predict-smpi",
    )
    if wrong:
        console.print(f"beyond what is allowed: {', '.join(wrong)}")
        raise typer.Exit(INVALID)


class Simulated:
    """A machine of 64 nodes that SimGrid simulates."""

    def __init__(self, folder: Path, *, cross_traffic: bool) -> None:
        self.folder = folder
        across = f"--cfg=network/crosstraffic:{int(cross_traffic)}"
        self._cluster = Cluster(64, PORT, LATENCY, EAGER, options=(across,))

    def run(self, ranks: int, *words: str, trace: Path | None = None) -> list[str]:
        """The lines that the program prints; leaves a trace of its calls there."""
        traced = ("-trace-ti", f"--cfg=tracing/filename:{trace}") if trace else ()
        cluster = replace(self._cluster, options=(*self._cluster.options, *traced))
        return cluster.run(self.folder, PROGRAM, ranks, words, timeout=PATIENCE_S).splitlines()

    def profile(self, jobs: Sequence[int], file: Path) -> None:
        """Measures messages between two nodes, and collective calls of so many ranks."""
        times = curves_of(self.run(2, "messages", *map(str, SIZES)))["ping-pong"]
        # 64 ranks make barriers only.
        calls = {ranks: BLOCKS if ranks <= 16 else [0] for ranks in jobs}
        write_profile(
            file,
            {"network": times},
            (
                {"name": name, "ranks": ranks, "nodes": ranks, "times": curve}
                for ranks, blocks in calls.items()
                for name, curve in curves_of(self.run(ranks, "calls", *map(str, blocks))).items()
            ),
        )


def measure(
    machine: Simulated, chosen: Sequence[str], steps: int | None, progress: Callable[[str], None]
) -> list[Case]:
    """Each program in SMPI, and predicted.

    Raises:
        Missing: SMPI or a program is not there, or fails.
        ReportError: SMPI's trace is not understood.
    """
    progress("the simulated machine's profile")
    file = machine.folder / "machine.json"
    machine.profile(sorted({JOBS[name][0] for name in chosen}), file)
    return [_case(machine, file, name, steps or JOBS[name][1], progress) for name in chosen]


def _case(
    machine: Simulated, profile: Path, name: str, steps: int, progress: Callable[[str], None]
) -> Case:
    progress(f"{name}, {steps} steps")
    ranks = JOBS[name][0]
    trace, kept = machine.folder / f"{name}.ti", machine.folder / f"{name}.jsonl"
    seconds = max(map(float, machine.run(ranks, name, str(steps), trace=trace)))
    text = smpi_trace.record(trace, FLOPS, name)
    kept.write_text(text)
    found = predicted(kept, profile)
    table_s = by_table(text, json.loads(profile.read_text()), ranks)
    return Case(
        program=name,
        ranks=ranks,
        steps=steps,
        simulated=seconds,
        predicted=found["total_s"],
        by_table=table_s,
        waiting=found["waiting_s"],
        notes=found["notes"],
    )


class _Curve(TypedDict):
    bytes: list[float]
    seconds: list[float]


class _CallCurve(_Curve):
    name: str
    ranks: int


class _Profile(TypedDict):
    """What counts here of a profile."""

    curves: list[_Curve]
    collectives: list[_CallCurve]


def by_table(record_text: str, profile: _Profile, ranks: int) -> float:
    """The rank with most: its computing, and for each message that it receives or puts the time of
    a ping-pong, for each collective call what was measured. A fence counts as a barrier."""
    calls = {each["name"]: each for each in profile["collectives"] if each["ranks"] == ranks}
    most = 0.0
    for line in map(json.loads, record_text.splitlines()):
        if line["kind"] != "sequence":
            continue
        each = [
            event["compute_s"] + _call_seconds(event, profile["curves"][0], calls, ranks)
            for event in line["events"]
        ]
        most = max(most, float(sum(each[number] for number in line["program"])))
    return most


def _call_seconds(
    event: dict[str, object], messages: _Curve, calls: dict[str, _CallCurve], ranks: int
) -> float:
    name, size = str(event["call"]), int(str(event.get("bytes", 0)))
    if name in ("MPI_Recv", "MPI_Irecv", "MPI_Put"):
        return float(np.interp(size, messages["bytes"], messages["seconds"]))
    word = "barrier" if name == "MPI_Win_fence" else name.removeprefix("MPI_").lower()
    if word not in calls:
        return 0.0
    curve = calls[word]
    block = size / ranks if word == "alltoallv" else size
    return float(np.interp(block, curve["bytes"], curve["seconds"]))


def table(cases: Sequence[Case]) -> Table:
    """The programs and their errors."""
    made = Table(title="by sequence, and by table, against SMPI")
    for column in (
        "program",
        "ranks",
        "steps",
        "SMPI, ms",
        "predicted, ms",
        "error",
        "allowed",
        "by table",
    ):
        made.add_column(column, justify="left" if column == "program" else "right")
    for each in cases:
        made.add_row(
            *(each.program, str(each.ranks), str(each.steps)),
            *(f"{1e3 * each.simulated:.4f}", f"{1e3 * each.predicted:.4f}"),
            *(f"{100 * each.error:+.2f} %", f"{100 * each.most:.0f} %"),
            f"{100 * each.table_error:+.1f} %",
        )
    return made
