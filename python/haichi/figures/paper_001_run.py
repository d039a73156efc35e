"""Measuring what the tables of paper 001 need, on this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from haichi import jobs, mpi, paths
from haichi.figures import paper_001
from haichi.fit.gather import Gathered, gather
from haichi.programs import built
from haichi.report.units import plural
from haichi.samples.read import read

BEYOND_BUDGET = 60.0  # seconds: to start, to end, and for what is under way when it is over


def measured(
    found: mpi.Mpi,
    ranks: int,
    launches: int,
    budget: float,
    folder: Path,
    say: Callable[[str], None],
) -> list[Path]:
    """Runs the suite as often as the tables need, `launches` times, in `budget` seconds.

    Returns:
        The samples files.

    Raises:
        mpi.Missing: the program is not built, or a run fails.
    """
    program = built(paths.program(f"haichi-measure-{found.family}"))
    paths.empty_folder(folder)
    files = []
    runs = [*paper_001.RUNS] * launches
    share = budget / len(runs)
    for number, run in enumerate(runs, 1):
        file = folder / f"samples-{number}.jsonl"
        say(f"{number}/{len(runs)}  {', '.join(run[0][:3])}, … ({share:.0f} s)")
        words = [str(program), *paper_001.words_of(run), "--budget", f"{share:g}"]
        # What is shown here is labelled by its ranks; nobody holds it against other files.
        words += ["--out", str(file), "--directory", str(folder)]
        argv, env = mpi.local_command(found, ranks, words, {})
        done = jobs.run(argv, env, timeout=share + BEYOND_BUDGET)
        if done.timed_out or not file.exists():
            raise mpi.Missing(f"{found.label}, haichi measure: {done.how}: {done.last_error}")
        files.append(file)
    return files


def of_files(files: Sequence[Path]) -> Gathered:
    """All launches of the files, also those with more ranks than cores; the least counts, so that
    figures side by side are of one state of the machine.

    Raises:
        ReportError: a file cannot be read, or they are of different machines.
    """
    return gather([read(file) for file in files], any_launch=True, least=True)


def about(found: Gathered) -> str:
    """Whose the figures are."""
    first = found.launches[0]
    jobs_of = sorted({(each.job_ranks, len(each.node_names)) for each in found.launches})
    shapes = ", ".join(f"{ranks} ranks on {nodes} nodes" for ranks, nodes in jobs_of)
    crowded = any(each.oversubscribed for each in found.launches)
    return (
        f"ours: {' '.join(first.library.split())}, {first.processor}, {shapes}, "
        f"the least of the medians of {plural(len(found.launches), 'run')}"
        + ("; more ranks than cores, so no reference" if crowded else "")
    )
