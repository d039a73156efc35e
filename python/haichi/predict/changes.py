"""What is to be different from the recorded run: where its ranks are, how many there are, how
all-to-alls are carried out, and whether haichi is underneath."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError

from haichi import paths, programs
from haichi.mpi import Missing
from haichi.predict.placed import placed
from haichi.predict.places import dealt_out, in_blocks
from haichi.predict.scaled import scaled
from haichi.record.read import Record
from haichi.report.load import ReportError
from haichi.report.placement import Node, Placement
from haichi.units import plural, printable

HAICHI = "haichi"
BLOCKS, ROUND_ROBIN = "BK", "RR"
ORDERS = ("rank", "pairwise", "nd_shift", "nd_rank_shift")


@dataclass(frozen=True)
class Wish:
    """As the command line has it; empty: as it was recorded."""

    placement: str = ""
    """A file, or BK or RR."""
    ranks: int | None = None
    algorithm: str = ""
    order: str = ""
    without: str = ""


@dataclass(frozen=True)
class Changed:
    """A record as it is to be predicted."""

    record: Record
    was: Record
    """As it was recorded."""
    lines: tuple[str, ...] = ()
    """What is different, in a line each."""
    algorithm: str = ""
    """Of all-to-alls, as `haichi simulate` has it; empty: the MPI library's."""
    without_haichi: bool = False


def unchanged(record: Record) -> Changed:
    """As it was recorded."""
    return Changed(record, record)


def change(record: Record, wish: Wish) -> Changed:
    """The record as it is wanted.

    Raises:
        ReportError: it cannot be had; the message says why.
        Missing: haichi is not built.
    """
    lines = []
    made = record
    ranks = wish.ranks or record.head.ranks
    there = _placement(record, wish.placement, ranks) if wish.placement else None
    if ranks != record.head.ranks:
        made = scaled(made, ranks, there)
        lines.append(
            f"{plural(ranks, 'rank')} in place of {record.head.ranks}, each with the calls, bytes "
            "and computing of one that was recorded"
        )
    elif there is not None:
        made = placed(made, there)
    if there is not None:
        lines.append(f"placement: {printable(wish.placement)}")
    algorithm = _algorithm(wish)
    if algorithm:
        lines.append(f"all-to-alls by {algorithm}")
    if wish.without:
        if wish.without != HAICHI:
            raise ReportError(f"--without {printable(wish.without)}: only haichi can be left out")
        lines.append("without haichi: by the MPI library alone, as the profile was measured")
    return Changed(made, record, tuple(lines), algorithm, bool(wish.without))


def _algorithm(wish: Wish) -> str:
    """An order is that of the messages of an exchange in which each rank sends to each."""
    if not wish.order:
        return wish.algorithm
    if wish.algorithm:
        raise ReportError(
            "--order: is of all-to-alls in which each rank sends to each, spread(ORDER); "
            "--algorithm names another one, so give one of the two"
        )
    if wish.order not in ORDERS:
        raise ReportError(f"--order {printable(wish.order)}: use one of {', '.join(ORDERS)}")
    return f"spread({wish.order})"


def _placement(record: Record, words: str, ranks: int) -> Placement:
    if words in (BLOCKS, ROUND_ROBIN):
        return dealt(record, ranks, words)
    answer = programs.output(paths.program("haichi"), "read-placement", words, str(ranks))
    try:
        return Placement.model_validate_json(answer)
    except ValidationError:
        raise Missing("haichi read-placement: its answer can't be read; build again") from None


def dealt(record: Record, ranks: int, how: str) -> Placement:
    """Ranks on the nodes of the record, each with as many as it had, node after node or dealt out
    one by one."""
    room = [record.node_of_rank.count(node) for node in range(len(record.node_names))]
    if sum(room) != ranks:
        raise ReportError(
            f"--placement {how}: the record has places for {sum(room)} ranks; give a file"
        )
    seats = in_blocks(room) if how == BLOCKS else dealt_out(room)
    return Placement.seated(seats, [Node(name=name, ranks="") for name in record.node_names])
