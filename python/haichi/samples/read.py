"""Reading what `haichi measure` wrote. Whatever is wrong with a file becomes one line that says
where."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from haichi.report.load import ReportError, first_problem
from haichi.samples.model import FORM, Description, End, Launch, Left, Point, Switch
from haichi.units import printable

HEAD_BYTES = 4096  # of a file, in which its form stands
_KINDS: dict[str, type[BaseModel]] = {
    "launch": Launch,
    "measurement": Description,
    "point": Point,
    "left": Left,
    "switch": Switch,
    "end": End,
}


@dataclass
class SamplesFile:
    """What is in one samples file, by kind, each in the file's order."""

    path: Path
    launches: list[Launch] = field(default_factory=list)
    descriptions: dict[str, Description] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list)
    """Those that are measured as without `--buffers` and `--spacing`."""
    variants: list[Point] = field(default_factory=list)
    """All other points."""
    left: list[Left] = field(default_factory=list)
    switches: list[Switch] = field(default_factory=list)
    by_number: dict[int, Launch] = field(default_factory=dict)
    """The launches, by what their records call them."""
    cut: bool = False
    """Whether the last line is not whole, as a kill leaves it; it is left out."""

    def launch_of(self, point: Point | Left | Switch) -> Launch:
        """The launch that a record is of.

        Raises:
            ReportError: the file has no such launch.
        """
        if launch := self.by_number.get(point.launch):
            return launch
        raise ReportError(
            f"{printable(str(self.path))}: {point.name} is of launch {point.launch}, which the "
            "file does not have; give whole files that haichi measure wrote"
        )

    def curves(self) -> dict[tuple[str, str], list[Point]]:
        """The points of each measurement and placement class, by launch and size."""
        found: dict[tuple[str, str], list[Point]] = defaultdict(list)
        for point in self.points:
            found[point.name, point.place].append(point)
        for points in found.values():
            points.sort(key=lambda point: (point.launch, point.bytes))
        return dict(found)


def head(path: Path) -> bytes:
    """The first bytes of a file, among which its form stands; none of one that can't be read."""
    try:
        with path.open("rb") as file:
            return file.read(HEAD_BYTES).lstrip()
    except OSError:
        return b""


def is_samples(path: Path) -> bool:
    """Whether a file seems to be of samples; False also for one that can't be read."""
    first, _, _ = head(path).partition(b"\n")
    return first.startswith(b"{") and b'"haichi.samples/' in first


def read(path: Path) -> SamplesFile:
    """A samples file, also what a killed run has left of one.

    Raises:
        ReportError: it cannot be read, is empty, is of another form or version, or a line of it is
            damaged; the message says which.
    """
    found = SamplesFile(path)
    for number, line in _lines(found):
        where = f"{printable(str(path))}:{number}"
        document = _document(where, line)
        if number == 1:
            _check_form(str(path), document)
        kind = document.get("kind")
        if not isinstance(kind, str):
            raise ReportError(f"{where}: has no kind, so it is no record of {FORM}")
        if kind not in _KINDS:
            continue  # of a newer haichi: a form only grows
        try:
            _add(found, _KINDS[kind].model_validate(document))
        except ValidationError as error:
            raise ReportError(f"{where}: does not follow {FORM}: {first_problem(error)}") from None
    return found


def _lines(found: SamplesFile) -> Iterator[tuple[int, bytes]]:
    """Whole lines with their numbers; notes if the last one is cut off."""
    name = printable(str(found.path))
    try:
        data = found.path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReportError(f"{name}: {reason}; give a file that haichi measure wrote") from None
    lines = data.split(b"\n")
    # A writer ends each line, so what follows the last end is nothing, or what a kill has left.
    found.cut = bool(lines.pop().strip())
    if not lines:
        raise ReportError(
            f"{name}: {'has no whole line' if found.cut else 'is empty'}: the measurement ended "
            "before its first point; repeat it"
        )
    yield from enumerate(lines, 1)


def _document(where: str, line: bytes) -> dict[str, object]:
    try:
        document: object = from_json(line, allow_inf_nan=False)
    except ValueError as error:
        raise ReportError(
            f"{where}: is not JSON ({error}); the file is damaged: copy it again, or leave out "
            "that line"
        ) from None
    if not isinstance(document, dict):
        raise ReportError(f"{where}: is no JSON object, so it is no record of {FORM}")
    return document


def _check_form(path: str, first: dict[str, object]) -> None:
    form = first.get("schema")
    if form == FORM:
        return
    name = printable(path)
    if isinstance(form, str) and form.startswith(FORM.partition("/")[0] + "/"):
        raise ReportError(
            f"{name}: is {printable(form)}, and this haichi reads {FORM}; use the haichi that "
            "wrote it, or a newer one"
        )
    what = printable(form) if isinstance(form, str) else "JSON without a schema"
    raise ReportError(f"{name}: is {what}, not {FORM}; give a file that haichi measure wrote")


def _add(found: SamplesFile, record: BaseModel) -> None:
    """Keeps a record. That a launch came to its end is checked for its form only."""
    if isinstance(record, Launch):
        found.launches.append(record)
        found.by_number.setdefault(record.launch, record)
    elif isinstance(record, Description):
        found.descriptions[record.name] = record
    elif isinstance(record, Point):
        (found.points if record.usual else found.variants).append(record)
    elif isinstance(record, Left):
        found.left.append(record)
    elif isinstance(record, Switch):
        found.switches.append(record)
