"""`haichi figures predict-runs`: programs recorded once, the machine measured for what they need,
and what is predicted of them held against further runs.

The recorder is loaded alone, without haichi's shim: what is predicted is the program as it is. The
measured time of a run is that of its slowest rank from MPI_Init to MPI_Finalize, by a recorder
that keeps no sequence.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from haichi import mpi
from haichi.figures import record
from haichi.figures.cases import program_of
from haichi.figures.command import INVALID, Rate, choose, keep, one_line, progress_on_errors
from haichi.figures.model import Claim
from haichi.figures.places import temporary_lab, temporary_machine
from haichi.figures.recorded_job import Jobs
from haichi.predict import by_sequence, by_table
from haichi.predict.changes import ROUND_ROBIN, Changed, Wish, change, unchanged
from haichi.predict.machine import FoundProfile, profile_for
from haichi.predict.model import Prediction
from haichi.record.read import Record

MPIS = ("openmpi", "mpich")
RANKS = 16  # in the lab
AS_RECORDED = "as recorded"
HPCC_INPUT = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
TABLE, SEQUENCE = "table", "sequence"
LEAST_INSIDE = 0.85
HALF_WIDTH = {"lab": 0.10, "node": 0.25}
Start = Callable[[mpi.Mpi, Path], list[str]]


def _hpcc(which: mpi.Mpi, folder: Path) -> list[str]:
    """A small run of the HPC Challenge."""
    if not HPCC_INPUT.exists():
        raise mpi.Missing("no hpcc: apt-get install hpcc")
    text = re.sub(r"^1000( +Ns)$", r"400\1", HPCC_INPUT.read_text(), flags=re.MULTILINE)
    (folder / "hpccinf.txt").write_text(text)
    return ["sh", "-c", f"cd {folder} && exec {_installed('hpcc')}"]


LAMMPS = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 12 0 12 0 12
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
fix 1 all nve
run 60
"""


def _lammps(which: mpi.Mpi, folder: Path) -> list[str]:
    """A Lennard-Jones liquid of 6,912 atoms, which exchange with their neighbours."""
    (folder / "in.liquid").write_text(LAMMPS)
    return [_installed("lmp"), "-in", str(folder / "in.liquid"), "-log", "none"]


def _hdf5(which: mpi.Mpi, folder: Path) -> list[str]:
    """Rows of a matrix, written and read collectively by parallel HDF5."""
    return [str(program_of("h5write", which)), str(folder / "h5write.h5")]


def _fftw(which: mpi.Mpi, folder: Path) -> list[str]:
    """A transform of 64 cubed points by FFTW, there and back."""
    return [str(program_of("fourier", which)), "64", "20"]


def _pattern(words: str) -> Start:
    def start(which: mpi.Mpi, folder: Path) -> list[str]:
        now = f"{time.clock_gettime(time.CLOCK_MONOTONIC):.6f}"
        return [str(program_of("comm-pattern", which)), now, "20", "1000", *words.split()]

    return start


# On one node jobs of a tenth of a second and more: shorter ones are begin and end alone.
ON_A_NODE: dict[str, Start] = {
    "lammps": _lammps,
    "fftw": _fftw,
    "hdf5": _hdf5,
    "halo": _pattern("op=sendrecv size=65536 calls=200"),
    "allreduce": _pattern("op=allreduce size=65536 calls=200"),
    "alltoall": _pattern("op=alltoall size=65536 calls=200"),
    "hpcc": _hpcc,
}
LONG = frozenset({"hpcc"})  # minutes for each run: where it is asked for
IN_THE_LAB: dict[str, Start] = {
    "halo": _pattern("op=sendrecv grid=open size=65536 calls=1"),
    "graph": _pattern("op=graph size=65536 calls=1"),
    "allreduce": _pattern("op=allreduce size=65536 calls=2"),
}
NODE, LAB = "node", "lab"
WHERE = {NODE: ON_A_NODE, LAB: IN_THE_LAB}
ONLY_OPEN_MPI = frozenset({"hpcc", "lammps", "fftw"})  # the distribution links them with it


def _installed(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise mpi.Missing(f"no {name}: ./haichi test installs it")
    return found


@dataclass
class Case:
    """A program at a place; seconds."""

    where: str
    mpi: str
    program: str
    run: str  # AS_RECORDED, or what is different
    recorded: float
    predicted: dict[str, tuple[float, float] | None]  # by TABLE and SEQUENCE; None: no figure
    why_not: dict[str, str]
    measured: list[float] = field(default_factory=list)

    def inside(self, by: str) -> int:
        """How many runs the interval holds."""
        span = self.predicted[by]
        return sum(span[0] <= each <= span[1] for each in self.measured) if span else 0

    def half_width(self, by: str) -> float | None:
        """Of the interval, as a share of its middle."""
        span = self.predicted[by]
        return (span[1] - span[0]) / (span[1] + span[0]) if span else None


@dataclass(frozen=True)
class Asked:
    """What of it, and how much."""

    only: Sequence[str]
    runs: int
    seconds: float
    rate: str
    ends: float
    """On the clock: no program is begun later."""


def command(
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", help="A program; repeatable. hpcc takes minutes, and is run only so."
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", help="lab (16 ranks, root) or node (2 ranks); repeatable."),
    ] = None,
    which: Annotated[
        list[str] | None, typer.Option("--mpi", help="openmpi or mpich; repeatable.")
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Of each program, behind the record.")] = 5,
    seconds: Annotated[float, typer.Option(min=1, help="Of measuring for each program.")] = 60,
    minutes: Annotated[
        float, typer.Option(min=1, help="No program is begun when these are over.")
    ] = 15,
    rate: Rate = "50mbit",
    out: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
) -> None:
    """Programs recorded once and predicted, beside what further runs of them take: as they were
    recorded, with ranks placed otherwise, and on 8 nodes of 2 by these nodes' profile."""
    cases: list[Case] = []
    ends = time.monotonic() + 60 * minutes
    with one_line():
        known = dict.fromkeys(name for programs in WHERE.values() for name in programs)
        names = choose("--only", only, known)
        asked = Asked([n for n in names if only or n not in LONG], runs, seconds, rate, ends)
        for place in choose("--where", where, WHERE):
            for library in map(mpi.find, choose("--mpi", which, MPIS)):
                # MPICH spins: with more ranks than cores there is nothing else to see.
                if place == LAB and library.family == "openmpi":
                    cases += _in_the_lab(library, asked)
                elif place == NODE:
                    cases += _on_a_node(library, asked)
    console = record.console()
    console.print(_table(cases))
    console.print(f"load {record.load():.1f} at the end, {os.cpu_count()} cores")
    claims = _claims(cases)
    record.print_claims(console, claims)
    keep({"cases": [asdict(each) for each in cases]}, out, "predict-runs")
    if not all(claim.reached for claim in claims):
        raise typer.Exit(INVALID)


def _wanted(where: str, library: mpi.Mpi, asked: Asked) -> Iterator[tuple[str, Start]]:
    """Programs, as long as there is time."""
    for name, start in WHERE[where].items():
        if name not in asked.only or (library.family != "openmpi" and name in ONLY_OPEN_MPI):
            continue
        if time.monotonic() > asked.ends:
            progress_on_errors()(f"{where}, {library.name}: {name} is left out, as time is over")
            continue
        yield name, start


def _on_a_node(library: mpi.Mpi, asked: Asked) -> list[Case]:
    cases = []
    with temporary_machine() as here:
        for name, start in _wanted(NODE, library, asked):
            trial = Trial(NODE, name, start, Jobs(here, library, 2), here.shared / name, asked)
            first = trial.record()
            home = profile_for(first, trial.measure([first]))
            cases.append(trial.held(AS_RECORDED, unchanged(first), home))
    return cases


def _in_the_lab(library: mpi.Mpi, asked: Asked) -> list[Case]:
    """As recorded on 4 nodes of 4, dealt out there, and on 8 nodes of 2 by their profile."""
    cases = []
    with temporary_lab(4, asked.rate) as four, temporary_lab(8, asked.rate) as eight:
        for name, start in _wanted(LAB, library, asked):
            trial = Trial(LAB, name, start, Jobs(four, library, RANKS), four.shared / name, asked)
            first = trial.record()
            dealt = change(first, Wish(placement=ROUND_ROBIN))
            home = profile_for(first, trial.measure([first, dealt.record]))
            cases.append(trial.held(AS_RECORDED, unchanged(first), home))
            other = replace(trial, jobs=Jobs(replace(four, mapping="RR"), library, RANKS))
            cases.append(other.held("dealt out", dealt, home))
            wide = replace(trial, jobs=Jobs(eight, library, RANKS), folder=eight.shared / name)
            taskmap = four.shared / name / "8x2.json"
            taskmap.write_text('{"version":1,"map":[[0,8,2,1]]}')
            there = change(first, Wish(placement=str(taskmap)))
            found = profile_for(there.record, wide.measure([there.record]))
            # Its nodes are others, whatever they are called.
            found = replace(found, same=False, difference="8 nodes of 2 ranks")
            cases.append(wide.held("8 nodes of 2", there, found, home))
    return cases


@dataclass(frozen=True)
class Trial:
    """A program at a place."""

    where: str
    name: str
    start: Start
    jobs: Jobs
    folder: Path
    asked: Asked

    def record(self) -> Record:
        """Its first run."""
        self.folder.mkdir()
        self._say("is recorded")
        return self._run("first.jsonl", sequence=True)

    def measure(self, needed: Sequence[Record]) -> Path:
        """The profile of what it needs here."""
        self.folder.mkdir(exist_ok=True)
        self._say("what it needs is measured")
        return self.jobs.profile(needed, self.folder, self.asked.seconds)

    def held(
        self, run: str, changed: Changed, found: FoundProfile, own: FoundProfile | None = None
    ) -> Case:
        """What is predicted, and then runs."""
        made = {
            TABLE: by_table.predict(changed, found, own=own),
            SEQUENCE: by_sequence.predict(changed, found, own=own),
        }
        case = Case(
            self.where,
            self.jobs.library.name,
            self.name,
            run,
            changed.was.wall_s,
            {by: _span(each) for by, each in made.items()},
            {by: each.why_not for by, each in made.items() if each.why_not},
        )
        self._say(f"{self.asked.runs} runs, {run}")
        for _ in range(self.asked.runs):
            case.measured.append(self._run("again.jsonl", sequence=False).wall_s)
        return case

    def _run(self, name: str, *, sequence: bool) -> Record:
        argv = self.start(self.jobs.library, self.folder)
        return self.jobs.record(argv, self.folder / name, sequence=sequence)

    def _say(self, what: str) -> None:
        progress_on_errors()(f"{self.where}, {self.jobs.library.name}, {self.name}: {what}")


def _span(made: Prediction) -> tuple[float, float] | None:
    return (made.program_s.low, made.program_s.high) if made.program_s else None


def _table(cases: Sequence[Case]) -> Table:
    table = Table(title="Seconds from MPI_Init to MPI_Finalize")
    for title in ("where", "program", "run", f"by {TABLE}", f"by {SEQUENCE}", "measured"):
        table.add_column(title)
    for case in cases:
        table.add_row(
            f"{case.where}, {case.mpi}",
            case.program,
            f"{case.run} ({case.recorded:.3f} recorded)",
            *(_told(case, by) for by in (TABLE, SEQUENCE)),
            f"{min(case.measured):.3f} to {max(case.measured):.3f}, "
            f"median {statistics.median(case.measured):.3f}",
        )
    return table


def _told(case: Case, by: str) -> str:
    span = case.predicted[by]
    if span is None:
        return case.why_not.get(by, "no figure")
    return (
        f"{span[0]:.3f} to {span[1]:.3f}, {case.inside(by)} of {len(case.measured)} inside, "
        f"± {100 * (case.half_width(by) or 0):.0f} %"
    )


def _claims(cases: Sequence[Case]) -> list[Claim]:
    claims = []
    for by in (TABLE, SEQUENCE):
        told = [case for case in cases if case.predicted[by]]
        measured = sum(len(case.measured) for case in told)
        share = sum(case.inside(by) for case in told) / measured if measured else None
        claims.append(
            Claim(
                what=f"by {by}: share of runs in their interval", ratio=share, wanted=LEAST_INSIDE
            )
        )
        for where, most in HALF_WIDTH.items():
            widths = [case.half_width(by) or 0 for case in told if case.where == where]
            if widths:
                claims.append(
                    Claim(
                        what=f"by {by}: widest half of an interval, {where}",
                        ratio=max(widths),
                        wanted=most,
                        direction="at most",
                    )
                )
    return claims
