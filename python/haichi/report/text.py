"""The report as text: what was called, what haichi did with it, why, and what it cost."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from haichi.report.choices import summary_lines
from haichi.report.findings import findings
from haichi.report.model import Call, File, MachineUse, Report
from haichi.report.summary import (
    CallGroup,
    Run,
    Summary,
    aggregators,
    behind_the_program,
    count_list,
    differing_settings,
    flattening,
    group_calls,
    holes,
    joined_files,
)
from haichi.units import (
    format_bytes,
    format_rate,
    format_seconds,
    format_share,
    plural,
    printable,
)

CALLS_SHOWN = 10


def print_runs(console: Console, runs: Sequence[Run], summary: Summary) -> None:
    """Prints every run, and with several of them how they compare."""
    for number, run in enumerate(runs):
        if number:
            console.print()
        _print_run(console, run, several=len(runs) > 1)
    if len(runs) > 1:
        console.print()
        _print_comparison(console, runs, summary)


def _line(console: Console, *parts: str | tuple[str, str], indent: int = 0) -> None:
    """One line, never broken where the output is a file; parts are text or (text, style)."""
    text = Text(" " * indent)
    for part in parts:
        words, style = part if isinstance(part, tuple) else (part, "")
        text.append(printable(words), style)
    console.print(text, soft_wrap=not console.is_terminal)


def _print_run(console: Console, run: Run, several: bool) -> None:
    report, facts = run.report, run.facts
    program = report.program
    if several:
        _line(console, (run.facts.label, "bold reverse"))
    _line(console, (program.command, "bold"))
    job = f", job {program.job}" if program.job else ""
    _line(
        console,
        f"{plural(facts.ranks, 'rank')} on {plural(facts.nodes, 'node')}, "
        f"{format_seconds(program.wall_s)}, started {program.started}{job}",
        indent=2,
    )
    _line(console, f"{facts.mpi}; haichi {report.haichi} ({report.mpi.abi})", indent=2)
    if report.machine:
        _line(console, machine_line(report.machine), indent=2)
    _print_list(console, "Findings", findings(report, facts))
    for file in joined_files(report):
        console.print()
        _print_file(console, file)
    if not report.files:
        _line(console, "no file was opened through MPI-IO", indent=2)
    _print_collectives(console, report)
    console.print()
    _print_phases(console, run)
    _print_settings(console, report)
    _print_notes(console, run)


def machine_line(machine: MachineUse) -> str:
    """By which profile of the machine it was planned."""
    if machine.file is None:
        return f"planned by default numbers of a machine, not this one's: {machine.why}"
    facts = ", ".join(fact for fact in (machine.name, machine.made) if fact)
    return f"planned by {machine.file}{f' ({facts})' if facts else ''}: {machine.why}"


def _print_collectives(console: Console, report: Report) -> None:
    if not report.collectives:
        return
    console.print()
    _line(console, ("Collectives", "bold"), "  (haichi explain has the trials)")
    for line in summary_lines(report.collectives):
        _line(console, line, indent=2)


def _print_file(console: Console, file: File) -> None:
    opened = "once" if file.opens == 1 else f"{file.opens} times"
    _line(console, (file.path, "bold"), f"  {file.access}, opened {opened}")
    if file.hints:
        hints = "  ".join(f"{key}={value}" for key, value in sorted(file.hints.items()))
        _line(console, ("hints in force  ", "dim"), hints, indent=2)
    if file.ignored_hints:
        _line(
            console,
            ("hints ignored   ", "dim"),
            "  ".join(dict.fromkeys(file.ignored_hints)),
            indent=2,
        )
    if kept := flattening(file):
        _line(console, ("datatypes kept  ", "dim"), kept, indent=2)
    for group in group_calls(file):
        _print_group(console, group)
    if file.calls_not_listed:
        _line(
            console,
            (f"{plural(file.calls_not_listed, 'further call')} not listed: ", "yellow"),
            "the record was full",
            indent=2,
        )


def _print_group(console: Console, group: CallGroup) -> None:
    first = group.first
    numbers = count_list([call.index for call in group.calls])
    by = ("handled by haichi", "green") if first.handled else ("passed through", "yellow")
    noun = "call" if len(group.calls) == 1 else "calls"
    _line(console, f"{noun} {numbers}  ", (first.call, "bold"), "  ", by, indent=2)
    _line(console, _what_moved(first) if len(group.calls) == 1 else _sums(group.calls), indent=4)
    if first.handled and first.aggregators:
        window = str(first.window) if first.window else "no limit"
        _line(
            console,
            f"{aggregators(first)}, order {first.order}, window {window}, "
            f"holes {holes(group.calls)}",
            indent=4,
        )
        inside = sum(call.bytes_inside for call in group.calls)
        between = sum(call.bytes_between for call in group.calls)
        _line(
            console,
            f"exchanged {format_bytes(inside)} inside nodes, {format_bytes(between)} between "
            f"nodes ({format_share(between, inside + between)} between{must_cross(group.calls)})"
            f"{in_messages(group.calls)}",
            indent=4,
        )
    if late := behind_the_program(group.calls):
        _line(console, late, indent=4)
    for reason in group.reasons():
        _line(console, ("why  ", "dim"), reason, indent=4)
    if len(group.calls) > 1:
        _print_calls(console, group.calls)


def in_messages(calls: Sequence[Call]) -> str:
    """In how many messages bytes went between nodes, as words to add."""
    known = [call.messages_between for call in calls if call.messages_between is not None]
    if len(known) < len(calls):
        return ""
    return f" in {plural(sum(known), 'message')}"


def must_cross(calls: Sequence[Call]) -> str:
    """How many bytes could not but go between nodes, as words to add."""
    known = [call.bytes_must_cross for call in calls if call.bytes_must_cross is not None]
    if len(known) < len(calls):
        return ""
    return f"; {format_bytes(sum(known))} had to be"


def _what_moved(call: Call) -> str:
    if not call.handled and not call.bytes:
        return format_seconds(call.seconds)
    rate = f" ({format_rate(call.bytes / call.seconds)})" if call.seconds > 0 else ""
    place = f", file bytes {call.file_begin} to {call.file_end}" if call.file_end else ""
    cycles = f", {plural(call.cycles, 'cycle')}" if call.cycles else ""
    return f"{format_bytes(call.bytes)} in {format_seconds(call.seconds)}{rate}{place}{cycles}"


def _sums(calls: Sequence[Call]) -> str:
    total, seconds = sum(call.bytes for call in calls), sum(call.seconds for call in calls)
    rate = f" ({format_rate(total / seconds)})" if seconds > 0 else ""
    median = statistics.median(call.seconds for call in calls)
    return (
        f"{format_bytes(total)} in {format_seconds(seconds)}{rate}, median call "
        f"{format_seconds(median)}"
    )


def _print_calls(console: Console, calls: Sequence[Call]) -> None:
    """One row a call, the slowest where there are too many."""
    shown = sorted(calls, key=lambda call: -call.seconds)[:CALLS_SHOWN]
    table = _table("call", "bytes", "time", "rate", "cycles", "inside nodes", "between nodes")
    for call in sorted(shown, key=lambda call: call.index):
        table.add_row(
            str(call.index),
            format_bytes(call.bytes),
            format_seconds(call.seconds),
            format_rate(call.bytes / call.seconds) if call.seconds > 0 else "-",
            str(call.cycles),
            format_bytes(call.bytes_inside),
            format_bytes(call.bytes_between),
        )
    _print_table(console, table, indent=4)
    if len(shown) < len(calls):
        _line(console, f"the {len(shown)} slowest of {len(calls)} calls", indent=4)


def _print_phases(console: Console, run: Run) -> None:
    facts = run.facts
    if not facts.phases:
        _line(console, "no rank spent time in a collective access of haichi", indent=2)
        return
    table = _table("phase", "ranks", "min", "median", "max", "rank of max")
    for phase, spread in facts.phases.items():
        table.add_row(
            phase.capitalize(),
            str(spread.ranks),
            format_seconds(spread.min),
            format_seconds(spread.median),
            format_seconds(spread.max),
            str(spread.rank_of_max),
        )
    _line(console, ("Time of each phase, over the ranks that took part in it", "bold"))
    _print_table(console, table, indent=2)
    exchanged = facts.bytes_inside + facts.bytes_between
    if exchanged:
        _line(
            console,
            f"exchanged {format_bytes(exchanged)} in all, "
            f"{format_share(facts.bytes_between, exchanged)} of it between nodes",
            indent=2,
        )


def _print_settings(console: Console, report: Report) -> None:
    changed = [setting for setting in report.settings if setting.source != "default"]
    if changed:
        console.print()
        _line(console, ("Settings that are not the default", "bold"))
    for setting in changed:
        _line(console, f"{setting.key} = {setting.value}  ({setting.source})", indent=2)


def _print_notes(console: Console, run: Run) -> None:
    notes = list(run.report.notes)
    if run.facts.events_dropped:
        notes.append(dropped_events(run))
    _print_list(console, "Notes", notes)


def _print_list(console: Console, title: str, lines: Sequence[str]) -> None:
    if lines:
        console.print()
        _line(console, (title, "bold"))
    for line in lines:
        _line(console, f"- {line}", indent=2)


def dropped_events(run: Run) -> str:
    """One sentence on events that are in the totals but not in the record."""
    kept = sum(len(rank.events) for rank in run.report.ranks)
    dropped = run.facts.events_dropped
    return (
        f"{dropped} of {kept + dropped} events were not kept (HAICHI_REPORT_EVENTS says how many a "
        "rank keeps): totals count them, pictures and traces lack them"
    )


def _print_comparison(console: Console, runs: Sequence[Run], summary: Summary) -> None:
    _line(
        console,
        (f"{len(runs)} runs: time is the sum of the slowest rank's time in each call", "bold"),
    )
    table = _table("run", "ranks", "calls", "bytes", "time", "÷ first", "rate", "between")
    for facts in summary.runs:
        table.add_row(
            printable(facts.label),
            str(facts.ranks),
            f"{facts.calls_handled}/{facts.calls}",
            format_bytes(facts.bytes),
            format_seconds(facts.seconds),
            "-" if facts.ratio_to_first is None else f"{facts.ratio_to_first:.2f}",
            "-" if facts.bytes_per_second is None else format_rate(facts.bytes_per_second),
            format_bytes(facts.bytes_between),
        )
    _print_table(console, table, indent=2)
    _line(
        console,
        "calls: handled by haichi / all listed; between: bytes exchanged between nodes",
        indent=2,
    )
    for facts, differ in zip(summary.runs, differing_settings(summary.runs), strict=True):
        if differ:
            settings = ", ".join(f"{key}={value}" for key, value in differ.items())
            _line(console, f"{facts.label}: {settings}", indent=2)
    for warning in summary.warnings:
        _line(console, ("warning: ", "yellow"), warning, indent=2)


def _table(first: str, *rest: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1, 0, 0))
    table.add_column(first, justify="left", no_wrap=True)
    for name in rest:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _print_table(console: Console, table: Table, indent: int) -> None:

    console.print(Padding(table, (0, 0, 0, indent), expand=False))
