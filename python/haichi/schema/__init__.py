"""The JSON Schemas of haichi's forms, and their reference, made from the pydantic models.

`python -m haichi.schema` writes `<form>.schema.json` beside this file and docs/guide/formats.md.
A test fails while they are not what the models say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict, cast

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode

from haichi.advise.model import AdviceList
from haichi.compare.model import Comparison
from haichi.export.model import Decisions
from haichi.figures.model import Measurement
from haichi.fit.model import Profile
from haichi.paths import ROOT
from haichi.predict.model import Prediction
from haichi.record.model import Recorded
from haichi.record.replay import Replay
from haichi.record.usage import Usage
from haichi.report.model import Report
from haichi.report.placement import Placement
from haichi.report.summary import Summary
from haichi.samples.health import Health
from haichi.samples.model import Samples
from haichi.simulation import Machine, Schedule, Simulation

Definition = TypedDict(
    "Definition",
    {
        "$schema": str,
        "$defs": "dict[str, Definition]",
        "$ref": str,
        "title": str,
        "description": str,
        "type": str,
        "const": str,
        "enum": list[str],
        "minimum": float,
        "anyOf": "list[Definition]",
        "items": "Definition",
        "prefixItems": "list[Definition]",
        "properties": "dict[str, Definition]",
        "required": list[str],
        "additionalProperties": "Definition",
    },
    total=False,
)
"""A JSON Schema, as far as it is read here."""

FOLDER = Path(__file__).parent
REFERENCE = ROOT / "docs" / "guide" / "formats.md"

# Every form: its name, its model, and who writes and reads it.
FORMS: tuple[tuple[str, type[BaseModel], str], ...] = (
    (
        "haichi.report/1",
        Report,
        "Written at MPI_Finalize to the file that `HAICHI_REPORT` names; read by `haichi report`.",
    ),
    (
        "haichi.placement/1",
        Placement,
        "Printed by `haichi where --json`, read from the file that `HAICHI_PLACEMENT` names, and a "
        "part of every run report. Names of nodes and their order are free in a file that is read; "
        "unknown fields are refused there, since they are slips of the pen.",
    ),
    (
        "haichi.summary/1",
        Summary,
        "Printed by `haichi report --json`: the figures of one or more runs.",
    ),
    (
        "haichi.decisions/1",
        Decisions,
        "Written to and read from the folder that `collectives.decisions` names; read by `haichi "
        "export`.",
    ),
    ("haichi.measure/1", Measurement, "Written by `haichi figures` and `haichi demo`."),
    (
        "haichi.samples/1",
        Samples,
        "Written by `haichi measure` as it goes, read by its `--resume`. JSON lines; the schema is "
        "that of the object `head`, `records` with the first line and the list of all others.",
    ),
    (
        "haichi.comparison/1",
        Comparison,
        "Printed by `haichi compare A B --json`: two sets of samples, point by point.",
    ),
    (
        "haichi.health/1",
        Health,
        "Written by `haichi measure --health --out FILE`.",
    ),
    (
        "haichi.machine/1",
        Machine,
        "Read by `haichi simulate --machine` and from the file that `HAICHI_MACHINE` names, and a "
        "part of every simulation. A field that is absent has the default that "
        "docs/guide/simulation.md gives; unknown fields are refused.",
    ),
    (
        "haichi.machine/2",
        Profile,
        "Written by `haichi fit`, read wherever `haichi.machine/1` is: a machine with where each "
        "number comes from, and the curves behind it. A number that could not be measured is left "
        "out. Recorded ones are in `machines/`.",
    ),
    (
        "haichi.record/1",
        Recorded,
        "Written by `haichi run --record` at MPI_Finalize; read by `haichi record`, `haichi "
        "predict`, `haichi replay` and `haichi advise`. JSON lines; the schema is that of the "
        "object `head`, `records` with the first line and the list of all others.",
    ),
    (
        "haichi.replay/1",
        Replay,
        "Printed by `haichi replay --json`: a record's calls made again, recorded beside replayed.",
    ),
    (
        "haichi.usage/1",
        Usage,
        "Printed by `haichi record --json`: the sums of a record.",
    ),
    (
        "haichi.prediction/1",
        Prediction,
        "Printed by `haichi predict --json`: what a recorded program would take on a machine.",
    ),
    (
        "haichi.advice/1",
        AdviceList,
        "Printed by `haichi advise --json`: what would make a recorded program faster.",
    ),
    (
        "haichi.simulation/1",
        Simulation,
        "Printed by `haichi simulate --json`.",
    ),
    (
        "haichi.schedule/1",
        Schedule,
        "Written by `haichi simulate --record`, read by `haichi simulate schedule`. JSON lines: "
        "the head, then a line for each step. The schema is that of the object `head`, `steps` "
        "with the first line and the list of all others.",
    ),
)

# Forms that only Python writes: every field is there, those that are computed too.
WRITTEN_HERE = (
    "haichi.summary/1",
    "haichi.measure/1",
    "haichi.comparison/1",
    "haichi.usage/1",
    "haichi.prediction/1",
    "haichi.advice/1",
)

HEAD = """# Formats

Everything that haichi writes is JSON whose field `schema` gives the form and its major version.
Within a major version a form only grows: a reader ignores fields that it does not know. A change of
meaning is a new major version, which older readers refuse in one line. Sizes are bytes. Times are
seconds, or microseconds where a field's name ends in `_us`. Ranks count from 0.

The JSON Schemas are in `python/haichi/schema/`. They and this page are made from the models in
`python/haichi/` by `python -m haichi.schema`.

The trace that `haichi report --perfetto` writes is in the Chrome trace event format: a node is a
process (`pid` is 1 + node), a rank is a thread (`tid` is 1,000,000 + rank), a call is a complete
event of category `call` and each of its phases one of category `phase` inside it, with `cycle` and
`bytes` as arguments.
"""


def schema_file(form: str) -> Path:
    """Where the JSON Schema of a form lies: `haichi.report/1` is `haichi.report.1.schema.json`."""
    return FOLDER / f"{form.replace('/', '.')}.schema.json"


def schema(form: str, model: type[BaseModel]) -> Definition:
    """The JSON Schema (2020-12) of a form."""
    mode: JsonSchemaMode = "serialization" if form in WRITTEN_HERE else "validation"
    made = model.model_json_schema(by_alias=True, mode=mode)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": form}
    rest = {key: value for key, value in made.items() if key != "title"}
    return cast(Definition, head | rest)


def generated() -> dict[Path, str]:
    """Every generated file and what should be in it."""
    files = {
        schema_file(form): json.dumps(schema(form, model), indent=1, ensure_ascii=False) + "\n"
        for form, model, _ in FORMS
    }
    return files | {REFERENCE: reference()}


def reference() -> str:
    """The page docs/guide/formats.md."""
    parts, described = [HEAD], {model.__name__ for _, model, _ in FORMS}
    for form, model, use in FORMS:
        made = schema(form, model)
        parts.append(f"\n## {form}\n\n{use}\n\n")
        parts += _object(model.__name__, made)
        for name in _mentioned(made, made.get("$defs", {})):
            if name not in described:
                described.add(name)
                parts += _object(name, made["$defs"][name])
    return "".join(parts)


def _mentioned(value: object, definitions: dict[str, Definition]) -> Iterator[str]:
    """Names of the objects that a schema refers to, in the order of its fields, depth first."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key == "$ref":
                name = part.rpartition("/")[2]
                yield name
                yield from _mentioned(definitions[name], definitions)
            elif key != "$defs":
                yield from _mentioned(part, definitions)
    elif isinstance(value, list):
        for part in value:
            yield from _mentioned(part, definitions)


def _object(name: str, definition: Definition) -> Iterator[str]:
    """One object as a heading, its description, and a table of its fields."""
    yield f"### {name}\n\n"
    if "description" in definition:
        yield " ".join(definition["description"].split()) + "\n\n"
    if "prefixItems" in definition:
        yield "| item | type | meaning |\n|---|---|---|\n"
        for item in definition["prefixItems"]:
            name = item["title"].lower().replace(" ", "_")
            yield f"| `{name}` | {_type(item)} | {_cell(item.get('description', ''))} |\n"
        yield "\n"
        return
    required = definition.get("required", [])
    yield "| field | type | meaning |\n|---|---|---|\n"
    for field, value in definition["properties"].items():
        meaning = value.get("description", "")
        if field not in required:
            meaning += " May be absent."
        yield f"| `{field}` | {_type(value)} | {_cell(meaning)} |\n"
    yield "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _type(value: Definition) -> str:
    """A JSON Schema type in words."""
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in value:
        return f'`"{value["const"]}"`'
    if "enum" in value:
        return " or ".join(f"`{word}`" for word in value["enum"])
    if "anyOf" in value:
        return " or ".join(_type(one) for one in value["anyOf"])
    if value.get("type") == "array":
        parts = value.get("prefixItems") or [value["items"]]
        return "list of " + ", ".join(_type(part) for part in parts)
    if value.get("type") == "object" and "additionalProperties" in value:
        return f"object, key to {_type(value['additionalProperties'])}"
    bound = " ≥ 0" if value.get("minimum") == 0 else ""
    return f"{value.get('type', 'any')}{bound}"
