"""`haichi advise --check -- mpiexec …`: the program as it is and at the advised places, in turns,
with what was predicted beside what was measured.

Both are recorded in every run, so that the time is the one that is predicted: that of the slowest
rank from MPI_Init to MPI_Finalize. haichi itself leaves every call to the MPI library.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from haichi import jobs, paths
from haichi.advise.advise import advise
from haichi.advise.foreseen import Foreseen
from haichi.advise.launch import Line, launcher_of, with_placement
from haichi.advise.model import AdviceList
from haichi.advise.paste import Notation, write_files
from haichi.compare.launcher_line import haichi_runs, with_haichi
from haichi.compare.turns import RunFailed, failure, in_turns
from haichi.predict.machine import FoundProfile
from haichi.predict.span import Span
from haichi.record.read import Record, read
from haichi.report.load import ReportError
from haichi.units import printable

AS_IT_IS, ADVISED = "as it is", "advised"
OBSERVED = ["--observe", "--set", "placement.reorder=off"]


class Verdict(StrEnum):
    """How a gain stands to what was predicted, in words."""

    WITHIN = "the gain is within what was predicted"
    NEAR = "the gain is beside what was predicted, and nearer than what runs differ by"
    APART = "the gain is not within what was predicted"
    UNKNOWN = "no gain was predicted; a profile of the machine tells: --machine"


class Starts(Protocol):
    """Runs the program once."""

    def __call__(self, record: Path, files: Sequence[Notation], /, *, sequence: bool) -> None:
        """Leaves a record; at the advised places, if there are files that say them.

        Raises:
            RunFailed: it did not end as it should.
        """
        ...


@dataclass
class Checked:
    """What was predicted and what was measured; seconds."""

    record: Record
    advice: AdviceList
    foreseen: Foreseen | None = None
    measured: dict[str, list[float]] = field(default_factory=lambda: {AS_IT_IS: [], ADVISED: []})
    elsewhere: str = ""
    """A rank that the launcher did not put where it belongs, in words."""

    @property
    def predicted(self) -> Span | None:
        """What is gained; None if nothing tells."""
        gains = [each.gain_s for each in self.advice.advice if each.kind == "placement"]
        return Span(gains[0].low, gains[0].high) if gains and gains[0] else None

    def median(self, way: str) -> float:
        """Of the runs of a way."""
        return statistics.median(self.measured[way])

    @property
    def gained(self) -> float:
        """By the medians."""
        return self.median(AS_IT_IS) - self.median(ADVISED)

    @property
    def spread(self) -> Span:
        """Gains of the runs that stand side by side."""
        pairs = zip(self.measured[AS_IT_IS], self.measured[ADVISED], strict=True)
        gains = [before - after for before, after in pairs]
        return Span(min(gains), max(gains))

    @property
    def verdict(self) -> Verdict:
        """How what was gained stands to what was predicted."""
        predicted, spread = self.predicted, self.spread
        if predicted is None:
            return Verdict.UNKNOWN
        if predicted.low <= self.gained <= predicted.high:
            return Verdict.WITHIN
        overlap = spread.low <= predicted.high and predicted.low <= spread.high
        return Verdict.NEAR if overlap else Verdict.APART


def check(
    start: Starts,
    profile: Callable[[Record], FoundProfile | None],
    folder: Path,
    repetitions: int,
    say: Callable[[str], None],
) -> Checked:
    """Records the program, takes the advice, and runs it both ways in turns. Without advice on its
    placement there are no further runs.

    Raises:
        RunFailed, ReportError, Missing, Unclear, OSError: the message says what to do.
    """
    say("the program as it is, recorded")
    start(folder / "record.jsonl", (), sequence=True)
    record = read(folder / "record.jsonl")
    advised = advise(record, profile(record), folder)
    placement, files = advised.made.placement, advised.files
    checked = Checked(record, advised.made, advised.foreseen)
    if placement is None:
        return checked
    write_files(folder, files)
    for number, way in in_turns((AS_IT_IS, ADVISED), repetitions):
        say(f"{number} of {repetitions}: {way}")
        file = folder / f"{way.replace(' ', '-')}-{number}.jsonl"
        start(file, files if way == ADVISED else (), sequence=False)
        again = read(file)
        checked.measured[way].append(again.wall_s)
        if way == ADVISED:
            checked.elsewhere = checked.elsewhere or _elsewhere(again, placement.nodes)
    return checked


def _elsewhere(record: Record, wanted: Sequence[str]) -> str:
    names = record.node_names
    for rank, (node, name) in enumerate(zip(record.node_of_rank, wanted, strict=True)):
        if names[node] != printable(name):
            return f"rank {rank} was started on {names[node]}, and belongs on {printable(name)}"
    return ""


@dataclass(frozen=True)
class Command:
    """Starts a command line as a user has it."""

    words: Sequence[str]
    timeout: float

    def __call__(self, record: Path, files: Sequence[Notation], *, sequence: bool) -> None:
        """See Starts."""
        line = Line(list(self.words))
        if files:
            abi = "openmpi" if files[0].launcher == "Open MPI" else "mpich"
            folder = record.parent
            line = with_placement(self.words, launcher_of(self.words, abi), files, folder)
        options = [f"--record={record.absolute()}", *(["--sequence"] if sequence else [])]
        # Who starts it with haichi wants it so.
        own = options if haichi_runs(line.words) else [*OBSERVED, *options]
        words = with_haichi(line.words, str(paths.program("haichi")), own)
        done = jobs.run(words, {**os.environ, **line.env}, timeout=self.timeout)
        if done.code:
            raise RunFailed(failure(done, words, self.timeout))
        if not record.exists():
            raise ReportError(
                f"{self.words[-1]!r} left no record: is it an MPI program that calls MPI_Finalize, "
                "dynamically linked?"
            )
