"""Reading what `haichi run --record` wrote. Whatever is wrong with a file becomes one line that
says where; of what is missing a line each is kept, and what is there is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import from_json

from haichi.mpi import Missing
from haichi.record.model import (
    FORM,
    Communicator,
    Line,
    RankLine,
    RecordedCall,
    RecordedFile,
    RecordEnd,
    RecordHead,
    SequenceLine,
    Site,
    TrafficLine,
)
from haichi.record.parts import folder_for, merged
from haichi.report.load import ReportError, first_problem
from haichi.report.placement import Form
from haichi.units import plural, printable

ADVICE = "give a file that haichi run --record wrote"
Known = RecordHead | Line
_KINDS: dict[str, type[Known]] = {
    "record": RecordHead,
    "communicator": Communicator,
    "file": RecordedFile,
    "site": Site,
    "rank": RankLine,
    "call": RecordedCall,
    "traffic": TrafficLine,
    "sequence": SequenceLine,
    "end": RecordEnd,
}
AnyForm = TypeVar("AnyForm", bound=Form)


@dataclass(frozen=True)
class Key:
    """Calls of one kind, and the ranks that made them."""

    call: RecordedCall
    ranks: tuple[int, ...]

    @property
    def count(self) -> int:
        """Calls of all its ranks."""
        return self.call.count * len(self.ranks)

    @property
    def total_s(self) -> float:
        """Of all its ranks."""
        return self.call.total_s * len(self.ranks)

    @property
    def name(self) -> str:
        """The function without `MPI_` and without `_c`."""
        return plain_name(self.call.function)


def plain_name(function: str) -> str:
    """`MPI_Send_c` becomes `Send`."""
    return function.removeprefix("MPI_").removesuffix("_c")


@dataclass
class Record:
    """What is in a record."""

    path: Path
    head: RecordHead
    communicators: dict[int, Communicator] = field(default_factory=dict)
    sites: dict[int, Site] = field(default_factory=dict)
    ranks: dict[int, RankLine] = field(default_factory=dict)
    keys: list[Key] = field(default_factory=list)
    traffic: list[TrafficLine] = field(default_factory=list)
    sequences: dict[int, SequenceLine] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """In a line each: what is missing or does not agree."""
    cut: bool = False
    """Whether the end is missing."""

    @property
    def program(self) -> str:
        """The command line."""
        return printable(" ".join(self.head.program)) or "a program without a name"

    @cached_property
    def wall_s(self) -> float:
        """From MPI_Init to MPI_Finalize, of the longest rank."""
        return max((line.wall_s for line in self.ranks.values()), default=0.0)

    @cached_property
    def node_of_rank(self) -> list[int]:
        """Node of each rank; all on one if the record has no placement."""
        placement = self.head.placement
        return placement.node_of_rank() if placement else [0] * self.head.ranks

    @cached_property
    def node_names(self) -> list[str]:
        """Of the nodes of the job."""
        placement = self.head.placement
        if placement is None:
            return ["node0"]
        return [printable(placement.name_of(node)) for node in range(len(placement.nodes))]

    @cached_property
    def members(self) -> dict[int, tuple[int, ...]]:
        """The world ranks of each communicator."""
        return {each.id: tuple(ranks_of(each.members)) for each in self.communicators.values()}

    def nodes_of(self, comm: int | None) -> tuple[int, int]:
        """How many ranks a communicator has, and on how many nodes; those of the job if it is not
        known."""
        ranks = self.members.get(comm, ()) if comm is not None else ()
        if not ranks:
            return self.head.ranks, len(self.node_names)
        return len(ranks), len({self.node_of_rank[rank] for rank in ranks})

    def calls_without_key(self) -> int:
        """Calls that only the sums of their ranks have."""
        return sum(each.calls_without_key for each in self.ranks.values())


def ranks_of(text: str) -> list[int]:
    """Ranks of a list in the order that it has them, such as `4-7,0-3`.

    Raises:
        ValueError: it is no such list.
    """
    ranks: list[int] = []
    for part in text.split(",") if text else []:
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError(f'"{text}" is not a list of ranks such as 0-3,8')
        begin, end = int(first), int(last if dash else first)
        if end < begin or end - begin >= 1 << 24:
            raise ValueError(f'"{text}" is not a list of ranks such as 0-3,8')
        ranks.extend(range(begin, end + 1))
    return ranks


def read(path: Path) -> Record:
    """A record, also what a killed run has left of one.

    Raises:
        ReportError: it cannot be read, is empty, is of another form or version, or a line of it is
            damaged; the message says which.
    """
    name = printable(str(path))
    data = _bytes(name, path)
    whole, _, rest = data.rpartition(b"\n")
    lines = whole.split(b"\n") if whole else []
    if not lines:
        raise ReportError(
            f"{name}: {'has no whole line' if rest.strip() else 'is empty'}: the run ended before "
            "it wrote its record; repeat it"
        )
    record = Record(path, _head(name, lines[0]))
    ended = _fill(record, name, lines[1:])
    record.cut = ended is None or bool(rest.strip())
    record.notes += _disagreements(record, ended)
    return record


def _bytes(name: str, path: Path) -> bytes:
    try:
        folder = folder_for(path)
        return merged(folder).encode() if folder else path.read_bytes()
    except Missing as error:
        raise ReportError(f"{name}: of a run that was cut short: {error}") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReportError(f"{name}: {reason}; {ADVICE}") from None


def _head(name: str, line: bytes) -> RecordHead:
    document = _document(f"{name}:1", line, f"is no {FORM}: {ADVICE}")
    form = document.get("schema")
    if form == FORM:
        return _validated(f"{name}:1", RecordHead, document)
    if isinstance(form, str) and form.startswith(FORM.partition("/")[0] + "/"):
        raise ReportError(
            f"{name}: is {printable(form)}, and this haichi reads {FORM}; use the haichi that "
            "wrote it, or a newer one"
        )
    what = printable(form) if isinstance(form, str) else "JSON without a schema"
    raise ReportError(f"{name}: is {what}, not {FORM}; {ADVICE}")


def _document(where: str, line: bytes, no_json: str = "") -> dict[str, object]:
    try:
        document: object = from_json(line, allow_inf_nan=False)
    except ValueError as error:
        raise ReportError(
            f"{where}: {no_json or f'is not JSON ({error}); the file is damaged: copy it again'}"
        ) from None
    if not isinstance(document, dict):
        raise ReportError(f"{where}: is no JSON object, so it is no line of {FORM}")
    return document


def _validated(where: str, model: type[AnyForm], document: dict[str, object]) -> AnyForm:
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise ReportError(f"{where}: does not follow {FORM}: {first_problem(error)}") from None


def _fill(record: Record, name: str, lines: list[bytes]) -> RecordEnd | None:
    """Takes in all lines but the first; returns the last one, if it is there."""
    ended = None
    for number, line in enumerate(lines, 2):
        where = f"{name}:{number}"
        document = _document(where, line)
        kind = document.get("kind")
        model = _KINDS.get(kind) if isinstance(kind, str) else None
        if not isinstance(kind, str):
            raise ReportError(f"{where}: has no kind, so it is no line of {FORM}")
        if model is None:
            continue  # of a newer haichi: a form only grows
        each = _validated(where, model, document)
        if isinstance(each, RecordEnd):
            ended = each
        else:
            _add(record, where, each)
    return ended


def _add(record: Record, where: str, each: Known) -> None:
    """Takes in a line. Files are checked for their form only."""
    if isinstance(each, RecordHead):
        raise ReportError(f"{where}: a second record begins; give the records one by one")
    if isinstance(each, Communicator):
        _ranks(record, where, each.members)
        record.communicators[each.id] = each
    elif isinstance(each, Site):
        record.sites[each.id] = each
    elif isinstance(each, RankLine):
        _known(record, where, [each.rank])
        if each.rank in record.ranks:
            raise ReportError(f"{where}: rank {each.rank} has a second line; {ADVICE}")
        record.ranks[each.rank] = each
    elif isinstance(each, RecordedCall):
        record.keys.append(Key(each, tuple(_ranks(record, where, each.ranks))))
    elif isinstance(each, TrafficLine):
        _known(record, where, [each.rank, *each.to])
        record.traffic.append(each)
    elif isinstance(each, SequenceLine):
        _known(record, where, [each.rank])
        record.sequences[each.rank] = each


def _ranks(record: Record, where: str, text: str) -> list[int]:
    try:
        ranks = ranks_of(text)
    except ValueError as error:
        raise ReportError(f"{where}: {error}") from None
    _known(record, where, ranks)
    return ranks


def _known(record: Record, where: str, ranks: Iterable[int]) -> None:
    most = max(ranks, default=0)
    if most >= record.head.ranks:
        raise ReportError(
            f"{where}: names rank {most}, and the job has {record.head.ranks}: its parts are of "
            "different jobs; record it again"
        )


def _disagreements(record: Record, ended: RecordEnd | None) -> Iterator[str]:
    """What is missing, and what the ranks tell differently, in a line each."""
    missing = [rank for rank in range(record.head.ranks) if rank not in record.ranks]
    if record.cut:
        yield (
            "the record is cut off: its end is missing, and maybe more lines; what is shown is of "
            "what is there"
        )
    if missing:
        yield (
            f"{plural(len(missing), 'rank')} of {record.head.ranks} left nothing "
            f"({_some(missing)}): sums are without them"
        )
    if ended and ended.ranks is not None and ended.ranks != len(record.ranks):
        yield (
            f"{plural(ended.ranks, 'rank')} wrote, and {len(record.ranks)} are there: the ranks "
            "disagree, or lines were lost"
        )
    placement = record.head.placement
    if placement is None:
        yield "the record does not tell which rank was on which node: all are taken for one node"
    elif len(placement.node_of_rank()) != record.head.ranks:
        raise ReportError(
            f"{printable(str(record.path))}: the placement has {len(placement.node_of_rank())} "
            f"ranks, the job {record.head.ranks}; record it again"
        )
    early = [rank for rank, line in record.ranks.items() if not line.finalized]
    if early:
        yield f"{_some(early)} did not come to MPI_Finalize: their numbers end where they ended"
    full = [rank for rank, line in record.ranks.items() if line.full]
    if full:
        lost = record.calls_without_key()
        yield (
            f"{_some(full)} had more kinds of calls than room: {plural(lost, 'call')} only in sums"
        )
    yield from _collectives(record)


def _some(ranks: list[int]) -> str:
    shown = ", ".join(map(str, sorted(ranks)[:8]))
    word = "rank" if len(ranks) == 1 else "ranks"
    return f"{word} {shown}{' …' if len(ranks) > 8 else ''}"


# Every member calls them alike; those with v have sizes of their own and are compared by number.
SYMMETRIC = frozenset(
    {
        "Allgather",
        "Allgatherv",
        "Allreduce",
        "Alltoall",
        "Alltoallv",
        "Alltoallw",
        "Barrier",
        "Reduce_scatter",
        "Reduce_scatter_block",
    }
)


def _collectives(record: Record) -> Iterator[str]:
    """Collectives that members of one communicator made a different number of times."""
    counts: dict[tuple[int, str], Counter[int]] = {}
    for key in record.keys:
        if key.name in SYMMETRIC and key.call.comm is not None:
            of_ranks = counts.setdefault((key.call.comm, key.name), Counter())
            for rank in key.ranks:
                of_ranks[rank] += key.call.count
    for (comm, function), of_ranks in sorted(counts.items()):
        here = [rank for rank in record.members.get(comm, ()) if rank in record.ranks]
        told = {rank: of_ranks[rank] for rank in here}
        if len(set(told.values())) > 1 and record.calls_without_key() == 0:
            low, high = min(told, key=told.__getitem__), max(told, key=told.__getitem__)
            yield (
                f"ranks disagree about MPI_{function} on communicator {comm}: rank {low} made "
                f"{told[low]}, rank {high} {told[high]}; its waiting is not told"
            )
