"""`haichi figures predict-runs`: programs recorded once, the machine measured for what they need,
and what is predicted of them held against further runs.

The recorder is loaded alone, without haichi's shim: what is predicted is the program as it is. The
measured time of a run is that of its slowest rank from MPI_Init to MPI_Finalize, by a recorder
that keeps no sequence.
"""

from __future__ import annotations

import re
import shutil
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from haichi import mpi
from haichi.figures import record
from haichi.figures.cases import program_of
from haichi.figures.command import INVALID, Rate, choose, keep, one_line, progress_on_errors
from haichi.figures.model import Claim
from haichi.figures.places import Place, temporary_lab, temporary_machine
from haichi.figures.recorded_job import Jobs
from haichi.predict import by_sequence, by_table
from haichi.predict.changes import unchanged
from haichi.predict.machine import profile_for
from haichi.predict.model import Prediction

WHICH = "openmpi"  # the one that the distribution links its programs with
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


def _pattern(words: str) -> Start:
    def start(which: mpi.Mpi, folder: Path) -> list[str]:
        now = f"{time.clock_gettime(time.CLOCK_MONOTONIC):.6f}"
        return [str(program_of("comm-pattern", which)), now, "20", "1000", *words.split()]

    return start


PROGRAMS: dict[str, Start] = {
    "hpcc": _hpcc,
    "lammps": _lammps,
    "hdf5": _hdf5,
    "fft": _pattern("op=fft size=65536 calls=5"),
    "halo": _pattern("op=halo size=16384 calls=20"),
    "allreduce": _pattern("op=allreduce size=65536 calls=20"),
    "alltoallv": _pattern("op=alltoallv size=8192 calls=10"),
}


def _installed(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise mpi.Missing(f"no {name}: ./haichi test installs it")
    return found


@dataclass
class Case:
    """A program at a place; seconds."""

    where: str
    program: str
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


def command(
    only: Annotated[list[str] | None, typer.Option("--only", help="A program; repeatable.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", help="lab (4 nodes of 4 ranks, root) or node (2 ranks)."),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Of each program, behind the record.")] = 5,
    seconds: Annotated[float, typer.Option(min=1, help="Of measuring for each program.")] = 60,
    rate: Rate = "100mbit",
    out: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
) -> None:
    """Programs recorded once and predicted, beside what further runs of them take."""
    cases: list[Case] = []
    with one_line():
        names = choose("--only", only, PROGRAMS)
        library = mpi.find(WHICH)
        for place_name in choose("--where", where, ("node", "lab")):
            if place_name == "lab":
                with temporary_lab(4, rate) as lab:
                    cases += _at(lab, place_name, library, 16, names, runs, seconds)
            else:
                with temporary_machine() as here:
                    cases += _at(here, place_name, library, 2, names, runs, seconds)
    console = record.console()
    console.print(_table(cases, library))
    console.print(f"load {record.load():.1f} at the end")
    claims = _claims(cases)
    record.print_claims(console, claims)
    keep({"cases": [asdict(each) for each in cases]}, out, "predict-runs")
    if not all(claim.reached for claim in claims):
        raise typer.Exit(INVALID)


def _at(
    place: Place,
    where: str,
    library: mpi.Mpi,
    ranks: int,
    names: Sequence[str],
    runs: int,
    seconds: float,
) -> list[Case]:
    progress = progress_on_errors()
    cases = []
    for name in names:
        folder = place.shared / name
        folder.mkdir()
        progress(f"{where}: {name} is recorded")
        jobs, file = Jobs(place, library, ranks), folder / "record.jsonl"
        first = jobs.record(PROGRAMS[name](library, folder), file, sequence=True)
        progress(f"{where}: what {name} needs is measured")
        profile = jobs.profile([first], folder, seconds)
        found = profile_for(first, profile)
        made = {
            TABLE: by_table.predict(unchanged(first), found),
            SEQUENCE: by_sequence.predict(unchanged(first), found),
        }
        case = Case(
            where,
            name,
            first.wall_s,
            {by: _span(each) for by, each in made.items()},
            {by: each.why_not for by, each in made.items() if each.why_not},
        )
        for number in range(runs):
            progress(f"{where}: {name}, run {number + 1} of {runs}")
            again = jobs.record(PROGRAMS[name](library, folder), file, sequence=False)
            case.measured.append(again.wall_s)
        cases.append(case)
    return cases


def _span(made: Prediction) -> tuple[float, float] | None:
    return (made.program_s.low, made.program_s.high) if made.program_s else None


def _table(cases: Sequence[Case], library: mpi.Mpi) -> Table:
    table = Table(title=f"{library.label}: seconds from MPI_Init to MPI_Finalize")
    for title in ("where", "program", "recorded", f"by {TABLE}", f"by {SEQUENCE}", "measured"):
        table.add_column(title)
    for case in cases:
        table.add_row(
            case.where,
            case.program,
            f"{case.recorded:.3f}",
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
