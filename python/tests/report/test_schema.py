"""The committed JSON Schemas and their reference are what the models say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
import synthetic
from haichi.report.load import load
from haichi.report.summary import summarize
from haichi.schema import FORMS, generated, schema_file

GENERATED = generated()


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.name)
def test_generated_files_are_current(path: Path) -> None:
    says = f"{path} is not current: run python -m haichi.schema"
    assert path.read_text("utf-8") == GENERATED[path], says


@pytest.mark.parametrize("form", [form for form, _, _ in FORMS])
def test_schemas_are_schemas(form: str) -> None:
    schema = json.loads(schema_file(form).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    described = [schema, *schema.get("$defs", {}).values()]
    if form != "haichi.measure/1":
        for one in described:
            for field, value in one.get("properties", {}).items():
                assert value.get("description"), f"{form}: {field} is not described"


def test_a_report_and_its_summary_follow_their_schemas(write: Callable[..., Path]) -> None:
    def check(form: str, document: object) -> None:
        schema = json.loads(schema_file(form).read_text())
        jsonschema.Draft202012Validator(schema).validate(document)

    document = synthetic.report(passed_through=True)
    check("haichi.report/1", document)
    check("haichi.placement/1", document["placement"])
    path = write(document=document)
    _, summary = summarize([path], [load(path)])
    check("haichi.summary/1", json.loads(summary.model_dump_json(by_alias=True)))


def test_the_schema_refuses_what_is_wrong() -> None:
    schema = json.loads(schema_file("haichi.report/1").read_text())
    document = synthetic.report()
    document["ranks"][0]["events"][0].append(0)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate(document)
