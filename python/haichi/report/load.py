"""Reading what runs wrote: whatever is wrong with a file becomes one line that says so."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar, get_args

from pydantic import ValidationError
from pydantic_core import from_json

from haichi.mpi import Missing
from haichi.report.logs import logs_for, merged
from haichi.report.model import Report
from haichi.report.placement import Form
from haichi.units import printable

AnyForm = TypeVar("AnyForm", bound=Form)


class ReportError(Exception):
    """A file that cannot be read or written; the message is one line: what, where, what to do."""


def load(path: Path) -> Report:
    """The run report in `path`, or of the logs that a run has left in its place.

    Raises:
        ReportError: it cannot be read, is not JSON, is cut off, is of another form or of another
            major version, or contradicts itself.
    """
    return load_form(path, Report)


def load_form(path: Path, *models: type[AnyForm]) -> AnyForm:
    """The document in `path`, which has the form of one of the models.

    Raises:
        ReportError: as load().
    """
    name = printable(str(path))
    document = _parse(name, _read(name, path))
    form, model = _form_of(name, document, models)
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise ReportError(f"{name}: does not follow {form}: {first_problem(error)}") from None


def _read(name: str, path: Path) -> bytes:
    try:
        logs = logs_for(path)
        return merged(logs).encode() if logs else path.read_bytes()
    except Missing as error:
        raise ReportError(f"{name}: of a run that was cut short: {error}") from None
    except OSError as error:
        raise ReportError(
            f"{name}: {(error.strerror or str(error)).lower()}; a run writes a report when "
            "HAICHI_REPORT names a file"
        ) from None


def _parse(name: str, data: bytes) -> object:
    if not data.strip():
        raise ReportError(f"{name}: is empty; the run ended before MPI_Finalize, so repeat it")
    try:
        document: object = from_json(data, allow_inf_nan=False)
        return document
    except ValueError as error:
        text = str(error)
        if text.startswith("EOF while parsing"):
            raise ReportError(f"{name}: is cut off ({text}); write or copy it again") from None
        raise ReportError(f"{name}: is not JSON ({text}); give a file that a run wrote") from None


def _form_of(
    name: str, document: object, models: tuple[type[AnyForm], ...]
) -> tuple[str, type[AnyForm]]:
    known = {get_args(model.model_fields["form"].annotation)[0]: model for model in models}
    form = document.get("schema") if isinstance(document, dict) else None
    if isinstance(form, str) and form in known:
        return form, known[form]
    for family, _, version in (each.partition("/") for each in known):
        if isinstance(form, str) and form.startswith(family + "/"):
            raise ReportError(
                f"{name}: is {printable(form)}, and this haichi reads version {version}; "
                "use the haichi that wrote it, or a newer one"
            )
    what = printable(form) if isinstance(form, str) else "JSON without a schema"
    wanted = " or ".join(known)
    raise ReportError(f"{name}: is {what}, not {wanted}; give a file that a run wrote")


def first_problem(error: ValidationError) -> str:
    """Where a document first differs from its form, and how."""
    problems = error.errors(include_url=False)
    first = problems[0]
    where = ""
    for part in first["loc"]:
        where += f"[{part}]" if isinstance(part, int) else f".{part}" if where else str(part)
    message = first["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    got = first.get("input")
    if first["type"] != "missing" and isinstance(got, (str, int, float)):
        message += f", not {printable(repr(got))[:60]}"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{where + ': ' if where else ''}{message}{more}"
