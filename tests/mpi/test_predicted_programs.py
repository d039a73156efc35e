"""From a real program to a prediction of it: record, show, measure what it needs, fit, predict, on
every MPI. What the times are depends on the machine's other work; what is counted does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mpis
import pytest
from measure_support import measurable
from mpis import BUILD, HAICHI, ROOT, Mpi

STEPS, BYTES = 200, 8192


@pytest.fixture(params=mpis.slow_but(["mpich-4.0.2"], mpis.all_mpis()[:2]), ids=str)
def stock(request: pytest.FixtureRequest) -> Mpi:
    """The distribution's MPIs."""
    return measurable(request.param)


@pytest.fixture
def record(stock: Mpi, tmp_path: Path) -> Path:
    """Of a program in which two ranks exchange, compute, and add up every tenth time."""
    recorder = BUILD / "lib" / f"libhaichi-record-{stock.abi}.so"
    if not recorder.exists():
        pytest.skip(f"no {recorder.name} in this build: ./haichi build")
    program = stock.compile(ROOT / "tests/mpi/exchange_and_compute.c", "-g")
    path = tmp_path / "record.jsonl"
    words = [HAICHI, "run", f"--record={path}", "--sequence", "--", program, str(STEPS), str(BYTES)]
    stock.run(2, words, stock.stock(), check=True)
    return path


def command(*words: str | Path, **env: str) -> str:
    done = mpis.haichi_command(*words, **env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_shown_is_what_the_program_does(record: Path, tmp_path: Path) -> None:
    found = json.loads(command("record", record, "--json"))
    calls = {each["name"]: (each["calls"], each["bytes"]) for each in found["functions"]}
    assert calls["Isend"] == (2 * STEPS, 2 * STEPS * BYTES)
    assert calls["Irecv"] == (2 * STEPS, 2 * STEPS * BYTES)
    assert calls["Waitall for mixed"][0] == 2 * STEPS
    assert calls["Allreduce"] == (2 * STEPS // 10, 2 * STEPS // 10 * 8)
    assert sum(map(sum, found["node_bytes"])) == 2 * STEPS * BYTES
    assert found["notes"] == []
    places = [each["name"] for each in found["places"]]
    assert any(place.startswith("exchange (exchange_and_compute.c:") for place in places)
    for each in found["by_rank"]:
        assert 0 < each["mpi_s"] + each["compute_s"] <= each["wall_s"] * 1.01
    page = tmp_path / "page.html"
    command("record", record, "-o", page)
    assert "exchange_and_compute.c:" in page.read_text()


@pytest.mark.slow
def test_what_it_needs_is_measured_and_predicts_it(
    stock: Mpi, record: Path, tmp_path: Path
) -> None:
    samples, machine = tmp_path / "s.jsonl", tmp_path / "m.json"
    launcher = ["--", stock.mpiexec, "-n", "2"]
    command("measure-for", "--for", record, "--out", samples, "--budget", "8", *launcher,
            **stock.launcher_env)  # fmt: skip
    points = [json.loads(line) for line in samples.read_text().splitlines()]
    sizes = {(p["name"], p["bytes"]) for p in points if p["kind"] == "point"}
    assert {("ping-pong", BYTES), ("bidirectional", BYTES), ("allreduce", 8)} <= sizes
    command("fit", samples, "-o", machine, "--any-launch")
    made: dict[str, Any] = json.loads(
        command("predict", record, "--machine", machine, "--json", "--sensitivity")
    )
    assert made["same_machine"]
    assert made["unknown"] == []
    low, high = (made["communication"][end] for end in ("low", "high"))
    assert 0 < low < high
    (place,) = made["sensitivity"]
    # At least one latency for each time that a rank waits, at most one for each message.
    assert STEPS <= place["latencies"]["low"] <= place["latencies"]["high"] <= 3 * STEPS + 100
    # There is a figure, or the line that says why not.
    assert (made["program_s"] is None) == (made["why_not"] is not None)


def test_its_order_of_calls_is_predicted_too(record: Path) -> None:
    machine = ROOT / "machines" / "two-cores.json"
    words = ("predict", record, "--by", "sequence", "--machine", machine, "--json")
    made = json.loads(command(*words))
    computing = max(each["compute_s"] for each in made["by_rank"])
    assert computing > 0
    assert "compute" in {step["what"] for step in made["critical_path"]}
    # Where the machine did other work meanwhile, the figure is far from the recorded run: refused.
    if made["program_s"] is None:
        assert "it took" in made["why_not"]
    else:
        assert computing <= made["program_s"]["high"] >= made["program_s"]["low"] > 0
