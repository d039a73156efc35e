"""A record as one self-contained HTML page, without a script.

In the order in which a reader asks: what ran and how much of it is MPI, where that goes, who is
where, who sends to whom, who waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources

from haichi.record import pictures
from haichi.record.text import SPARE, SUMS, balance, cells, handled, spare
from haichi.record.view import View
from haichi.report.markup import Child, Markup, document, table, tag
from haichi.units import format_bytes, format_seconds, format_share, plural, printable

ROWS = 40  # of a table


def page(view: View, further: Sequence[Markup] = ()) -> str:
    """The page of a record, with further sections behind what it tells itself."""
    styles = [
        resources.files(package).joinpath("page.css").read_text("utf-8")
        for package in ("haichi.report", "haichi.samples")
    ]
    footer = tag(
        "footer",
        f"Made by haichi from {printable(str(view.record.path))}. Times of calls are those of all "
        "ranks together unless they say otherwise. KiB, MiB and GiB are powers of 1024.",
    )
    title = f"What {view.record.program} does with MPI"
    article = tag("article", [*_sections(view), *further], cls="run")
    return document(title, view.record.head.by, "".join(styles), tag("main", article), footer)


def _sections(view: View) -> Iterator[Child]:
    yield _header(view)
    yield _tiles(view)
    if view.notes:
        items = [tag("li", note) for note in view.notes]
        yield tag("aside", tag("h3", "Before you read on"), tag("ul", items), cls="notes")
    if view.functions:
        yield _time(view)
        yield _sizes(view)
        yield _places(view)
    yield tag("section", tag("h2", "Who is where"), pictures.seats(view.record))
    if view.record.traffic:
        yield _traffic(view)
    yield _ranks(view)


def _header(view: View) -> Markup:
    record = view.record
    return tag(
        "header",
        tag("p", "haichi record", cls="over"),
        tag("h1", record.program, cls="command"),
        tag(
            "p",
            f"{plural(record.head.ranks, 'rank')} on {plural(len(record.node_names), 'node')}, "
            f"{record.head.abi or 'an MPI not named'}, started "
            f"{record.head.started or 'at a time not told'}.",
            cls="soft",
        ),
    )


def _tiles(view: View) -> Markup:
    record = view.record
    ranks = max(len(record.ranks), 1)
    mean = view.seconds / ranks
    _, most, slowest = view.compute_spread
    _, ours = view.handled
    tiles = [
        ("From Init to Finalize", format_seconds(record.wall_s), "of the longest rank"),
        ("In MPI", format_share(mean, record.wall_s), f"{format_seconds(mean)} a rank in the mean"),
        ("Waiting", format_share(view.waiting, view.seconds),
         "of the time in MPI, at least"),
        ("Imbalance", format_seconds(view.imbalance),
         f"rank {slowest} computes {format_seconds(most)}"),
        ("Sent", format_bytes(view.sent),
         f"{format_share(view.crossing, view.sent)} between nodes"),
        ("haichi can take", format_share(ours, view.seconds), "of the time in MPI"),
    ]  # fmt: skip
    boxes = [
        tag("div", tag("dt", name), tag("dd", figure, cls="figure"), tag("dd", more, cls="detail"))
        for name, figure, more in tiles
    ]
    return tag("dl", boxes, cls="tiles")


HEAD = [f"#{heading}" for heading in SUMS]


def _time(view: View) -> Markup:
    rows: list[list[Child]] = [
        [
            each.name,
            *cells(view, each),
            *spare(each),
            tag("span", "can take part", cls="badge ours") if each.handled else "",
        ]
        for each in view.functions[:ROWS]
    ]
    head = ["function", *HEAD, *(f"#{heading}" for heading in SPARE), "haichi"]
    intro = "At its least: if each call had taken what the shortest of its kind took."
    return tag(
        "section",
        tag("h2", "Time by function"),
        pictures.functions(view),
        tag("p", intro, cls="soft"),
        table(head, rows),
        _left(len(view.functions)),
        [tag("p", line) for line in handled(view)],
    )


def _left(count: int) -> Markup | None:
    if count <= ROWS:
        return None
    return tag("p", f"{count - ROWS} more have less time.", cls="soft")


def _sizes(view: View) -> Markup:
    rows: list[list[Child]] = [
        [each.name, format_bytes(size), *cells(view, each)] for each, size in view.sizes[:ROWS]
    ]
    return tag(
        "section",
        tag("h2", "Time by size"),
        table(["function", "#bytes", *HEAD], rows),
        _left(len(view.sizes)),
    )


def _places(view: View) -> Markup:
    rows: list[list[Child]] = [[each.name, *cells(view, each)] for each in view.places[:ROWS]]
    return tag(
        "section",
        tag("h2", "Time by place of the program"),
        table(["called from", *HEAD], rows),
        _left(len(view.places)),
    )


def _traffic(view: View) -> Markup:
    words = "Messages and one-sided accesses of the program, by who sent or accessed."
    parts: list[Child] = [tag("p", words, cls="soft")]
    if len(view.record.node_names) > 1:
        parts += [tag("h3", "Node to node"), pictures.node_matrix(view)]
    ranks = pictures.rank_matrix(view)
    if ranks:
        parts += [tag("h3", "Rank to rank"), ranks]
    return tag("section", tag("h2", "Who sends to whom"), parts)


def _ranks(view: View) -> Markup:
    lines: Sequence[str] = balance(view)
    return tag(
        "section",
        tag("h2", "Imbalance and waiting"),
        [tag("p", line) for line in lines],
        pictures.ranks(view),
    )
