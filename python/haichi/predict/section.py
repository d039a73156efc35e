"""A prediction as a section of a record's page."""

from __future__ import annotations

from haichi.predict.model import Prediction, Sensitivity
from haichi.predict.text import headline, span
from haichi.report.markup import Child, Markup, table, tag
from haichi.units import format_bytes, format_seconds, printable

ROWS = 30  # of the table


def section(made: Prediction) -> Markup:
    """What the program would take, what that consists of, and what is not known."""
    _, *lines = headline(made)
    return tag(
        "section",
        tag("h2", f"What it would take on {printable(made.machine)}"),
        [tag("p", line) for line in lines],
        _notes(made),
        _parts(made),
        _unknown(made),
        _sensitivity(made.sensitivity or []),
    )


def _notes(made: Prediction) -> Markup | None:
    if not made.notes:
        return None
    return tag("ul", [tag("li", note) for note in made.notes], cls="soft")


def _parts(made: Prediction) -> Markup:
    rows: list[list[Child]] = [
        [
            part.name,
            "" if part.size is None else format_bytes(part.size),
            part.where,
            f"{part.calls}",
            span(part.seconds),
            format_seconds(part.recorded_s),
            part.curve,
        ]
        for part in made.parts[:ROWS]
    ]
    head = ["calls of", "#bytes", "where", "#calls", "#need", "#recorded", "by"]
    return table(head, rows)


def _unknown(made: Prediction) -> Markup | None:
    if not made.unknown:
        return None
    items = [
        tag(
            "li",
            f"{each.name}: {100 * each.share_of_calls:.1f} % of the calls, "
            f"{100 * each.share_of_time:.1f} % of the time in MPI",
            f"; haichi measure {each.measure} tells" if each.measure else "",
        )
        for each in made.unknown
    ]
    return tag("div", tag("h3", "Without a curve"), tag("ul", items))


def _sensitivity(found: list[Sensitivity]) -> Markup | None:
    if not found:
        return None
    costs = list(found[0].added_latency_s)
    rows: list[list[Child]] = [
        [
            each.place,
            f"{each.latencies.low:.0f} to {each.latencies.high:.0f}",
            span(each.latency_s),
            span(each.bytes_s),
            *(f"+ {span(at)}" if (at := each.added_latency_s[cost]) else "–" for cost in costs),
        ]
        for each in found
    ]
    head = ["place", "#latencies in a row", "#in latency", "#in bytes",
            *(f"#latency for {cost} %" for cost in costs)]  # fmt: skip
    return tag("div", tag("h3", "How that changes with the machine"), table(head, rows))
