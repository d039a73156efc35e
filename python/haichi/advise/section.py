"""Advice as a section of a record's page."""

from __future__ import annotations

from haichi.advise.model import Advice, AdviceList
from haichi.advise.text import gain_words
from haichi.report.markup import Markup, tag

HEAD = "What would make it faster"


def section(made: AdviceList) -> Markup:
    """What gains most first. The files that lines name are written by `haichi advise`."""
    head = tag("h2", HEAD)
    if not made.advice:
        return tag("section", head, tag("p", "Nothing to change was found."))
    words = "Files that lines name, haichi advise writes."
    items = [_advice(each) for each in made.advice]
    return tag("section", head, tag("p", words, cls="soft"), tag("ol", items, cls="odd"))


def _advice(each: Advice) -> Markup:
    lines = [tag("code", line) for line in each.paste]
    return tag(
        "li",
        f"{each.title}: {gain_words(each)}",
        tag("span", each.why, cls="from"),
        [tag("p", line) for line in lines],
    )
