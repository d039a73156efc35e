"""Writing a record that was made of another one."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from haichi.record.model import RecordEnd
from haichi.record.read import Record


def text_of_sequences(record: Record) -> str:
    """What prediction by sequence reads of a record: the job, its communicators, ranks and their
    sequences."""
    return "".join(f"{line}\n" for line in _lines(record))


def _lines(record: Record) -> Iterator[str]:
    yield _line(record.head)
    for number in sorted(record.communicators):
        yield _line(record.communicators[number])
    for rank in sorted(record.ranks):
        yield _line(record.ranks[rank])
    for rank in sorted(record.sequences):
        yield _line(record.sequences[rank])
    yield _line(RecordEnd(kind="end", ranks=record.head.ranks, calls=0))


def _line(line: BaseModel) -> str:
    return line.model_dump_json(by_alias=True, exclude_none=True)
