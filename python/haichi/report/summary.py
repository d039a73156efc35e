"""What follows from a report: totals, spreads over ranks, calls of the same kind, comparisons.

The text, the page and `--json` show these same figures. `Summary` is what `--json` prints
(`haichi.summary/1`). Seconds and bytes throughout.
"""

from __future__ import annotations

import itertools
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from haichi.report.model import Call, Event, File, Flattening, PhaseName, Report
from haichi.units import format_bytes, format_seconds, plural

OUTPUT_SETTINGS = {"config", "log", "report.file", "report.events"}
PHASES: tuple[PhaseName, ...] = get_args(PhaseName)


class Spread(BaseModel):
    """Time of one phase over the ranks that took part in it, in seconds."""

    ranks: int = Field(description="Ranks that took part: those with any time in the phase.")
    min: float = Field(description="Of the rank that spent least.")
    median: float = Field(description="Of the median rank, among those that are listed.")
    max: float = Field(description="Of the rank that spent most.")
    rank_of_max: int = Field(description="The rank that spent most.")


class RunSummary(BaseModel):
    """One run in figures."""

    file: str = Field(description="The report that it was read from.")
    label: str = Field(description="Short name of the run, unique in this summary.")
    command: str = Field(description="Command line.")
    ranks: int = Field(description="Ranks.")
    nodes: int = Field(description="Nodes.")
    mpi: str = Field(description="First line of the MPI library's name and version.")
    wall_s: float = Field(description="From MPI_Init to MPI_Finalize, in seconds.")
    calls: int = Field(description="Collective file accesses listed in the report.")
    calls_handled: int = Field(description="Those of them that haichi did.")
    calls_not_listed: int = Field(description="Accesses that are in no other figure here.")
    bytes: int = Field(description="Bytes that the listed calls read and wrote.")
    seconds: float = Field(description="Sum over the listed calls of the slowest rank's time.")
    access_calls: int = Field(description="Collective file accesses of a rank, listed or not.")
    access_s: float = Field(
        description="Time in them of the rank that spent most there, in seconds."
    )
    ratio_to_first: float | None = Field(
        description="`seconds` divided by that of the first run; null if that is 0."
    )
    bytes_per_second: float | None = Field(description="`bytes` / `seconds`; null without time.")
    bytes_inside: int = Field(description="Bytes exchanged between ranks of one node.")
    bytes_between: int = Field(description="Bytes exchanged between ranks of two nodes.")
    phases: dict[PhaseName, Spread] = Field(
        description="Time of each phase that any rank took part in."
    )
    events_dropped: int = Field(description="Events that the record had no room for.")
    settings: dict[str, str] = Field(description="Settings that are not the default.")
    notes: list[str] = Field(description="The report's notes.")
    cut: str = Field("", description="How the run was cut short; empty if it was not.")


class Summary(BaseModel):
    """One or more runs in figures, the first being what the others are compared with."""

    model_config = ConfigDict(populate_by_name=True)

    form: Literal["haichi.summary/1"] = Field(
        default="haichi.summary/1", alias="schema", description="Name and version of the form."
    )
    runs: list[RunSummary] = Field(description="In the order given.")
    warnings: list[str] = Field(description="Why the runs may not be comparable, one line each.")


@dataclass(frozen=True)
class Run:
    """A report with the file it came from, a label, and its figures."""

    path: Path
    report: Report
    facts: RunSummary


def summarize(paths: Sequence[Path], reports: Sequence[Report]) -> tuple[list[Run], Summary]:
    """The figures of each run and of all together; `paths` and `reports` are parallel."""
    labels = _labels(paths)
    base = sum(call.seconds for call in reports[0].calls())
    runs = [
        Run(path, report, _figures(path, label, report, base))
        for path, label, report in zip(paths, labels, reports, strict=True)
    ]
    facts = [run.facts for run in runs]
    return runs, Summary(runs=facts, warnings=_differences(facts))


def _figures(path: Path, label: str, report: Report, base: float) -> RunSummary:
    calls = report.calls()
    seconds = sum(call.seconds for call in calls)
    total = sum(call.bytes for call in calls)
    return RunSummary(
        file=str(path),
        label=label,
        command=report.program.command,
        ranks=report.program.ranks,
        nodes=len(report.placement.nodes),
        mpi=" ".join(report.mpi.library.split("\n")[0].split()),
        wall_s=report.program.wall_s,
        calls=len(calls),
        calls_handled=sum(call.handled for call in calls),
        calls_not_listed=sum(file.calls_not_listed for file in report.files),
        bytes=total,
        seconds=seconds,
        access_calls=report.access_calls(),
        access_s=report.access_seconds(),
        ratio_to_first=seconds / base if base > 0 else None,
        bytes_per_second=total / seconds if seconds > 0 else None,
        bytes_inside=sum(call.bytes_inside for call in calls),
        bytes_between=sum(call.bytes_between for call in calls),
        phases=_phases(report),
        events_dropped=sum(rank.events_dropped for rank in report.ranks),
        settings={s.key: s.value for s in report.settings if s.source != "default"},
        notes=report.notes,
        cut=how_it_was_cut(report),
    )


def how_it_was_cut(report: Report) -> str:
    """In words; empty if the run came to its end."""
    cut = report.cut
    if cut is None:
        return ""
    if cut.by == "MPI_Abort":
        how = f"rank {cut.rank} ended the run by MPI_Abort, error code {cut.code}"
    else:
        how = "the run did not come to MPI_Finalize: it was killed, or goes on"
    how += f", {format_seconds(cut.last_s)} after MPI_Init or later"
    if cut.ranks_without_log:
        how += f"; nothing is known of ranks {cut.ranks_without_log}"
    if cut.records_lost or cut.records_damaged:
        how += f"; {plural(cut.records_lost, 'record')} had no room in the logs"
        how += f", {cut.records_damaged} were not whole"
    return how


def _phases(report: Report) -> dict[PhaseName, Spread]:
    spreads: dict[PhaseName, Spread] = {}
    for phase in PHASES:
        times = [
            (seconds, rank.rank)
            for rank in report.ranks
            if (seconds := getattr(rank.seconds, phase)) > 0
        ]
        if times:
            values = [seconds for seconds, _ in times]
            most, rank = max(times, key=lambda pair: (pair[0], -pair[1]))
            of_all = report.others.phases.get(phase) if report.others else None
            spreads[phase] = Spread(
                ranks=of_all.ranks if of_all else len(values),
                min=of_all.min if of_all else min(values),
                median=statistics.median(values),
                max=most,
                rank_of_max=rank,
            )
    return spreads


def _labels(paths: Sequence[Path]) -> list[str]:
    """File names without `.json`, or whole paths where names repeat, or numbered paths."""
    for names in ([path.stem for path in paths], [str(path) for path in paths]):
        if len(set(names)) == len(names):
            return names
    return [f"{path} ({number})" for number, path in enumerate(paths, 1)]


def _differences(runs: Sequence[RunSummary]) -> list[str]:
    """Why the times of these runs are not of the same work."""
    found = []
    for name, values in (
        ("ranks", [run.ranks for run in runs]),
        ("nodes", [run.nodes for run in runs]),
        ("calls", [run.calls for run in runs]),
        ("bytes", [run.bytes for run in runs]),
    ):
        if len(set(values)) > 1:
            listed = ", ".join(str(value) for value in values)
            found.append(f"the runs differ in {name} ({listed}): the ratios compare different work")
    cut = [run.label for run in runs if run.cut]
    if cut and len(runs) > 1:
        found.append(f"cut short: {', '.join(cut)}: the ratios compare different work")
    unlisted = [run.label for run in runs if run.calls_not_listed]
    if unlisted and len(runs) > 1:
        found.append(
            f"not all calls are listed in {', '.join(unlisted)}: the ratios leave them out"
        )
    return found


def differing_settings(runs: Sequence[RunSummary]) -> list[dict[str, str]]:
    """Per run the settings that are not alike in all of them; what is not changed is `default`.

    Those that say only where things are written are left out.
    """
    keys = sorted({key for run in runs for key in run.settings} - OUTPUT_SETTINGS)
    differ = [key for key in keys if len({run.settings.get(key) for run in runs}) > 1]
    return [{key: run.settings.get(key, "default") for key in differ} for run in runs]


@dataclass(frozen=True)
class CallGroup:
    """Calls on one file for which everything was decided alike, for reasons of the same words."""

    calls: list[Call]

    @property
    def first(self) -> Call:
        """The one that stands for all."""
        return self.calls[0]

    def reasons(self) -> list[str]:
        """The reasons, word for word; where numbers vary those of the first call, and so said."""
        said = []
        for place, reason in enumerate(self.first.why):
            alike = all(call.why[place] == reason for call in self.calls)
            said.append(reason if alike else f"{reason} (call {self.first.index}; numbers vary)")
        return said


def joined_files(report: Report) -> list[File]:
    """The files by path: several openings with the same hints are one, with all their calls."""
    files: dict[tuple[object, ...], File] = {}
    for file in report.files:
        alike = (file.path, tuple(sorted(file.hints.items())), tuple(file.ignored_hints))
        before = files.get(alike)
        if before is None:
            files[alike] = file
            continue
        files[alike] = before.model_copy(
            update={
                "access": before.access if before.access == "collective" else file.access,
                "opens": before.opens + file.opens,
                "calls": before.calls + file.calls,
                "calls_not_listed": before.calls_not_listed + file.calls_not_listed,
                "flattening": _largest(before.flattening, file.flattening),
            }
        )
    return list(files.values())


def _largest(one: Flattening, other: Flattening) -> Flattening:
    known = Flattening.model_fields
    return Flattening(**{name: max(getattr(one, name), getattr(other, name)) for name in known})


def flattening(file: File) -> str:
    """What is kept of the file's datatypes, in words; empty if there was nothing to keep."""
    kept = file.flattening
    parts = [
        f"{what} of {plural(blocks, 'block')} in {format_bytes(held)}"
        for what, blocks, held in (
            ("view", kept.view_blocks, kept.view_bytes),
            ("memory", kept.memory_blocks, kept.memory_bytes),
        )
        if held
    ]
    if kept.others_bytes:
        parts.append(f"other ranks' views in {format_bytes(kept.others_bytes)} on an aggregator")
    return ", ".join(parts)


def behind_the_program(calls: Sequence[Call]) -> str:
    """What threads did of the calls behind the program, in words; empty if they did nothing."""
    ran = [call.thread_seconds for call in calls if call.thread_seconds is not None]
    if not ran:
        return ""
    waited = sum(call.waited_seconds or 0.0 for call in calls)
    return (
        f"a thread accessed the file for {format_seconds(sum(ran))} behind the program, which "
        f"waited for it for {format_seconds(waited)}"
    )


def group_calls(file: File) -> list[CallGroup]:
    """The file's calls by what was decided, in order of first appearance."""
    groups: dict[tuple[object, ...], list[Call]] = {}
    for call in file.calls:
        decided = (
            call.call,
            call.handled,
            tuple(call.aggregators),
            call.layout,
            call.order,
            call.window,
            call.holes,
            tuple(re.sub(r"\d+", "0", reason) for reason in call.why),
        )
        groups.setdefault(decided, []).append(call)
    return [CallGroup(calls) for calls in groups.values()]


def holes(calls: Sequence[Call]) -> str:
    """How holes were written around, and in how many windows, e.g. `rmw (in 12 of 16 windows)`."""
    way = calls[0].holes
    ways = {
        "none": sum(call.windows.whole for call in calls),
        "separate": sum(call.windows.separate for call in calls),
        "rmw": sum(call.windows.rmw for call in calls),
    }
    this, total = ways.get(way, 0), sum(ways.values())
    return f"{way} (in {this} of {total} windows)" if this and way != "none" else way


def events_by_call(report: Report) -> dict[int, dict[int, list[Event]]]:
    """Events of every call by rank: `[call][rank]`, each list by begin."""
    calls: dict[int, dict[int, list[Event]]] = defaultdict(dict)
    for rank in report.ranks:
        for event in rank.events:
            calls[event.call].setdefault(rank.rank, []).append(event)
    for ranks in calls.values():
        for events in ranks.values():
            events.sort(key=lambda event: (event.begin_us, event.end_us))
    return calls


def accesses_beside_exchange(events: Iterable[Event]) -> bool:
    """True if one rank read or wrote the file while it exchanged."""
    spans = sorted(
        (event.begin_us, event.end_us, event.phase != "exchange")
        for event in events
        if event.phase != "agree"
    )
    return any(
        a_file != b_file and b_begin < a_end
        for (_, a_end, a_file), (b_begin, _, b_file) in itertools.pairwise(spans)
    )


def aggregators(call: Call) -> str:
    """How many, where and which: `4 aggregators (roundrobin, ranks 0, 4, 8, 12)`."""
    ranks = call.aggregators
    which = f"{'rank' if len(ranks) == 1 else 'ranks'} {count_list(ranks)}"
    return f"{plural(len(ranks), 'aggregator')} ({call.layout}, {which})"


def count_list(items: Sequence[int | str], most: int = 8) -> str:
    """`0, 4, 8, 12`, cut with an ellipsis and the count after `most` items."""
    shown = ", ".join(str(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown}, … ({len(items)})"
