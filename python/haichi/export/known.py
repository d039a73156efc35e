"""What runs found out of their collectives, from reports and decisions alike."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from haichi.export.model import Decisions
from haichi.report.load import ReportError, load_form
from haichi.report.model import Collective, Report
from haichi.units import format_bytes, plural, printable

LIBRARY = "library"  # the candidate that is the MPI library's own rule

# The functions that the libraries' rules are about, and what those call them.
FUNCTIONS = {"MPI_Alltoall": "alltoall", "MPI_Alltoallv": "alltoallv"}


@dataclass(frozen=True)
class Kind:
    """Calls that a library's rules can tell from others. They do not know who is on which node."""

    function: str  # as in FUNCTIONS: alltoall
    ranks: int
    block: int | None  # bytes from rank to rank: so many or more, less than twice as many

    def __str__(self) -> str:
        blocks = "" if self.block is None else f", blocks from {format_bytes(self.block)}"
        return f"{self.function} of {plural(self.ranks, 'rank')}{blocks}"


@dataclass(frozen=True)
class Finding:
    """What one run knows of one kind of call."""

    kind: Kind
    nodes: int
    calls: int  # 0 if not known
    times: dict[str, float]  # candidate: seconds a call; empty if only the choice is known
    chosen: str
    file: str


@dataclass(frozen=True)
class Findings:
    """What all files say, and of which MPI library."""

    library: str  # first line of MPI_Get_library_version
    all: list[Finding]
    notes: list[str]


def read(files: Sequence[Path]) -> Findings:
    """What the files, reports or decisions, say.

    Raises:
        ReportError: a file cannot be read or is neither, they are of several MPI libraries, or no
            call of a known function was decided.
    """
    findings: list[Finding] = []
    notes: list[str] = []
    libraries: dict[str, str] = {}
    models: tuple[type[Report | Decisions], ...] = (Report, Decisions)
    for path in files:
        name = printable(str(path))
        document = load_form(path, *models)
        if isinstance(document, Report):
            libraries.setdefault(document.mpi.library, name)
            findings += [_of_report(each, name) for each in document.collectives if each.chosen]
            notes += [
                f"{name}: {each.collective} was still being tried; a longer run knows more"
                for each in document.collectives
                if each.collective in FUNCTIONS and each.chosen and not each.locked
            ]
        else:
            libraries.setdefault(document.library, name)
            findings += _of_decisions(document, name)
    if len(libraries) > 1:
        (one, first), (other, second) = list(libraries.items())[:2]
        raise ReportError(
            f"{first} is of {printable(one)}, {second} of {printable(other)}; "
            "export the files of one MPI library"
        )
    known = [each for each in findings if each.kind.function in FUNCTIONS.values()]
    if not known:
        names = ", ".join(printable(str(path)) for path in files)
        raise ReportError(
            f"{names}: nothing was decided of {' or '.join(FUNCTIONS)}; run the program on several "
            "nodes with collectives.enable=auto, and long enough"
        )
    return Findings(next(iter(libraries)), known, notes)


def _of_report(collective: Collective, file: str) -> Finding:
    kind = Kind(
        FUNCTIONS.get(collective.collective, collective.collective),
        collective.ranks,
        collective.block_at_least,
    )
    times = {c.name: statistics.median(c.trials) for c in collective.candidates if c.trials}
    return Finding(kind, collective.nodes, collective.calls, times, collective.chosen, file)


def _of_decisions(document: Decisions, file: str) -> list[Finding]:
    ranks, nodes = document.ranks_and_nodes()
    return [
        Finding(
            Kind(
                FUNCTIONS.get(each.collective, each.collective),
                ranks,
                None if each.size_bin is None else 1 << each.size_bin,
            ),
            nodes,
            0,
            {},
            each.chosen,
            file,
        )
        for each in document.decisions
    ]
