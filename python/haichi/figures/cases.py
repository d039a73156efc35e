"""The cases that the demo and the measurements share: patterns and parallel HDF5."""

from __future__ import annotations

import filecmp
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from haichi_processes import runner

from haichi import mpi, paths
from haichi.figures import content, links, trial
from haichi.figures.model import Case
from haichi.figures.patterns import Pattern
from haichi.figures.places import Place
from haichi.figures.trial import Program, Trial, Variant
from haichi.mpi import Missing, Mpi


@dataclass(frozen=True)
class Plan:
    """What all cases of one measurement have in common."""

    place: Place
    ranks: int
    yields: str = "ucx"
    reports: Path | None = None  # directory for the run reports, which prove that haichi acted
    timeout_s: float = 90.0  # of one run

    def make(self, program: Program, variant: Variant, check: trial.Check, stem: str) -> Trial:
        """A case of this plan, and what runs it once more."""
        case = Case(
            mpi=program.which.name,
            library=program.which.label,
            program=program.title,
            ranks=self.ranks,
            variant=variant.name,
            settings=dict(variant.settings),
        )
        report = None
        if self.reports and variant.haichi:
            name = f"{stem}-{program.which.name}-{variant.name.replace('/', '-')}.json"
            report = self.reports / name
        return case, partial(
            trial.run,
            case,
            program,
            variant,
            self.place,
            check=check,
            yields=self.yields,
            report=report,
            timeout=self.timeout_s,
        )


def program_of(name: str, which: Mpi) -> str:
    """The measurement program of that name for that MPI.

    Raises:
        Missing: it is not built.
    """
    program = paths.program(f"{name}-{which.name}")
    if not program.exists():
        raise Missing(f"{program} is not built: ./haichi build")
    return str(program)


# Patterns

# What a case cannot be faster than, in seconds; None if nothing is known.
Limit = Callable[[Plan, Pattern, Variant], float | None]


def pattern_trials(
    plan: Plan,
    pattern: Pattern,
    mpis: Sequence[Mpi],
    variants: Sequence[Variant],
    *,
    title: str = "",
    more: Sequence[str] = (),
    limit: Limit | None = None,
) -> list[Trial]:
    """A pattern, write and read, for every MPI and variant; `more` are further options of its
    program, `title` what it is called if not what it calls itself."""
    trials = []
    for which in mpis:
        options = [program_of(pattern.program, which), *pattern.arguments(), *more]
        program = Program(title or str(pattern), which, partial(_with_file, options))
        for variant in variants:
            check = _remove if variant is trial.LIMIT else partial(check_content, pattern)
            made = plan.make(program, variant, check, pattern.program)
            made[0].limit_s = limit(plan, pattern, variant) if limit else None
            trials.append(made)
    return trials


def _with_file(options: Sequence[str], file: Path) -> list[str]:
    return [*options, "--file", str(file)]


def _remove(case: Case, file: Path) -> None:
    file.unlink(missing_ok=True)  # not the pattern's file; the program checked what it read back


def limit_of_cut(plan: Plan, pattern: Pattern, variant: Variant) -> float | None:
    """What the busiest link needs if the file is cut evenly over the variant's aggregators; not
    known of stock, which chooses its aggregators itself."""
    if not variant.haichi or plan.place.rate is None:
        return None
    nodes = plan.place.node_of_rank(plan.ranks)
    chosen = links.aggregators(nodes, variant.layout, variant.aggregators)
    moved = links.busiest(links.even_cut(pattern, nodes, chosen))
    return moved / links.bytes_per_second(plan.place.rate)


def limit_of_best(plan: Plan, pattern: Pattern, variant: Variant) -> float | None:
    """What the busiest link needs at least, whoever gets which part of the file, cut as suits it
    best."""
    if plan.place.rate is None:
        return None
    nodes = plan.place.node_of_rank(plan.ranks)
    least = min(links.least_busiest(links.held(pattern, nodes, n)) for n in links.cuts(pattern))
    return least / links.bytes_per_second(plan.place.rate)


def check_content(pattern: Pattern, case: Case, file: Path) -> None:
    """Compares the file with the pattern. Stock's and haichi's must be right in every byte that a
    rank gave; haichi must not have touched the others, stock may (they are not defined)."""
    try:
        wrong, gaps = content.wrong_bytes(pattern, file)
    except OSError as error:
        trial.once(case.problems, f"{file}: {error.strerror}")
        return
    file.unlink()
    if wrong:
        trial.once(case.problems, f"the file has {wrong} wrong bytes")
    if gaps and case.variant == trial.STOCK.name:
        trial.once(case.notes, f"wrote {gaps} bytes between the pieces that no rank gave")
    elif gaps:
        trial.once(case.problems, f"{gaps} bytes that no rank gave were written")


# HDF5


def hdf5_trials(
    plan: Plan, variants: Sequence[Variant], keep: Path
) -> tuple[list[Trial], list[str]]:
    """A parallel HDF5 write of columns by h5py and by a C program, and why one is left out. `keep`
    is a directory for the file that stock wrote."""
    trials, left_out = [], []
    for find in (_h5py, _hdf5_c):
        try:
            program = find(keep)
        except Missing as missing:
            left_out.append(str(missing))
            continue
        reference = keep / f"{program.which.name}.h5"
        for variant in variants:
            trials.append(plan.make(program, variant, partial(check_same, reference), "hdf5"))
    return trials, left_out


def _h5py(keep: Path) -> Program:
    which = mpi.find("openmpi")
    python = "/usr/bin/python3"
    probe = "import h5py._debian_h5py_mpi, mpi4py"  # Debian has a serial build beside it
    done = runner.run([python, "-c", probe], env=mpi.environment({}), timeout=60)
    if done.code != 0 or not str(which.mpiexec).startswith("/usr/"):
        raise Missing(
            "no h5py over the distribution's Open MPI: apt-get install python3-h5py-mpi "
            "python3-mpi4py openmpi-bin"
        )
    script = str(paths.ROOT / "bench" / "io" / "h5write.py")
    return Program("HDF5 columns (h5py)", which, lambda file: [python, script, str(file)])


def _hdf5_c(keep: Path) -> Program:
    """The C program, which was linked with the distribution's MPICH. It runs on the wheel's MPICH
    5, which has the same ABI under another name, since 4.0.2 often hangs in MPI_Finalize when there
    are more ranks than cores."""

    old = mpi.find("mpich")
    binary = program_of("h5write", old)
    wheels = mpi.available("mpich5")
    if not wheels:
        return Program("HDF5 columns (C)", old, lambda file: [binary, str(file)])
    which = wheels[0]
    alias = keep / "libmpich.so.12"
    if not alias.is_symlink():
        alias.symlink_to(which.library / "libmpi.so.12")
    folders = [keep, which.library, which.library / "mpich"]
    env = {"LD_LIBRARY_PATH": ":".join(str(folder) for folder in folders)}
    return Program("HDF5 columns (C)", which, lambda file: [binary, str(file)], env)


def check_same(reference: Path, case: Case, file: Path) -> None:
    """Keeps stock's file as the reference and compares every other one with it, byte by byte."""
    if not file.exists():
        trial.once(case.problems, f"{file} was not written")
    elif case.variant == trial.STOCK.name and not reference.exists():
        shutil.move(file, reference)
        return
    elif not reference.exists():
        trial.once(case.problems, "stock left no file to compare with")
    elif not filecmp.cmp(file, reference, shallow=False):
        trial.once(case.problems, "the file differs from stock's")
    file.unlink(missing_ok=True)


def scratch(place: Place) -> tempfile.TemporaryDirectory[str]:
    """A directory that all ranks see, gone at the end."""
    return tempfile.TemporaryDirectory(prefix="keep-", dir=place.shared)
