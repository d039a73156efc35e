"""A prediction on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from haichi.predict.model import Interval, Prediction, Sensitivity
from haichi.report.output import say
from haichi.units import (
    digits,
    format_seconds,
    format_share,
    plural,
    printable,
    second_unit,
)

ROWS = 20  # of a table


def span(interval: Interval) -> str:
    """`1.20 to 1.50 s`."""
    size, unit = second_unit(max(interval.high, -interval.low))
    if interval.low == interval.high == 0:
        return "0 s"
    return f"{digits(interval.low / size)} to {digits(interval.high / size)} {unit}"


def print_prediction(console: Console, made: Prediction) -> None:
    """The program's figure, then where it comes from."""
    for line in headline(made):
        say(console, line)
    for note in made.notes:
        say(console, f"note: {note}")
    if made.parts:
        console.print(_parts(made))
    for each in made.unknown:
        advice = f"; haichi measure {each.measure} tells" if each.measure else ""
        say(
            console,
            f"no curve: {each.name}, {plural(each.calls, 'call')} "
            f"({100 * each.share_of_calls:.1f} % of all) with {format_seconds(each.recorded_s)} "
            f"({100 * each.share_of_time:.1f} % of the time in MPI){advice}",
        )
    if made.critical_path:
        console.print(_path(made))
    if made.sensitivity is not None:
        console.print(_sensitivity(made.sensitivity))


def headline(made: Prediction) -> list[str]:
    """The figures of the whole."""
    program = printable(" ".join(made.program))
    lines = [
        f"{program}: {plural(made.ranks, 'rank')} on {printable(made.machine)}, by {made.by}",
    ]
    lines += [f"changed: {line}" for line in made.changed]
    recorded = format_seconds(made.recorded_s)
    if made.program_s:
        lines.append(f"program: {span(made.program_s)} (recorded: {recorded})")
    else:
        lines.append(f"program: no figure, as {made.why_not} (recorded: {recorded})")
    lines.append(
        f"what the calls of the rank with most need: {span(made.communication)} (recorded, waiting "
        f"with it: {format_seconds(made.recorded_communication_s)})"
    )
    if made.waiting_share > 0:
        how = "as predicted:" if made.by == "sequence" else "as recorded: at least"
        lines.append(
            f"waiting and imbalance, {how} {100 * made.waiting_share:.0f} % of the time in MPI"
        )
    return lines


def _parts(made: Prediction) -> Table:
    left = len(made.parts) - ROWS
    title = "All ranks together" + (f", the first {ROWS} of {len(made.parts)}" if left > 0 else "")
    table = Table("calls of", title=title, title_justify="left")
    for heading in ("bytes", "where", "calls", "needs", "recorded"):
        table.add_column(heading, justify="right")
    table.add_column("by", overflow="fold")
    for part in made.parts[:ROWS]:
        table.add_row(
            part.name,
            "" if part.size is None else f"{part.size}",
            part.where,
            f"{part.calls}",
            span(part.seconds),
            format_seconds(part.recorded_s),
            part.curve,
        )
    return table


def _path(made: Prediction) -> Table:
    path = sorted(made.critical_path or [], key=lambda step: -step.seconds)
    whole = sum(step.seconds for step in path)
    table = Table("what", title="The critical path", title_justify="left")
    for heading in ("place", "time", "share", "messages in a row", "their bytes"):
        table.add_column(heading, justify="right")
    for step in path[:ROWS]:
        table.add_row(
            step.what,
            step.place or "",
            format_seconds(step.seconds),
            format_share(step.seconds, whole),
            f"{step.messages}" if step.messages else "",
            f"{step.bytes}" if step.messages else "",
        )
    return table


def _sensitivity(found: list[Sensitivity]) -> Table:
    table = Table(
        "place", title="How the slowest rank's time changes with the machine", title_justify="left"
    )
    for heading in ("latencies in a row", "in latency", "in bytes", "overhead"):
        table.add_column(heading, justify="right")
    costs = list(found[0].added_latency_s) if found else []
    for cost in costs:
        table.add_column(f"latency for {cost} %", justify="right")
    for each in found:
        table.add_row(
            each.place,
            f"{each.latencies.low:.0f} to {each.latencies.high:.0f}",
            span(each.latency_s),
            span(each.bytes_s),
            span(each.overhead_s),
            *(f"+ {span(at)}" if (at := each.added_latency_s[cost]) else "-" for cost in costs),
        )
    return table
