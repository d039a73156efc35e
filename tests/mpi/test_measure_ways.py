"""`haichi measure`: how samples begin, cold buffers, sizes between sizes, causes of outliers."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import mpis
import pytest
from measure_support import lines, measurable, measurable_openmpi, measure
from mpis import ROOT, Mpi

SCHEMA = ROOT / "python" / "haichi" / "schema" / "haichi.samples.1.schema.json"


@pytest.fixture(params=mpis.slow_but(["openmpi-4.1.4"], mpis.all_mpis()[:2]), ids=str)
def stock(request: pytest.FixtureRequest) -> Mpi:
    """The distribution's MPIs."""
    return measurable(request.param)


def records_of(mpi: Mpi, ranks: int, out: Path, *words: str, **more: object) -> list[dict]:
    """The records of a run, which follow the schema."""
    measure(mpi, ranks, *words, "--out", out, check=True, **more)
    records = lines(out)
    jsonschema.validate(
        {"head": records[0], "records": records[1:]}, json.loads(SCHEMA.read_text())
    )
    return records


def points(records: list[dict]) -> list[dict]:
    """Those that are points."""
    return [record for record in records if record["kind"] == "point"]


@pytest.mark.slow
def test_ranks_of_a_host_begin_by_its_clock(stock: Mpi, tmp_path: Path) -> None:
    words = ["bcast", "ping-pong", "--size", "64", "--budget", "2"]
    launch, *rest = records_of(stock, 2, tmp_path / "w", *words, "--start", "window")
    assert launch["start"] == "window"
    assert launch["clock_error"] == 0
    assert 0 < launch["barrier"] < 10
    assert 0 < launch["harness_cost"] < 1e-4
    started = {point["name"]: point["start"] for point in points(rest)}
    # Where ranks are late half of the time, as on a machine that has much to do, it is a barrier.
    assert started["bcast"] in {"window", "barrier"}
    assert started["ping-pong"] == "back to back"
    assert all(point["usual"] for point in points(rest))
    launch, *rest = records_of(stock, 2, tmp_path / "b", *words, "--start", "barrier")
    assert launch["start"] == "barrier"
    assert {point["start"] for point in points(rest)} == {"barrier", "back to back"}
    assert all(point["missed"] == 0 for point in points(rest))


def test_clocks_of_several_hosts_are_found(tmp_path: Path) -> None:
    """As of hosts: each rank's clock is ahead by seconds, and drifts."""
    mpi = measurable_openmpi()
    source = ROOT / "tests" / "mpi" / "skewed_clock.c"
    preload = mpi.compile(source, "-shared", "-fPIC", "-ldl")
    words = ["barrier", "--budget", "2", "--start", "window"]
    env = {"LD_PRELOAD": str(preload)}
    launch, *rest = records_of(mpi, 3, tmp_path / "s", *words, env=env)
    assert 0 < launch["clock_error"] < 0.5
    (point,) = points(rest)
    # Seconds, or no sample at all, if a clock were taken for another.
    assert point["samples"] > 0
    assert point["median"] < 0.5


@pytest.mark.slow
def test_cold_and_isolated_are_points_of_their_own(stock: Mpi, tmp_path: Path) -> None:
    words = ["ping-pong", "allreduce", "--size", "1M", "--budget", "3", "--buffers", "both"]
    out = tmp_path / "s"
    records = records_of(stock, 2, out, *words, "--spacing", "both", "--start", "barrier")
    ways = {(point["name"], point["buffers"], point["start"]): point for point in points(records)}
    for name in ("ping-pong", "allreduce"):
        assert {key[1:] for key in ways if key[0] == name} == {
            ("hot", "barrier"),
            ("hot", "back to back"),
            ("cold", "barrier"),
        }
    assert ways["ping-pong", "hot", "back to back"]["usual"] is True
    assert ways["ping-pong", "hot", "barrier"]["usual"] is False
    assert ways["allreduce", "hot", "barrier"]["usual"] is True
    # What no machine changes: a megabyte out of memory takes longer than one out of a cache.
    assert ways["allreduce", "cold", "barrier"]["batch"] == 1
    hot, cold = (ways["ping-pong", each, "barrier"]["least"] for each in ("hot", "cold"))
    assert cold > hot
    again = records_of(stock, 2, out, *words, "--spacing", "both", "--start", "barrier", "--resume")
    assert points(again) == points(records)


@pytest.mark.slow
def test_causes_of_outliers_are_counted(stock: Mpi, tmp_path: Path) -> None:
    """Each sample touches memory for the first time, so there are page faults."""
    records = records_of(stock, 2, tmp_path / "s", "alloc-mem", "barrier", "--budget", "1")
    for point in points(records):
        assert point["involuntary_switches"] >= 0
        assert point["steal_seconds"] >= 0
    # Two ranks on one core take it from each other.
    ranks = (os.cpu_count() or 1) + 2
    records = records_of(
        stock, ranks, tmp_path / "o", "reduce-local", "--size", "64k", "--budget", "2"
    )
    assert sum(point["involuntary_switches"] for point in points(records)) > 0


@pytest.mark.slow
def test_a_curve_is_refined_and_its_switches_are_found(tmp_path: Path) -> None:
    """Open MPI's eager limit in shared memory is set, so it is known where the switch is."""
    mpi = measurable_openmpi()
    env = {"OMPI_MCA_btl_vader_eager_limit": "2048", "OMPI_MCA_btl": "self,vader"}
    words = ["ping-pong", "--refine", "--switches", "--budget", "12"]
    records = records_of(mpi, 2, tmp_path / "s", *words, launcher_env=env)
    roles = [point["role"] for point in points(records)]
    assert roles.count("grid") == 11
    assert roles.count("grid") + roles.count("refined") <= 30
    assert roles.count("switch") > 0
    for each in (record for record in records if record["kind"] == "switch"):
        assert each["above"] == each["below"] + 4
        assert each["ratio"] == pytest.approx(each["median_above"] / each["median_below"])
