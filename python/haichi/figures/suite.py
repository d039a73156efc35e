"""Starting `haichi measure` from a figure, and the profile that its samples make."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from haichi_processes.runner import Outcome

from haichi import jobs, mpi, paths, programs
from haichi.fit.gather import gather
from haichi.fit.profile import fit, text_of
from haichi.report.output import write_text
from haichi.samples.read import read

BEYOND_BUDGET = 60.0  # seconds: to start, to end, and for what is under way when it is over
SAYS = "haichi measure: "
COMPLAINTS = (f"{SAYS}error: ", f"{SAYS}warning: ")
Run = Callable[[mpi.Mpi, int, Sequence[str], Mapping[str, str], float], Outcome]


def program(which: mpi.Mpi) -> Path:
    """The suite for an MPI.

    Raises:
        mpi.Missing: it is not built.
    """
    return programs.built(paths.program(f"haichi-measure-{which.family}"))


def on_this_machine(
    which: mpi.Mpi, ranks: int, argv: Sequence[str], env: Mapping[str, str], timeout: float
) -> Outcome:
    """Runs the suite here. Its first line is not its last, so it may take its time to end."""
    words, full = mpi.local_command(which, ranks, argv, env)
    return jobs.run(words, full, timeout=timeout)


def measure(
    which: mpi.Mpi,
    ranks: int,
    words: Sequence[str],
    budget: float,
    out: Path,
    *,
    beyond: float = BEYOND_BUDGET,
    partial: bool = False,
    run: Run = on_this_machine,
) -> None:
    """Measures what the words say into a new file, for `budget` seconds and at most `beyond` more.

    Args:
        partial: a file will do that lacks points which failed.
        run: starts the job elsewhere, as a Place does.

    Raises:
        mpi.Missing: the suite is not built, or it fails.
    """
    argv = [str(program(which)), *words, "--budget", f"{budget:g}", "--out", str(out)]
    out.unlink(missing_ok=True)  # the suite leaves one that is there alone
    done = run(which, ranks, argv, {}, budget + beyond)
    failed = done.timed_out if partial else done.code != 0
    if failed or not out.exists():
        raise mpi.Missing(f"{which.label}, haichi measure: {done.how}: {_why(done)}")


def profile(samples: Sequence[Path], name: str, file: Path, *, least: bool = False) -> None:
    """Makes a profile of all launches, also of those with more ranks than cores.

    Args:
        least: of several launches the least counts.

    Raises:
        ReportError: the samples make none, or it cannot be written.
    """
    found = gather([read(each) for each in samples], any_launch=True, least=least)
    made = fit(found, [each.name for each in samples], name, {}, "crossbar")
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, text_of(made.profile))


def _why(done: Outcome) -> str:
    """The suite's last complaint, as a launcher prints a frame of its own behind it."""
    lines = [line for line in done.err.splitlines() if line.startswith(COMPLAINTS)]
    return lines[-1].removeprefix(SAYS) if lines else done.last_error or "no complaint"
