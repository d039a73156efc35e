"""`haichi fit` on what `haichi measure` really measured."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import mpis
import pytest
from measure_support import measurable, measure
from mpis import ROOT, Mpi

SCHEMA = ROOT / "python" / "haichi" / "schema" / "haichi.machine.2.schema.json"
WORDS = "ping-pong call-isend call-irecv call-recv stream memory-copy barrier alltoall"
FILES = "file-write-at file-read-at file-write-at-atomic file-open file-close"


@pytest.fixture(params=mpis.slow_but(["mpich-4.0.2"], mpis.all_mpis()[:2]), ids=str)
def stock(request: pytest.FixtureRequest) -> Mpi:
    """The distribution's MPIs."""
    return measurable(request.param)


@pytest.mark.slow
def test_a_profile_of_this_machine(stock: Mpi, tmp_path: Path) -> None:
    files = [tmp_path / f"s{number}.jsonl" for number in (1, 2)]
    for file in files:
        words = [*WORDS.split(), *FILES.split(), "--budget", "8", "--directory", tmp_path]
        # A machine with one core is no reference, but this asks for the form only.
        measure(stock, 2, *words, "--reference", "--out", file, check=True)
    out = tmp_path / "machine.json"
    # Two launches on a busy machine may be far apart, of which fit would refuse both.
    done = mpis.haichi_command("fit", "--least", *files, "-o", out)
    assert done.returncode == 0, done.stderr
    made = json.loads(out.read_text())
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(made)
    assert made["made"]["launches"] == 2
    numbers = {name: number["value"] for name, number in made["numbers"].items()}
    assert {"send_ns", "receive_ns", "match_ns", "local_latency_ns", "copy_gbs"} <= set(numbers)
    assert {"client_gbs", "request_us"} <= set(numbers)
    curve, stream = made["curves"]
    assert (curve["name"], stream["name"]) == ("ping-pong", "stream")
    for piece in curve["pieces"]:
        assert piece["residual"] >= 0
    assert [model["place"] for model in made["loggp"]] == [curve["place"]]
    names = [each["name"] for each in made["collectives"]]
    assert names[:2] == ["alltoall", "barrier"]
    # So busy may the machine be that the budget is over before a file was opened often enough.
    refused = {name for name in FILES.split() if f"{name} at" in done.stdout}
    rows = (json.loads(line) for file in files for line in file.read_text().splitlines())
    measured = {row["name"] for row in rows if row["kind"] == "point"}
    # What is refused of some sizes has the others.
    assert {*FILES.split()} & measured - refused <= {*names[2:]} <= {*FILES.split()} & measured
    assert {each["ranks"] for each in made["collectives"]} == {2}
    assert "file-open" in refused or made["storage"][0]["open_s"] > 0
