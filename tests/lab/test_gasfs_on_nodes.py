"""A gather file system over several nodes of the lab, brought up and ended by one command under a
launcher: a server and a mount on each node, whose stores may lie in the node's own memory."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import mpis
import pytest
from haichi import lab, mpi
from haichi.gasfs.job import Job
from haichi.lab import Lab
from haichi_processes import runner

NODES = 4
HAICHI = [sys.executable, "-m", "haichi", "gasfs"]
TEXT = "placement" * 40_000  # of several stripes, on all servers
pytestmark = [
    pytest.mark.skipif(lab.why_not() is not None, reason=str(lab.why_not())),
    pytest.mark.skipif(
        not (mpis.BUILD / "bin/haichi-gasfs").exists(),
        reason="this build has no gather file system",
    ),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Lab]:
    made = Lab.up(NODES, "0", f"gasfs-{os.getpid()}")
    yield made
    made.down()


def by_launcher(cluster: Lab, family: str, *words: object, fails: bool = False) -> str:
    """What a command says on all nodes, run by the launcher of an MPI."""
    argv, env = cluster.command(mpi.find(family), NODES, [*HAICHI, *map(str, words)], {})
    done = runner.run(argv, env=env, timeout=120)  # jobs.run would end the daemons too
    assert (done.code != 0) == fails, done.out + done.err
    return done.out + done.err


def on(cluster: Lab, node: int, *words: object, stdin: str | None = None) -> str:
    """What a command on one node prints."""
    enter = cluster.nodes[node].enter()
    done = runner.run([*enter, *map(str, words)], stdin=stdin, timeout=60)
    assert done.code == 0, done.err
    return done.out


@pytest.mark.slow
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
@pytest.mark.parametrize("own", [False, True], ids=["shared stores", "stores on the nodes"])
def test_up_on_all_nodes_and_down_again(cluster: Lab, family: str, own: bool) -> None:
    job, mount = cluster.shared / f"{family}-{own}", Path(f"/run/haichi-lab-{family}-{own}")
    more = ["--store", f"/dev/shm/stores-{family}"] if own else []
    start = ["start", job, "--mount", mount, "--for", 600, *more]
    told = by_launcher(cluster, family, *start)
    assert told.count("up in") == 1 and "4 servers" in told
    for node in range(NODES):
        on(cluster, node, "dd", "status=none", f"of={mount}/f{node}", stdin=f"{node}{TEXT}")
    for node in range(NODES):
        other = (node + 1) % NODES
        assert on(cluster, node, "cat", mount / f"f{other}") == f"{other}{TEXT}"
    if own:  # each node has one of them, and nothing of it is where all see it
        assert not list(job.glob("server*"))
        for node in range(NODES):
            assert on(cluster, node, "ls", f"/dev/shm/stores-{family}") == f"server{node}\n"
    assert "is being served already" in by_launcher(cluster, family, *start, fails=True)
    by_launcher(cluster, family, "stop", job)
    assert not list((job / "run").glob("dispatcher-*.json"))
    for node in range(NODES):
        assert on(cluster, node, "ls", mount) == ""  # nothing is mounted

    by_launcher(cluster, family, *start)  # what was there is there again
    for node in range(NODES):
        assert on(cluster, node, "cat", mount / f"f{node}") == f"{node}{TEXT}"
    numbers = json.loads(on(cluster, 0, *HAICHI, "status", job, "--json"))
    assert [each["index"] for each in numbers["servers"]] == list(range(NODES))
    assert len(numbers["dispatchers"]) == 1
    by_launcher(cluster, family, "stop", job)


@pytest.mark.slow
def test_one_node_that_cannot_mount_ends_all(cluster: Lab) -> None:
    job, mount = cluster.shared / "one", Path("/run/haichi-lab-one")
    on(cluster, 2, "sh", "-c", f"mkdir -p {mount} && mount -t tmpfs none {mount}")
    try:
        told = by_launcher(
            cluster, "openmpi", "start", job, "--mount", mount, "--for", 600, fails=True
        )
        assert f"something is mounted on {mount} already" in told
        by_launcher(cluster, "openmpi", "stop", job)  # what the launcher let no time to end
        assert all("error" in each for each in Job.load(job).server_numbers())
    finally:
        on(cluster, 2, "umount", mount)


@pytest.mark.slow
def test_a_store_on_another_node_is_told_of(cluster: Lab) -> None:
    job = cluster.shared / "moved"
    by_launcher(
        cluster, "openmpi", "start", job, "--no-mount", "--store", "/dev/shm/moved", "--for", 600
    )
    by_launcher(cluster, "openmpi", "stop", job)
    done = runner.run([*cluster.nodes[1].enter(), *HAICHI, "check", str(job)], timeout=60)
    assert done.code != 0
    assert "the store of server0 is on node0, in /dev/shm/moved/server0" in done.err


@pytest.mark.slow
def test_rates_beside_the_links(tmp_path: Path) -> None:
    """Each figure is there, of a run too short to say how fast anything is."""
    out = tmp_path / "rates.json"
    words = ["gasfs-rates", "--repetitions", "1", "--size", "4", "--files", "20", "--writes", "500"]
    done = mpis.haichi_command("figures", *words, "--out", out)
    assert done.returncode == 0, done.stderr
    figures = json.loads(out.read_text())["figures"]
    assert len(figures) == (13 if shutil.which("sshfs") and shutil.which("socat") else 12)
    (link,) = [each["ratios"] for each in figures if "read one file" in each["what"]]
    assert 1 < link[0] < 1.3  # once, and not by each process
    placed = {each["what"]: each["ratios"][0] for each in figures if "placed on" in each["what"]}
    assert len(placed) == 3 and all(0.2 < ratio < 1.3 for ratio in placed.values()), placed
    (read,) = [each["ratios"][0] for each in figures if "read it there" in each["what"]]
    assert read < 0.2  # nothing of it
    assert all(ratio > 0 for each in figures for ratio in each["ratios"])
