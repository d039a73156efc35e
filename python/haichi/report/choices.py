"""What was chosen for a run's collectives and accesses, in words."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from haichi.report.model import Candidate, Collective
from haichi.units import format_bytes, format_seconds, plural

LIBRARY = "library"
OF_FILES = "two-phase "  # what begins so is no MPI function but a kind of collective access


def title(collective: Collective) -> str:
    """`MPI_Alltoall, blocks from 1.00 KiB, 16 ranks on 4 nodes`."""
    size = collective.block_at_least
    blocks = "blocks of any size" if size is None else f"blocks from {format_bytes(size)}"
    if size is not None and collective.collective.startswith(OF_FILES):
        blocks = f"{format_bytes(size)} and more a rank"
    return (
        f"{collective.collective}, {blocks}, {plural(collective.ranks, 'rank')} on "
        f"{plural(collective.nodes, 'node')}"
    )


def chosen(collective: Collective) -> str:
    """The best candidate so far, if there is one."""
    return collective.chosen or "nothing yet"


def verdict(collective: Collective) -> str:
    """One line: how often it was called, how it was chosen, what the choice saves a call."""
    text = f"{plural(collective.calls, 'call')}, {collective.why}"
    if not collective.locked:
        text += ", still trying"
    if collective.retries:
        text += f", tried anew {plural(collective.retries, 'time')}"
    return text + _saving(collective)


def _saving(collective: Collective) -> str:
    """Against the first candidate: the library's, or order and window as they are set. By calls
    that were no trials; with none of the first, by trials."""
    steady = [each for each in collective.candidates if each.steady_calls]
    times = {each.name: each.steady_seconds / each.steady_calls for each in steady}
    first = collective.candidates[0].name if collective.candidates else ""
    if collective.candidates and collective.candidates[0].name not in times:
        times = {each.name: median_of(each) for each in collective.candidates if each.trials}
    best, usual = times.get(collective.chosen), times.get(first)
    if best is None or usual is None or collective.chosen == first or best <= 0:
        return ""
    whose = "the library's" if first == LIBRARY else first
    return f"; {format_seconds(usual - best)} a call less than {whose}, {usual / best:.2f}x"


def median_of(candidate: Candidate) -> float:
    """Of its trials, in seconds; there must be some."""
    return statistics.median(candidate.trials)


def summary_lines(collectives: Sequence[Collective]) -> list[str]:
    """A line for each key, for `haichi report`."""
    return [f"{title(each)}: {chosen(each)} ({verdict(each)})" for each in collectives]
