"""Every file under machines/ fits the form that it says it has, by model and by schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import jsonschema
import pytest
from haichi.fit.model import NumberName, Profile
from haichi.paths import ROOT
from haichi.schema import schema_file
from haichi.simulation import Machine
from pydantic import ValidationError

MACHINES = sorted((ROOT / "machines").glob("*.json"))


@pytest.mark.parametrize("path", MACHINES, ids=lambda path: path.name)
def test_a_machine_fits_its_form(path: Path) -> None:
    document = json.loads(path.read_text())
    assert document["schema"] == "haichi.machine/2"
    Profile.model_validate(document)
    schema = json.loads(schema_file("haichi.machine/2").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)


def test_every_machine_is_in_the_table() -> None:
    table = (ROOT / "machines" / "README.md").read_text()
    assert MACHINES
    for path in MACHINES:
        assert f"| {path.name} |" in table


def test_the_numbers_are_those_of_a_machine() -> None:
    numbers = [name for name in Machine.model_fields if name not in ("form", "network", "seats")]
    assert sorted(get_args(NumberName)) == sorted(numbers)


def test_what_belongs_together_has_one_length() -> None:
    document = json.loads(MACHINES[0].read_text())
    document["curves"][0]["seconds"].pop()
    with pytest.raises(ValidationError, match="differ in length"):
        Profile.model_validate(document)
