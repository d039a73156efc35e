"""What a report says of the program in words: each with its number, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator

from haichi.report.choices import OF_FILES
from haichi.report.model import Collective, PhaseName, Report
from haichi.report.summary import RunSummary, joined_files
from haichi.units import format_bytes, format_seconds, format_share, plural

MANY_CALLS, LITTLE_BYTES = 100, 64 << 10
MANY_OPENS = 20
LITTLE_SHARE = 0.02  # of the run: not worth much work
LONG_SHARE = 0.05  # of the run: worth a word
MUCH_BESIDE = 64 << 20  # bytes of storage, besides twice those of MPI
UNEVEN = 3.0  # times the median


def findings(report: Report, facts: RunSummary) -> list[str]:
    """In order of what they are about: the run, its collectives, its files, its ranks."""
    return [
        *_of_the_end(facts),
        *_of_the_run(facts),
        *_of_collectives(report, facts),
        *_of_files(report),
        *_of_storage(report),
        *_of_ranks(facts),
    ]


def _of_the_end(facts: RunSummary) -> Iterator[str]:
    if facts.cut:
        yield f"{facts.cut}: this is what was recorded until then"


def _of_the_run(facts: RunSummary) -> Iterator[str]:
    if facts.access_calls == 0 or facts.wall_s <= 0:
        return
    share = facts.access_s / facts.wall_s
    took = (
        f"collective file access takes {format_seconds(facts.access_s)} of "
        f"{format_seconds(facts.wall_s)} ({format_share(facts.access_s, facts.wall_s)})"
    )
    yield f"{took}: there is little to gain by it" if share < LITTLE_SHARE else took


def _of_collectives(report: Report, facts: RunSummary) -> Iterator[str]:
    functions: dict[str, list[Collective]] = {}
    for each in report.collectives:
        if not each.collective.startswith(OF_FILES):
            functions.setdefault(each.collective, []).append(each)
    for function, entries in functions.items():
        seconds = sum(each.seconds for each in entries)
        if seconds > LONG_SHARE * facts.wall_s:
            most = max(entries, key=lambda each: each.seconds)
            calls = plural(sum(each.calls for each in entries), "call")
            yield (
                f"{function} takes {format_seconds(seconds)} of {format_seconds(facts.wall_s)} "
                f"({format_share(seconds, facts.wall_s)}) in {calls}, most of it by "
                f"{most.chosen or 'the library, nothing is chosen yet'}: haichi explain says more"
            )


def _of_files(report: Report) -> Iterator[str]:
    ranks = report.program.ranks
    for file in joined_files(report):
        calls = len(file.calls) + file.calls_not_listed
        each = sum(call.bytes for call in file.calls) / max(len(file.calls), 1) / ranks
        if calls >= MANY_CALLS and each < LITTLE_BYTES:
            yield (
                f"{file.path}: {plural(calls, 'collective call')} of {format_bytes(each)} a rank: "
                "combine them, in one datatype or in a buffer for several steps"
            )
        if file.opens >= MANY_OPENS:
            yield f"{file.path}: opened {file.opens} times by the same ranks: keep it open"


def _of_storage(report: Report) -> Iterator[str]:
    """The kernel counts pages, and an MPI library may read more than it is asked for."""
    storage = report.storage
    if storage is None:
        return
    if storage.read > 2 * storage.mpi_read + MUCH_BESIDE:
        yield (
            f"{plural(storage.ranks, 'rank')} read {format_bytes(storage.read)} from storage, and "
            f"{format_bytes(storage.mpi_read)} in collective file access: the rest is read beside "
            "it, by read(2), independent calls or from mapped files; let one rank read what all "
            "need, or read it collectively"
        )
    if storage.written > 2 * storage.mpi_written + MUCH_BESIDE:
        yield (
            f"{plural(storage.ranks, 'rank')} wrote {format_bytes(storage.written)} to storage, "
            f"and {format_bytes(storage.mpi_written)} in collective file access: the rest is "
            "written beside it, by write(2), independent calls or to mapped files; write "
            "collectively what belongs to one file"
        )


def _of_ranks(facts: RunSummary) -> Iterator[str]:
    agree = facts.phases.get("agree")
    if agree and agree.median > LONG_SHARE * facts.wall_s and agree.median > facts.access_s / 2:
        yield (
            f"in collective file accesses the median rank waits {format_seconds(agree.median)} for "
            "others to come: they reach the calls at different times, balance the work before them"
        )
    sides: tuple[tuple[PhaseName, str], ...] = (("read", "reads"), ("write", "writes"))
    for phase, done in sides:
        took = facts.phases.get(phase)
        if took and took.max > UNEVEN * took.median and took.max > LONG_SHARE * facts.wall_s:
            yield (
                f"rank {took.rank_of_max} {done} for {format_seconds(took.max)}, the median "
                f"aggregator for {format_seconds(took.median)}: look at its node and its storage"
            )
