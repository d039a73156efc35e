"""`haichi measure --health` on eight nodes: finds the one whose link is throttled, and nothing
where nothing is."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import mpis
import pytest
from haichi import lab, mpi
from haichi.lab import Lab
from mpis import BUILD, ROOT

NAME = f"health-{os.getpid()}"
SCHEMA = ROOT / "python" / "haichi" / "schema" / "haichi.health.1.schema.json"
NODES = 8
FINE, SLOW = 0, 1
pytestmark = pytest.mark.skipif(lab.why_not() is not None, reason=str(lab.why_not()))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Lab]:
    made = Lab.up(NODES, "100mbit", NAME)
    yield made
    made.down()


def check(cluster: Lab, out: Path, *, ranks: int = NODES) -> tuple[int, dict]:
    """The exit code of a check on the lab's nodes, and its record."""
    program = BUILD / "bin" / "haichi-measure-openmpi"
    found = next(each for each in mpis.all_mpis() if each.name == "openmpi-4.1.4")
    if found.missing or not program.exists():
        pytest.skip(found.missing or f"no {program.name} in this build")
    budget = 40
    command = [str(program), "--health", "--budget", str(budget), "--out", str(out)]
    begin = time.monotonic()
    done = cluster.run(mpi.find("openmpi"), ranks, command, {}, timeout=120)
    assert out.exists(), done.err
    record = json.loads(out.read_text())
    jsonschema.validate(record, json.loads(SCHEMA.read_text()))
    assert record["seconds"] < 1.5 * budget
    assert time.monotonic() - begin < 1.5 * budget + 20
    for finding in record["findings"]:
        assert finding["text"] in done.out
    print(done.out)  # what was compared, if the test fails
    return done.status, record


def nodes_with_slow_links(record: dict) -> list[str]:
    return [
        record["names"][each["member"]]
        for each in record["findings"]
        if each["of"] == "member" and each["aspect"] == "bandwidth"
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "repetition", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in (1, 2))]
)
def test_no_false_alarm(cluster: Lab, tmp_path: Path, repetition: int) -> None:
    """On a machine that does other things, too: what is not seen in most visits is no finding."""
    code, record = check(cluster, tmp_path / f"{repetition}.json")
    assert record["names"] == [f"node{i}" for i in range(NODES)]
    assert record["findings"] == []
    assert code == FINE


@pytest.mark.slow
def test_a_link_of_70_per_cent_is_found(cluster: Lab, tmp_path: Path) -> None:
    cluster.set_rate("70mbit", "node5")
    try:
        code, record = check(cluster, tmp_path / "slow.json")
    finally:
        cluster.set_rate("100mbit", "node5")
    assert code == SLOW
    assert nodes_with_slow_links(record) == ["node5"]
    (found,) = (each for each in record["findings"] if each["aspect"] == "bandwidth")
    assert found["sends"] or found["receives"]
    assert 1.2 < found["factor"] < 1.8
    # At most 2 log2 of 8 rounds, the one by half the nodes in two halves.
    assert sorted(found["distances"]) == [1, 2, 4, 6, 7]


@pytest.mark.slow
def test_several_ranks_on_each_node(cluster: Lab, tmp_path: Path) -> None:
    cluster.set_rate("70mbit", "2")
    try:
        code, record = check(cluster, tmp_path / "slow.json", ranks=2 * NODES)
    finally:
        cluster.set_rate("100mbit", "2")
    assert code == SLOW
    assert record["members"] == "nodes"
    assert record["member_of_rank"] == [rank // 2 for rank in range(2 * NODES)]
    assert nodes_with_slow_links(record) == ["node2"]
