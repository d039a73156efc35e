"""The part of the page that shows what was chosen for a run's collectives."""

from __future__ import annotations

from haichi.report.choices import chosen, title, verdict
from haichi.report.markup import Markup, table, tag
from haichi.report.model import Collective, Report
from haichi.units import format_seconds

LISTED = 50


def choices(report: Report) -> Markup | None:
    """A table of all collectives that haichi chose for, those that took longest first; None if
    there are none."""
    if not report.collectives:
        return None
    longest = sorted(report.collectives, key=lambda each: -each.seconds)
    rest = len(longest) - LISTED
    return tag(
        "section",
        tag("h2", "Collectives and what was chosen"),
        table(
            ("collective", "#calls", "#time", "chosen", "why"),
            [_row(each) for each in longest[:LISTED]],
        ),
        tag("p", f"{rest} more took less time.", cls="soft") if rest > 0 else None,
    )


def _row(each: Collective) -> tuple[str, ...]:
    return (
        title(each),
        str(each.calls),
        format_seconds(each.seconds),
        chosen(each),
        verdict(each),
    )
