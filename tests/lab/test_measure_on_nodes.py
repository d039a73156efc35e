"""`haichi measure` on four nodes with four ranks each: the network as a placement class, and
nothing that hangs or fails beyond one node."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import mpis
import pytest
from haichi import lab, mpi
from haichi.lab import Lab
from mpis import BUILD

NAME = f"measure-{os.getpid()}"
RANKS = 16
# Open MPI hangs in it: https://github.com/open-mpi/ompi/issues/13918
REFUSED = {"dist-graph-create"}
pytestmark = pytest.mark.skipif(lab.why_not() is not None, reason=str(lab.why_not()))


@pytest.fixture
def cluster() -> Iterator[Lab]:
    made = Lab.up(4, "100mbit", NAME)
    yield made
    made.down()


def measure(cluster: Lab, words: list[str], timeout: float) -> tuple[int, list[dict]]:
    """The exit code of the suite on 16 ranks, and what its file holds."""
    program = BUILD / "bin" / "haichi-measure-openmpi"
    found = next(each for each in mpis.all_mpis() if each.name == "openmpi-4.1.4")
    if found.missing or not program.exists():
        pytest.skip(found.missing or f"no {program.name} in this build")
    out = cluster.shared / "s.jsonl"
    folder = cluster.shared / "files"
    folder.mkdir(exist_ok=True)
    command = [str(program), *words, "--out", str(out), "--directory", str(folder)]
    done = cluster.run(mpi.find("openmpi"), RANKS, command, {}, timeout=timeout)
    assert out.exists(), done.err
    assert list(folder.iterdir()) == [], done.err
    return done.status, [json.loads(line) for line in out.read_text().splitlines()]


def test_pairs_are_on_one_node_and_on_two(cluster: Lab) -> None:
    words = ["ping-pong", "barrier", "exchange-nd-rank-shift-w1", "put-fence", "win-allocate"]
    words += ["--size", "4k", "--budget", "3"]
    code, records = measure(cluster, words, timeout=60)
    assert code == 0
    points = {(each["name"], each["place"]): each for each in records if each["kind"] == "point"}
    assert {place for name, place in points if name == "ping-pong"} == {"node", "network"}
    assert points["ping-pong", "network"]["ranks"] == [0, 4]
    assert records[0]["nodes_of_ranks"] == [rank // 4 for rank in range(RANKS)]


@pytest.mark.slow
def test_the_network_is_told_from_a_node(cluster: Lab) -> None:
    code, records = measure(cluster, ["ping-pong", "--size", "1m", "--budget", "3"], timeout=60)
    assert code == 0
    least = {each["place"]: each["least"] for each in records if each["kind"] == "point"}
    assert least["network"] > 2**20 / 12.5e6 / 2 > least["node"]


@pytest.mark.long
def test_the_whole_suite_ends(cluster: Lab) -> None:
    code, records = measure(cluster, ["--size", "4k", "--budget", "1"], timeout=500)
    left = {each["name"] for each in records if each["kind"] == "left"}
    assert left == REFUSED
    assert code == 1
    assert len({each["name"] for each in records if each["kind"] == "point"}) > 400
