"""Measuring what the tables of paper 001 need, on this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from haichi import mpi, paths
from haichi.figures import paper_001, suite
from haichi.fit.gather import Gathered, gather
from haichi.samples.read import read
from haichi.units import plural


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
    suite.program(found)  # before the samples of last time are taken away
    paths.empty_folder(folder)
    files = []
    runs = [*paper_001.RUNS] * launches
    share = budget / len(runs)
    for number, run in enumerate(runs, 1):
        file = folder / f"samples-{number}.jsonl"
        say(f"{number}/{len(runs)}  {', '.join(run[0][:3])}, … ({share:.0f} s)")
        words = [*paper_001.words_of(run), "--directory", str(folder)]
        suite.measure(found, ranks, words, share, file, partial=True)
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
