"""HTML and SVG written from Python: everything that is not markup yet gets escaped."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable
from typing import TypeAlias

from haichi.units import printable


class Markup(str):
    """Text that is markup already, and goes into a page as it is."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"
Value = str | float | bool | None

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_VOID = {"meta", "link", "br", "hr", "rect", "line", "circle", "path"}


def number(value: float) -> str:
    """A coordinate with at most two decimals: `12.50` becomes `12.5`."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value != int(value) else str(int(value))


def text(child: Child) -> Markup:
    """Children as markup: escaped unless they are Markup."""
    if child is None:
        return Markup()
    if isinstance(child, Markup):
        return child
    if isinstance(child, str):
        return Markup(html.escape(printable(child)))
    return Markup("".join(text(part) for part in child))


def tag(name: str, /, *children: Child, **attributes: Value) -> Markup:
    """One element. `cls` is written class, `_` becomes `-`; None and False attributes are left out.

    An element without children closes itself where HTML or SVG lets it.
    """
    words = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = "class" if key == "cls" else key.rstrip("_").replace("_", "-")
        if value is True:
            words.append(key)
        else:
            shown = value if isinstance(value, str) else number(value)
            words.append(f'{key}="{html.escape(printable(shown))}"')
    opening = " ".join(words)
    body = "".join(text(child) for child in children)
    if not body and name in _VOID:
        return Markup(f"<{opening}/>")
    return Markup(f"<{opening}>{body}</{name}>")


def document(title: str, haichi: str, style: str, *children: Child, script: str = "") -> str:
    """A whole page by this version of haichi, which fetches nothing and runs `script` alone."""
    policy = POLICY
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy += f"; script-src 'sha256-{digest}'"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="generator", content=f"haichi {haichi}"),
        tag("link", rel="icon", href="data:,"),
        tag("title", title),
        tag("style", Markup(style)),
    )
    body = tag("body", children, tag("script", Markup(script)) if script else None)
    return "<!DOCTYPE html>\n" + tag("html", head, body, lang="en") + "\n"


def table(head: Iterable[Child], rows: Iterable[Iterable[Child]], cls: str = "") -> Markup:
    """A table with column headers; the first cell of a row is its header.

    A column whose header begins with `#` (not shown) holds numbers and is set right.
    """
    titles = [title if isinstance(title, str) else text(title) for title in head]
    numeric = [title.startswith("#") for title in titles]
    cells = [
        tag("th", Markup(text(title.removeprefix("#"))), scope="col", cls="num" if right else None)
        for title, right in zip(titles, numeric, strict=True)
    ]
    body = []
    for row in rows:
        columns = [
            tag(
                "td" if index else "th",
                cell,
                scope=None if index else "row",
                cls="num" if right else None,
            )
            for index, (cell, right) in enumerate(zip(row, numeric, strict=True))
        ]
        body.append(tag("tr", columns))
    inner = tag("table", tag("thead", tag("tr", cells)), tag("tbody", body), cls=cls or None)
    return tag("div", inner, cls="scroll")
