"""The lab: what it makes, that jobs run on it, and that nothing of it is left behind."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import mpis
import pytest
from haichi import jobs, lab, mpi
from haichi.lab import Keeper, Lab, LabError

NAME = f"test-{os.getpid()}"
NEEDS_ROOT = pytest.mark.skipif(lab.why_not() is not None, reason=str(lab.why_not()))


def networks() -> set[str]:
    """The network namespaces that any process of this machine is in."""
    found = set()
    for link in Path("/proc").glob("[0-9]*/ns/net"):
        try:
            found.add(os.readlink(link))
        except OSError:
            continue
    return found


@pytest.fixture
def two_nodes() -> Iterator[Lab]:
    """A lab of two nodes."""
    made = Lab.up(2, "200mbit", NAME)
    yield made
    made.down()


@NEEDS_ROOT
def test_up_and_down_leave_nothing() -> None:
    before, mounts = networks(), Path("/proc/self/mounts").read_text()
    made = Lab.up(2, "100mbit", NAME)
    inside = subprocess.Popen([*made.node("node1").enter(), "sleep", "300"])
    keepers = [made.switch, *made.nodes, made.login]
    assert len(networks() - before) == 4
    assert all(keeper.alive() for keeper in keepers)
    made.down()
    assert inside.wait(5) != 0
    assert not any(keeper.alive() for keeper in keepers)
    assert networks() <= before
    assert not made.state.exists()
    assert Path("/proc/self/mounts").read_text() == mounts


@NEEDS_ROOT
def test_down_spares_a_process_that_took_a_keepers_pid() -> None:
    """A state directory can outlive its keepers, and the kernel gives pids again."""
    made = Lab.up(1, "0", NAME)
    bystander = subprocess.Popen(["sleep", "300"])
    try:
        stale = Keeper("node0", "10.77.0.1", bystander.pid, "1")
        Lab(made.state, "0", (stale,), made.switch, made.login).down()
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
        for keeper in made.nodes:
            os.kill(keeper.pid, 9)
            os.waitpid(keeper.pid, 0)


@NEEDS_ROOT
def test_nodes_are_hosts_of_their_own(two_nodes: Lab) -> None:
    for index, keeper in enumerate(two_nodes.nodes):
        script = "hostname; ls /sys/class/net; ls -A /dev/shm; grep node1 /etc/hosts"
        script += "; touch /dev/shm/mine"
        out = mpis.run_bounded([*keeper.enter("/"), "sh", "-c", script], check=True).stdout
        assert out.split() == [f"node{index}", "e0", "lo", "10.77.0.2", "node1"]
    assert not Path("/dev/shm/mine").exists()


@NEEDS_ROOT
def test_shared_directory_is_seen_everywhere(two_nodes: Lab) -> None:
    file = two_nodes.shared / "file"
    mpis.run_bounded([*two_nodes.node("0").enter(), "sh", "-c", f"echo here > {file}"], check=True)
    assert file.read_text() == "here\n"
    out = mpis.run_bounded([*two_nodes.node("node1").enter(), "cat", file], check=True).stdout
    assert out == "here\n"


TRANSFER = """
import socket, sys, time
listener = socket.create_server(("10.77.0.2", 9000)) if sys.argv[1] == "to" else None
if listener:
    print("listening", flush=True)
    peer = listener.accept()[0]
    while peer.recv(1 << 16):
        pass
else:
    with socket.create_connection(("10.77.0.2", 9000)) as peer:
        begin = time.time()
        peer.sendall(bytes(5_000_000))
        peer.shutdown(socket.SHUT_WR)
        peer.recv(1)
    print(time.time() - begin)
"""


@NEEDS_ROOT
def test_links_are_held_to_their_rate_and_drop_nothing(two_nodes: Lab) -> None:
    two_nodes = two_nodes.set_rate("100mbit")
    words = [sys.executable, "-c", TRANSFER]
    receiver = subprocess.Popen(
        [*two_nodes.nodes[1].enter(), *words, "to"], stdout=subprocess.PIPE, text=True
    )
    assert receiver.stdout and receiver.stdout.readline() == "listening\n"
    sent = subprocess.run(
        [*two_nodes.nodes[0].enter(), *words, "from"], capture_output=True, text=True, timeout=30
    )
    assert receiver.wait(10) == 0
    receiver.stdout.close()
    # 5 MB at 12.5 MB/s; a busy machine may be slower, none can be faster.
    assert float(sent.stdout) > 0.38
    rows = {(r["node"], r["direction"]): r for r in two_nodes.counters()}
    assert 5_000_000 < rows["node0", "up"]["bytes"] < 6_000_000
    assert 5_000_000 < rows["node1", "down"]["bytes"] < 6_000_000
    assert not any(row["drops"] for row in rows.values())


@NEEDS_ROOT
@pytest.mark.parametrize("name", mpis.slow_but(["mpich5"], ["openmpi", "mpich5"]))
@pytest.mark.parametrize(
    ("mapping", "per_node", "seen"),
    mpis.slow_after(
        2,
        [
            ("BK", [2], ["node0 2", "node0 2", "node1 2", "node1 2"]),
            ("RR", [2], ["node0 2", "node1 2", "node0 2", "node1 2"]),
            ("BK", [1, 3], ["node0 1", "node1 3", "node1 3", "node1 3"]),
            ("RR", [1, 3], ["node0 1", "node1 3", "node1 3", "node1 3"]),
            ("RR", [3, 1], ["node0 3", "node1 1", "node0 3", "node0 3"]),
        ],
    ),
)
def test_two_hosts_are_seen(
    two_nodes: Lab, name: str, mapping: str, per_node: list[int], seen: list[str]
) -> None:
    try:
        which = mpi.find(name)
    except mpi.Missing as missing:
        pytest.skip(str(missing))
    if name == "mpich5" and mapping == "RR" and len(per_node) > 1:
        with pytest.raises(LabError, match="MPICH cannot deal ranks out"):
            two_nodes.command(which, 4, ["true"], {}, per_node=per_node, mapping=mapping)
        return
    known = "openmpi-4.1.4" if name == "openmpi" else "mpich-5.0.2"
    compiler = next(m for m in mpis.all_mpis() if m.name == known)
    program = compiler.compile(Path(__file__).parent / "hosts.c")
    done = two_nodes.run(
        which,
        4,
        [str(program)],
        {"GREETING": "a b"},
        timeout=60,
        per_node=per_node,
        mapping=mapping,
    )
    assert done.code == 0, done.err
    lines = sorted(done.out.splitlines())
    assert lines == [f"{rank} {node} a b" for rank, node in enumerate(seen)]


@NEEDS_ROOT
def test_ranks_start_on_the_hosts_of_a_list(two_nodes: Lab) -> None:
    which = mpi.find("openmpi")
    compiler = next((m for m in mpis.all_mpis() if m.name == "openmpi-4.1.4"), None)
    if compiler is None:
        pytest.skip("no Open MPI 4.1.4: apt-get install openmpi-bin libopenmpi-dev")
    program = str(compiler.compile(Path(__file__).parent / "hosts.c"))
    hosts = ["node1", "node0", "node0", "node1"]
    done = two_nodes.run(which, 4, [program], {"GREETING": "x"}, timeout=60, hosts=hosts)
    assert done.code == 0, done.err
    seen = [line.split()[1:3] for line in sorted(done.out.splitlines())]
    assert seen == [[host, "2"] for host in hosts]
    with pytest.raises(LabError, match="3 hosts for 4 ranks"):
        two_nodes.run(which, 4, [program], {}, timeout=60, hosts=hosts[:3])
    with pytest.raises(LabError, match="node7: no node of this lab; it has node0, node1"):
        two_nodes.run(which, 1, [program], {}, timeout=60, hosts=["node7"])


def running(words: str) -> list[int]:
    """Processes whose command line has these words; a fresh machine has no pgrep."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            if words in (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(
                errors="replace"
            ):
                found.append(int(entry.name))
    return found


@NEEDS_ROOT
@pytest.mark.slow
@pytest.mark.parametrize("name", ["openmpi", "mpich5"])
def test_a_job_past_its_time_is_ended_on_all_nodes(two_nodes: Lab, name: str) -> None:
    try:
        which = mpi.find(name)
    except mpi.Missing as missing:
        pytest.skip(str(missing))
    begin = time.monotonic()
    done = two_nodes.run(which, 2, ["sleep", "311"], {}, timeout=3)
    assert done.timed_out
    assert time.monotonic() - begin < 20
    assert not running("sleep 311")


# The command line


@pytest.mark.slow
@NEEDS_ROOT
def test_command_line_end_to_end() -> None:
    program = mpis.BUILD / "lib" / "libucxyield.so"
    if not program.exists():
        pytest.skip(f"{program} is not built: ninja ucxyield")
    try:
        assert mpis.haichi_command("lab", "up", "2", "50mbit", "--name", NAME).returncode == 0
        assert "already up" in mpis.haichi_command("lab", "up", "2", "--name", NAME).stderr
        assert mpis.haichi_command("lab", "rate", "80mbit", "--name", NAME).returncode == 0
        assert "node1" in mpis.haichi_command("lab", "stat", "--name", NAME).stdout
        assert (
            mpis.haichi_command("lab", "exec", "--name", NAME, "1", "hostname").stdout == "node1\n"
        )
        words = ["--ppn", "1", "sh", "-c", "hostname; exit 3"]
        done = mpis.haichi_command("lab", "run", "--name", NAME, "mpich5", "2", *words)
        if "is not here" not in done.stderr:
            assert sorted(done.stdout.split())[:2] == ["node0", "node1"]
            assert done.returncode == 3
    finally:
        down = mpis.haichi_command("lab", "down", "--name", NAME)
    assert (down.returncode, down.stdout, down.stderr) == (0, "", "")


@NEEDS_ROOT
@pytest.mark.parametrize(
    ("words", "text"),
    mpis.slow_after(
        2,
        [
            (["up", "2", "fast"], "rate fast: use a number and kbit, mbit or gbit"),
            (["up", "0"], "0 nodes: use 1 to 64"),
            (["up", "2", "--name", "../x"], "--name ../x: use letters"),
            (["down", "--name", "nobody"], "no lab nobody is up: haichi lab up 4 100mbit"),
            (["run", "--name", "nobody", "mpich9", "2", "true"], "no lab nobody is up"),
            (["run", "--ppn", "1,x", "openmpi", "2", "true"], "--ppn 1,x: use a number"),
        ],
    ),
)
def test_bad_input_gets_one_line(words: list[str], text: str) -> None:
    done = mpis.haichi_command("lab", *words)
    assert done.returncode == 2
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_without_root_says_so() -> None:
    words = [sys.executable, "-m", "haichi", "lab", "up", "2", "--name", NAME]
    if os.geteuid() == 0:
        nobody = ["setpriv", "--reuid", "65534", "--clear-groups"]
        if mpis.run_bounded([*nobody, "test", "-x", sys.executable]).returncode != 0:
            pytest.skip(f"nobody but root can read {mpis.ROOT}; a plain user's run has this test")
        words = [*nobody, *words]
    done = mpis.run_bounded(
        words, env={**os.environ, "PYTHONPATH": str(mpis.ROOT / "python")}, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr == (
        "haichi lab: a lab needs root, for its network namespaces: run it with sudo\n"
    )


def test_lab_refuses_what_does_not_fit() -> None:
    keeper = Keeper("node0", "10.77.0.1", os.getpid(), "0")
    one = Lab(Path("/nonexistent"), "0", (keeper,), keeper, keeper)
    which = mpi.Mpi("openmpi", "openmpi", Path("/bin/true"))
    with pytest.raises(LabError, match="5 ranks do not fit on 1 nodes with 4 each"):
        one.command(which, 5, ["true"], {}, per_node=[4])
    with pytest.raises(LabError, match="2 numbers of ranks for 1 nodes"):
        one.command(which, 5, ["true"], {}, per_node=[4, 1])
    with pytest.raises(LabError, match="unknown mapping XX"):
        one.command(which, 1, ["true"], {}, mapping="XX")
    with pytest.raises(LabError, match="no node 7"):
        one.node("7")


# Jobs


def test_job_output_and_exit_code() -> None:
    done = jobs.run(["sh", "-c", "echo out; echo err >&2; exit 5"], os.environ, timeout=10)
    assert (done.code, done.out, done.err) == (5, "out\n", "err\n")


def test_job_leaves_no_process_behind_not_even_a_daemon() -> None:
    daemon = (
        "setsid sh -c 'trap \"\" TERM HUP; sleep 312' </dev/null >/dev/null 2>&1 & echo started"
    )
    done = jobs.run(["sh", "-c", daemon], os.environ, timeout=10)
    assert done.out == "started\n"
    assert not running("sleep 312")


def test_job_that_hangs_after_its_result_is_given_its_grace() -> None:
    begin = time.monotonic()
    done = jobs.run(["sh", "-c", "echo result; sleep 313"], os.environ, timeout=60, grace=0.5)
    assert done.timed_out
    assert done.out == "result\n"
    assert time.monotonic() - begin < 10
