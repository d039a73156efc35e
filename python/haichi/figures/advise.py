"""`haichi figures advise`: programs at a bad start, what another placement of their ranks is
predicted to gain, and what it gains.

A start in blocks (BK) or dealt out (RR) is recorded in the lab, the machine is measured for what
the program needs at both placements, and then both are run in turns, as `haichi advise --check`
does it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from haichi import mpi
from haichi.advise.advise import advise
from haichi.advise.check import ADVISED, AS_IT_IS, Checked, Verdict, check
from haichi.advise.paste import Notation
from haichi.figures import record
from haichi.figures.cases import program_of
from haichi.figures.command import INVALID, Rate, choose, keep, one_line, progress_on_errors
from haichi.figures.model import Claim
from haichi.figures.places import OnLab, temporary_lab
from haichi.figures.recorded_job import Jobs
from haichi.predict.machine import FoundProfile, profile_for
from haichi.predict.placed import placed
from haichi.predict.span import Span
from haichi.record.read import Record
from haichi.report.placement import Placement

NODES, RANKS = 4, 16
ROUNDS = "5"
LONGEST = "600"  # seconds of a program, more than it takes


@dataclass(frozen=True)
class Start:
    """A program and how its ranks are placed at first."""

    mapping: str
    words: str


STARTS = {
    "2-D halo": Start("BK", "op=sendrecv grid=open size=65536 calls=4"),
    "3-D halo": Start("RR", "op=cube grid=open size=65536 calls=4"),
    "row/column FFT": Start("RR", "op=fft rows=8 size=65536 calls=4"),
    "sparse graph": Start("BK", "op=graph size=65536 calls=4"),
    "BTIO-like": Start("BK", "op=btio grid=open size=65536 calls=4"),
}


def command(
    only: Annotated[list[str] | None, typer.Option("--only", help="A program; repeatable.")] = None,
    which: Annotated[str, typer.Option("--mpi", help="openmpi, mpich5 or mpich.")] = "openmpi",
    repetitions: Annotated[int, typer.Option(min=1, help="Of each way, in turns.")] = 5,
    seconds: Annotated[float, typer.Option(min=1, help="Of measuring for each program.")] = 45,
    rate: Rate = "50mbit",
    out: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
) -> None:
    """What advised placements gain in the lab, predicted and measured."""
    found: dict[str, Checked] = {}
    progress = progress_on_errors()
    with one_line():
        library = mpi.find(which)
        for name in choose("--only", only, STARTS):
            with temporary_lab(NODES, rate) as lab:
                progress(f"{name}:")
                found[name] = _checked(lab, library, STARTS[name], repetitions, seconds)
    console = record.console()
    console.print(_table(found, library))
    console.print(f"load {record.load():.1f} at the end")
    claims = [claim for name, each in found.items() for claim in _claims(name, each)]
    record.print_claims(console, claims)
    keep({"cases": {name: _kept(each) for name, each in found.items()}}, out, "advise")
    if not all(claim.reached for claim in claims):
        raise typer.Exit(INVALID)


def _checked(
    lab: OnLab, library: mpi.Mpi, start: Start, repetitions: int, seconds: float
) -> Checked:
    place = replace(lab, mapping=start.mapping)
    folder = lab.shared / "check"
    folder.mkdir()
    progress = progress_on_errors()

    def runs(file: Path, files: Sequence[Notation], *, sequence: bool) -> None:
        there = replace(place, hosts=_hosts(files)) if files else place
        jobs = Jobs(there, library, RANKS)
        jobs.record(_argv(library, start, folder), file, sequence=sequence)

    def profile(first: Record) -> FoundProfile:
        progress("what the program needs is measured")
        wanted = [first]
        if (plan := advise(first, None, folder)).made.placement:
            (there,) = (each for each in plan.files if each.file == "placement.json")
            wanted.append(placed(first, Placement.model_validate_json(there.content)))
        return profile_for(first, Jobs(place, library, RANKS).profile(wanted, folder, seconds))

    return check(runs, profile, folder, repetitions, progress)


def _argv(library: mpi.Mpi, start: Start, folder: Path) -> list[str]:
    now = f"{time.clock_gettime(time.CLOCK_MONOTONIC):.6f}"
    file = [f"file={folder / 'written'}"] if "op=btio" in start.words else []
    program = str(program_of("comm-pattern", library))
    return [program, now, ROUNDS, LONGEST, *start.words.split(), *file]


def _hosts(files: Sequence[Notation]) -> tuple[str, ...]:
    """The node of each rank, which is what Slurm's file has."""
    return next(tuple(each.content.split()) for each in files if each.file == "slurm-hosts")


def _table(found: dict[str, Checked], library: mpi.Mpi) -> Table:
    table = Table(title=f"{library.label}, {RANKS} ranks on {NODES} nodes: seconds")
    for heading in ("program", "start", "as it is", "advised", "gain predicted", "gain measured"):
        table.add_column(heading)
    for name, each in found.items():
        if each.advice.placement is None:
            table.add_row(name, STARTS[name].mapping, f"{each.record.wall_s:.3f}", "no advice")
            continue
        span = each.predicted
        table.add_row(
            name,
            STARTS[name].mapping,
            *(_times(each, way) for way in (AS_IT_IS, ADVISED)),
            _told(span) if span else "no figure",
            f"{each.gained:.3f}, {_told(each.spread)}",
        )
    return table


def _times(found: Checked, way: str) -> str:
    seconds = found.measured[way]
    return f"{found.median(way):.3f}, {_told(Span(min(seconds), max(seconds)))}"


def _told(span: Span) -> str:
    return f"{span.low:.3f} to {span.high:.3f}"


def _claims(name: str, each: Checked) -> list[Claim]:
    """That there is advice, that it gains, and as much as was said."""
    if each.advice.placement is None:
        return [Claim(what=f"{name}: advice on where ranks belong", ratio=None, wanted=1)]
    ratio = each.median(AS_IT_IS) / each.median(ADVISED)
    return [
        Claim(what=f"{name}: time as it is / advised", ratio=ratio, wanted=1.0),
        Claim(
            what=f"{name}: {each.verdict} (1), or as near as runs are apart",
            ratio=float(each.verdict in (Verdict.WITHIN, Verdict.NEAR)),
            wanted=1.0,
        ),
    ]


def _kept(each: Checked) -> dict[str, object]:
    span = each.predicted
    return {
        "recorded_s": each.record.wall_s,
        "measured_s": each.measured,
        "predicted_gain_s": [span.low, span.high] if span else None,
        "between_nodes": {
            "recorded": each.advice.placement.recorded.between_nodes,
            "advised": each.advice.placement.advised.between_nodes,
        }
        if each.advice.placement
        else None,
        "elsewhere": each.elsewhere,
        "notes": each.advice.notes,
    }
