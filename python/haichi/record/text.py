"""A record on the terminal: where the time goes, who sends to whom, who waits."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from haichi.record.view import Sum, View
from haichi.report.output import say
from haichi.units import format_bytes, format_seconds, format_share, plural

ROWS = 15  # of a table
SUMS = ("calls", "time", "of MPI", "a call", "most (rank)")
SPARE = ("at its least", "waiting")
MATRIX = 16  # nodes or ranks whose matrix is printed


def print_view(console: Console, view: View) -> None:
    """All of it, in the order in which a reader asks."""
    for line in headline(view):
        say(console, line)
    for note in view.notes:
        say(console, f"note: {note}")
    if view.functions:
        console.print(_functions(view))
        console.print(_sizes(view))
        console.print(_places(view))
    for line in balance(view):
        say(console, line)
    _traffic(console, view)
    for line in handled(view):
        say(console, line)


def headline(view: View) -> list[str]:
    """What ran, where, and how much of it is MPI."""
    record = view.record
    ranks = len(record.ranks)
    lines = [
        f"{record.program}: {plural(record.head.ranks, 'rank')} on "
        f"{plural(len(record.node_names), 'node')}, {record.head.abi or 'an MPI not named'}, "
        f"{record.head.started or 'start not told'}"
    ]
    if ranks and record.wall_s > 0:
        mean = view.seconds / ranks
        share = format_share(mean, record.wall_s)
        if mean > record.wall_s:
            share += ", of its threads together"
        lines.append(
            f"{format_seconds(record.wall_s)} from MPI_Init to MPI_Finalize; in MPI "
            f"{format_seconds(mean)} of each rank in the mean ({share}), "
            f"{plural(view.calls, 'call')} of all ranks"
        )
    elif not view.functions:
        lines.append("no call of MPI is in it")
    return lines


def balance(view: View) -> list[str]:
    """Imbalance and waiting in words."""
    record, lines = view.record, []
    mean, most, rank = view.compute_spread
    if mean > 0:
        lines.append(
            f"computing: {format_seconds(mean)} a rank in the mean, {format_seconds(most)} on rank "
            f"{rank} ({most / mean:.2f} times the mean)"
        )
    if view.waits:
        how = "at least, by who spends least"
        where = "in collectives"
        if record.head.sync:
            how = "in barriers before calls, and until a received message was there"
            where = "in collectives and receives"
        lines.append(
            f"waiting for others {where}: {format_seconds(view.waiting)} of all ranks "
            f"({format_share(view.waiting, view.seconds)} of the time in MPI; {how})"
        )
    elif view.functions:
        lines.append(
            "waiting for others in collectives: not told; record with --sync to have it apart"
        )
    return lines


def handled(view: View) -> list[str]:
    """What haichi can take part in."""
    if not view.functions:
        return []
    calls, seconds = view.handled
    if not calls:
        return ["haichi: none of these calls is one that it carries out"]
    names = [each.name for each in view.functions if each.handled]
    return [
        f"haichi can take part in {plural(calls, 'call')} with "
        f"{format_share(seconds, view.seconds)} of the time in MPI: {', '.join(names)}; whether it "
        "did, the report of a run under it says (HAICHI_REPORT)"
    ]


def _table(title: str, first: str, *more: str) -> Table:
    table = Table(first, title=title, title_justify="left")
    for heading in more:
        table.add_column(heading, justify="right")
    return table


def _left(count: int) -> str:
    return f", the first {ROWS} of {count}" if count > ROWS else ""


def cells(view: View, each: Sum) -> list[str]:
    """What a table has of a sum, below SUMS."""
    rank, most = each.most
    return [
        f"{each.calls}",
        format_seconds(each.seconds),
        format_share(each.seconds, view.seconds),
        format_seconds(each.seconds / max(each.calls, 1)),
        f"{format_seconds(most)} ({rank})",
    ]


def spare(each: Sum) -> list[str]:
    """What a table has of what a function could do without, below SPARE."""
    waiting = f"≥ {format_seconds(each.waiting)}" if each.waiting > 0 else ""
    return [format_seconds(each.least), waiting]


def _functions(view: View) -> Table:
    title = f"By function, all ranks{_left(len(view.functions))}"
    table = _table(title, "function", *SUMS, *SPARE, "haichi")
    for each in view.functions[:ROWS]:
        table.add_row(each.name, *cells(view, each), *spare(each), "can" if each.handled else "")
    return table


def _sizes(view: View) -> Table:
    table = _table(f"By size{_left(len(view.sizes))}", "function", "bytes", *SUMS)
    for each, size in view.sizes[:ROWS]:
        table.add_row(each.name, f"{size}", *cells(view, each))
    return table


def _places(view: View) -> Table:
    title = f"By place of the program{_left(len(view.places))}"
    table = _table(title, "place", *SUMS)
    for each in view.places[:ROWS]:
        table.add_row(each.name, *cells(view, each))
    return table


def _traffic(console: Console, view: View) -> None:
    record = view.record
    if not record.traffic:
        return
    say(
        console,
        f"bytes from rank to rank: {format_bytes(view.sent)}, of these "
        f"{format_bytes(view.crossing)} between nodes ({format_share(view.crossing, view.sent)})",
    )
    count = len(record.node_names)
    if 1 < count <= MATRIX:
        console.print(_matrix("Node to node", record.node_names, view.nodes.tolist()))
    if view.pairs is not None and 1 < record.head.ranks <= MATRIX:
        names = [str(rank) for rank in range(record.head.ranks)]
        console.print(_matrix("Rank to rank", names, view.pairs.tolist()))


def _matrix(title: str, names: Sequence[str], rows: Sequence[Sequence[float]]) -> Table:
    table = _table(title, "from", *(f"to {name}" for name in names))
    for name, row in zip(names, rows, strict=True):
        table.add_row(name, *(format_bytes(size) if size else "" for size in row))
    return table
