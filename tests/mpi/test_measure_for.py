"""`haichi measure --for` on real MPIs: from a record to a prediction without a point that is
missing."""

from __future__ import annotations

import json
from pathlib import Path

import mpis
import pytest
import recorded
from measure_support import measurable
from mpis import Mpi


@pytest.fixture(params=mpis.slow_but(["mpich-4.0.2"], mpis.all_mpis()[:2]), ids=str)
def stock(request: pytest.FixtureRequest) -> Mpi:
    """The distribution's MPIs."""
    return measurable(request.param)


@pytest.mark.slow
def test_what_was_measured_for_a_record_predicts_it(stock: Mpi, tmp_path: Path) -> None:
    each = {"bytes": 5000, "comm": 0, "place": "numa"}
    record = recorded.write(
        tmp_path / "r.jsonl",
        recorded.head(2, 2),
        recorded.world(2),
        [recorded.rank(0), recorded.rank(1)],
        recorded.call("0-1", "MPI_Isend", 9, 1e-4, **each),
        recorded.call("0-1", "MPI_Irecv", 9, 1e-4, **each),
        recorded.call("0-1", "MPI_Waitall", 9, 1e-4, bytes=10000, **{"for": "mixed"}),
        recorded.call("0-1", "MPI_Allreduce", 9, 1e-4, bytes=24, comm=0),
        recorded.end(2),
    )
    samples, machine = tmp_path / "s.jsonl", tmp_path / "m.json"
    launcher = [stock.mpiexec, "-n", "2"]
    words = ["--for", record, "--out", samples, "--budget", "6", "--", *launcher]
    done = mpis.haichi_command("measure-for", *words, **stock.launcher_env)
    assert done.returncode == 0, done.stderr
    points = [json.loads(line) for line in samples.read_text().splitlines()]
    sizes = {(p["name"], p["bytes"]) for p in points if p["kind"] == "point"}
    assert {("ping-pong", 5000), ("bidirectional", 5000), ("allreduce", 24)} <= sizes
    assert {("ping-pong", 8), ("stream", 8), ("call-isend", 8)} <= sizes
    fitted = mpis.haichi_command("fit", samples, "-o", machine, "--any-launch")
    assert fitted.returncode == 0, fitted.stderr
    made = mpis.haichi_command("predict", record, "--machine", machine, "--json")
    assert made.returncode == 0, made.stderr
    prediction = json.loads(made.stdout)
    assert prediction["unknown"] == []
    low, high = (prediction["communication"][end] for end in ("low", "high"))
    assert 0 < low < high
