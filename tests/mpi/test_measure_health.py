"""`haichi measure --health` on one node, and what it refuses; on several nodes: tests/lab."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pytest
from measure_support import CANT_WRITE, USAGE, complaints, measurable_openmpi, measure, program
from mpis import ROOT, Mpi

SCHEMA = ROOT / "python" / "haichi" / "schema" / "haichi.health.1.schema.json"
FINE, SLOW, UNKNOWN = 0, 1, 2


@pytest.fixture
def openmpi() -> Mpi:
    return measurable_openmpi()


def health(mpi: Mpi, ranks: int, *words: str | Path):
    return measure(mpi, ranks, "--health", *words)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_one_node_compares_its_ranks(openmpi: Mpi, tmp_path: Path, ranks: int) -> None:
    out = tmp_path / "health.json"
    out.write_text('{"schema": "haichi.health/1"}')  # an older one, whose place it may take
    done = health(openmpi, ranks, "--budget", "40", "--out", out)
    record = json.loads(out.read_text())
    jsonschema.validate(record, json.loads(SCHEMA.read_text()))
    assert record["members"] == "ranks"
    assert record["names"] == [f"rank {rank}" for rank in range(ranks)]
    # Ranks share cores here with whatever else runs: either verdict, and the exit code says which.
    assert done.returncode == (SLOW if record["findings"] else FINE), done.stderr
    assert (record["verdict"] == "slow") == bool(record["findings"])
    if not record["findings"]:
        assert f"one node, and none of its {ranks} ranks is slower" in done.stdout
    # What no machine changes.
    aspects = {each["name"]: each for each in record["aspects"]}
    pairs = {(link["from"], link["to"]) for link in aspects["bandwidth"]["links"]}
    assert (0, 1) in pairs
    assert (1, 0) in pairs
    assert aspects["latency"]["median"] < aspects["bandwidth"]["median"]
    assert 1e-5 < aspects["compute"]["median"] < 0.1
    assert len(aspects["copy"]["ranks"]) == ranks


def test_one_rank_has_nothing_to_be_compared_with(openmpi: Mpi) -> None:
    done = health(openmpi, 1)
    assert done.returncode == UNKNOWN
    (line,) = complaints(done)
    assert "there is one rank" in line


def test_too_little_time_says_how_much_would_do(openmpi: Mpi) -> None:
    done = health(openmpi, 2, "--budget", "0.01")
    assert done.returncode == UNKNOWN
    (line,) = complaints(done)
    assert "too short for 3 visits" in line
    assert "--budget" in line


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["ping-pong"], USAGE, "--health: takes no words: 'ping-pong'"),
        (["--list"], USAGE, "--health"),
        (["--out", "/nowhere/h.json", "--budget", "5"], CANT_WRITE, "/nowhere/h.json"),
    ],
)
def test_bad_input_is_one_line(openmpi: Mpi, words: list[str], code: int, text: str) -> None:
    done = health(openmpi, 2, *words)
    assert done.returncode == code
    (line,) = complaints(done)
    assert text in line


def test_samples_are_never_overwritten(openmpi: Mpi, tmp_path: Path) -> None:
    out = tmp_path / "s.jsonl"
    out.write_text('{"schema":"haichi.samples/1"}\n')
    done = health(openmpi, 2, "--out", out)
    assert done.returncode == CANT_WRITE
    assert "is there already" in complaints(done)[0]
    assert out.read_text() == '{"schema":"haichi.samples/1"}\n'


@pytest.mark.parametrize(
    ("name", "code", "text"), [("link", UNKNOWN, "too short for"), ("new", CANT_WRITE, "closed")]
)
def test_what_is_written_in_place_needs_no_writable_folder(
    openmpi: Mpi, tmp_path: Path, name: str, code: int, text: str
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "link").symlink_to(os.devnull)
    closed.chmod(0o555)
    plain = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    words = ["--health", "--budget", "0.01", "--out", closed / name]
    done = openmpi.run(2, [*plain, program(openmpi), *words])
    assert done.returncode == code, done.stderr
    assert text in complaints(done)[0]
