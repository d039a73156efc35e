"""haichi-where-<flavour> prints the placement of its job, in every notation, under every MPI.

`haichi where` picks the program for the MPI whose launcher started it; all but one of these tests
start that program themselves.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
from pathlib import Path

import jsonschema
import mpis
import pytest
from mpis import BUILD, HAICHI, ROOT, Mpi

SCHEMA = ROOT / "python" / "haichi" / "schema" / "haichi.placement.1.schema.json"
EXAMPLES = ROOT / "machines" / "placements"
DISAGREES, USAGE, BAD_INPUT = 1, 64, 78
NAME_BYTES = 27


def program(mpi: Mpi, name: str = "haichi-where") -> Path:
    """The build's program for an MPI; a skip where this build has none."""
    path = BUILD / "bin" / f"{name}-{mpi.abi}"
    if not path.exists():
        pytest.skip(f"no {path.name} in this build: no MPI of that ABI when it was made")
    return path


def where(mpi: Mpi, ranks: int, *options: str | Path, **env: str):
    """Runs haichi-where with HAICHI_* variables; returns what mpiexec ended with."""
    return mpi.run(ranks, [program(mpi), *options], mpi.stock(**env))


def complaints(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines of our own program on standard error; launchers add theirs."""
    return [line for line in done.stderr.splitlines() if "haichi" in line]


def this_name() -> str:
    """This host's name as haichi shows it."""
    name = socket.gethostname()
    return (name if len(name) <= NAME_BYTES else name.partition(".")[0])[:NAME_BYTES]


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """HAICHI_BUILD and the like are for the tests, not for the programs that they start."""
    for name in [name for name in os.environ if name.startswith("HAICHI_")]:
        monkeypatch.delenv(name)


@pytest.fixture(params=mpis.slow_but(["mpich-4.0.2"], mpis.all_mpis()[:2]), ids=str)
def stock(request: pytest.FixtureRequest) -> Mpi:
    """The distribution's MPIs alone, for what does not depend on the MPI's version."""
    if request.param.missing:
        pytest.skip(request.param.missing)
    return request.param


@pytest.fixture(scope="module")
def wrap(tmp_path_factory: pytest.TempPathFactory):
    """wrap(body): a script around a program; its body sees the rank as $rank."""

    def make(body: str) -> Path:
        script = tmp_path_factory.mktemp("wrap") / "wrap.sh"
        script.write_text(f"#!/bin/sh\nrank=${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}\n{body}\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return script

    return make


@pytest.fixture(scope="module")
def two_hosts(wrap) -> Path:
    """A wrapper that gives each two ranks a host name of their own: n0, n1, ..."""
    unshare = ["unshare", "--uts"]
    if os.geteuid() != 0:
        unshare[1:1] = ["--user", "--map-root-user"]
    if not shutil.which("unshare") or mpis.run_bounded([*unshare, "true"]).returncode:
        pytest.skip("no host names of our own: unshare --uts is not allowed here")
    return wrap(
        f'exec {" ".join(unshare)} sh -c \'hostname "$0" && exec "$@"\' "n$((rank / 2))" "$@"'
    )


def test_one_host_as_a_table(mpi: Mpi) -> None:
    done = where(mpi, 4)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "4 ranks on 1 node, told apart by their hosts"
    assert lines[2].split() == ["node", "name", "ranks", "packages", "cores", "threads", "NUMA",
                                "nodes"]  # fmt: skip
    node = lines[3].split()
    assert node[:3] == ["0", this_name(), "0-3"]
    assert all(int(count) >= 1 for count in node[3:])
    assert int(node[5]) == len(os.sched_getaffinity(0))
    assert any(line.endswith("bound") for line in lines[5:])
    assert not complaints(done)


def test_one_host_in_every_notation(mpi: Mpi) -> None:
    done = where(mpi, 3, "--json")
    assert done.returncode == 0, done.stderr
    placement = json.loads(done.stdout)
    jsonschema.validate(placement, json.loads(SCHEMA.read_text()))
    assert placement["nodes"] == [{"name": this_name(), "ranks": "0-2"}]
    assert len(placement["places"]) == 3
    assert all(place["core"] in os.sched_getaffinity(0) for place in placement["places"])
    assert where(mpi, 3, "--taskmap").stdout == '{"version":1,"map":[[0,1,3,1]]}\n'
    assert where(mpi, 3, "--pmi").stdout == "(vector,(0,1,3))\n"


def test_places_follow_the_binding(stock: Mpi, wrap) -> None:
    last = max(os.sched_getaffinity(0))
    bind = wrap(f'[ "$rank" = 1 ] && exec taskset -c {last} "$@"; exec "$@"')
    json_text = stock.run(2, [bind, program(stock), "--json"], check=True).stdout
    assert json.loads(json_text)["places"][1] == {
        "core": last,
        "cores": 1,
        "numa": json.loads(json_text)["places"][0]["numa"],
    }
    table = stock.run(2, [bind, program(stock)], check=True).stdout.splitlines()
    assert table[-1].split() == ["1", this_name(), str(last), table[-1].split()[3], "bound"]


@pytest.mark.parametrize("example", ["two-nodes.json", "two-nodes.taskmap", "two-nodes.pmi"])
def test_a_file_overrides_the_hosts(mpi: Mpi, example: str) -> None:
    done = where(mpi, 4, "--taskmap", HAICHI_PLACEMENT=str(EXAMPLES / example))
    assert done.returncode == 0, done.stderr
    assert done.stdout == '{"version":1,"map":[[0,2,1,2]]}\n'


def test_an_overridden_table_tells_the_real_host(stock: Mpi) -> None:
    file = EXAMPLES / "two-nodes.json"
    lines = where(stock, 4, HAICHI_PLACEMENT=str(file)).stdout.splitlines()
    assert lines[0] == f"4 ranks on 2 nodes, as {file} says"
    assert lines[2].endswith("real host")
    assert lines[4].split()[:3] == ["1", "n1", "1,3"]
    assert lines[4].split()[-1] == this_name()


@pytest.mark.slow
def test_what_was_written_can_be_read_back(stock: Mpi, tmp_path: Path) -> None:
    first = EXAMPLES / "unequal.json"
    for option in ("--json", "--taskmap", "--pmi"):
        written = where(stock, 6, option, HAICHI_PLACEMENT=str(first)).stdout
        again = tmp_path / "again"
        again.write_text(written)
        assert where(stock, 6, option, HAICHI_PLACEMENT=str(again)).stdout == written


def test_a_file_that_one_rank_names_is_for_all(stock: Mpi, wrap) -> None:
    file = EXAMPLES / "two-nodes.json"
    only = wrap(f'[ "$rank" = 2 ] && export HAICHI_PLACEMENT={file}; exec "$@"')
    done = stock.run(4, [only, program(stock), "--taskmap"], stock.stock(), check=True)
    assert done.stdout == '{"version":1,"map":[[0,2,1,2]]}\n'


BAD_FILES = {
    "other size": ('{"version":1,"map":[[0,2,2,1]]}', "is for 4 ranks, but the job has 2"),
    "no JSON": ('{"schema": "haichi.placement/1",\n "nodes" []}', "line 2, column 10"),
    "other schema": ('{"schema": "haichi.placement/9"}', '"schema" is "haichi.placement/9"'),
    "rank twice": (
        '{"schema":"haichi.placement/1","nodes":[{"ranks":"0-1"},{"ranks":"1"}]}',
        "rank 1 is in nodes[0] and in nodes[1]",
    ),
    "bad list": (
        '{"schema":"haichi.placement/1","nodes":[{"ranks":"0;1"}]}',
        "nodes[0].ranks \"0;1\": character 2 is ';'",
    ),
    "bad block": ("[[0,2,1]]", "map[0] is [0,2,1], not four numbers"),
    "bad vector": ("(vector,(0,2))", "character 13 is ')', not ','"),
    "hostfile": ("n0 slots=2\n", "this is no placement"),
    "empty": ("", "the placement is empty"),
    "huge": ("[[0,1,2000000000,1]]", "map[0] brings the ranks to more than"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_is_one_clear_line(stock: Mpi, tmp_path: Path, case: str) -> None:
    text, expected = BAD_FILES[case]
    file = tmp_path / "placement"
    file.write_text(text)
    done = where(stock, 2, HAICHI_PLACEMENT=str(file))
    assert done.returncode == BAD_INPUT
    (line,) = complaints(done)
    assert line.startswith(f"haichi where: error: HAICHI_PLACEMENT={file}: ")
    assert expected in line
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/nonexistent/placement", "cannot open /nonexistent/placement: No such file"),
        ("/tmp", "/tmp is not a file"),
        ("/dev/zero", "/dev/zero is not a file"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_clear_line(stock: Mpi, path: str, expected: str) -> None:
    done = where(stock, 2, HAICHI_PLACEMENT=path)
    assert done.returncode == BAD_INPUT
    (line,) = complaints(done)
    assert expected in line
    assert done.stdout == ""


@pytest.mark.parametrize("options", [["--jsno"], ["--json", "--pmi"], ["file"]], ids=str)
def test_a_bad_option_is_one_clear_line(stock: Mpi, options: list[str]) -> None:
    done = where(stock, 2, *options)
    assert done.returncode == USAGE
    (line,) = complaints(done)
    assert "see haichi where --help" in line
    assert done.stdout == ""


def test_help_is_printed_once(stock: Mpi) -> None:
    done = where(stock, 2, "--help")
    assert done.returncode == 0
    assert done.stdout.count("Usage: haichi where") == 1


def test_the_mpi_agrees_on_one_host(mpi: Mpi) -> None:
    done = where(mpi, 4, "--check")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("MPI_COMM_TYPE_SHARED agrees.\n")


def test_host_names_make_nodes(mpi: Mpi, two_hosts: Path) -> None:
    done = mpi.run(4, [two_hosts, program(mpi), "--json", "--check"], mpi.stock())
    assert json.loads(done.stdout)["nodes"] == [
        {"name": "n0", "ranks": "0-1"},
        {"name": "n1", "ranks": "2-3"},
    ]
    assert done.returncode == DISAGREES
    (line,) = complaints(done)
    assert "MPI_COMM_TYPE_SHARED counts 1 node, haichi 2; it joins ranks 0-1 of n0 | 2-3 of n1" in (
        line
    )


def test_a_host_by_two_names_is_one_node(tmp_path: Path) -> None:
    """hydra takes the two for two hosts, and MPICH believes it."""
    mpich = mpis.all_mpis()[0]
    if mpich.missing:
        pytest.skip(mpich.missing)
    hosts = tmp_path / "hosts"
    hosts.write_text("localhost:1\n127.0.0.1:1\n")
    words = [str(mpich.mpiexec), "-f", str(hosts), "-n", "4", str(program(mpich)), "--check"]
    done = mpis.run_bounded(words, env={**os.environ, **mpich.launcher_env}, timeout=60)
    assert done.stdout.splitlines()[0] == "4 ranks on 1 node, told apart by their hosts"
    assert done.returncode == DISAGREES
    (line,) = complaints(done)
    assert "counts 2 nodes, haichi 1" in line
    assert "ranks 0-3, into 0,2 | 1,3" in line


def test_communicators_derive_their_placement(mpi: Mpi) -> None:
    done = mpi.run(4, [program(mpi, "discover-test")], mpi.stock())
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "ok", done.stdout


def test_communicators_derive_their_placement_on_two_hosts(mpi: Mpi, two_hosts: Path) -> None:
    done = mpi.run(4, [two_hosts, program(mpi, "discover-test")], mpi.stock())
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "ok", done.stdout


def test_spawned_ranks_are_asked(mpi: Mpi) -> None:
    if mpi.abi == "mpich":  # with one message or another
        pytest.skip("built with Debian's MPICH 4.0.2, where MPI_Comm_spawn fails in any program")
    done = mpi.run(2, [program(mpi, "discover-test"), "spawn"], mpi.stock())
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "ok\n"


def test_through_haichi_where(mpi: Mpi) -> None:
    if not HAICHI.exists():
        pytest.skip(f"no {HAICHI} in this build")
    program(mpi)
    done = mpi.run(4, [HAICHI, "where", "--taskmap"])
    assert done.returncode == 0, done.stderr
    assert done.stdout == '{"version":1,"map":[[0,1,4,1]]}\n'


def addresses(done: subprocess.CompletedProcess[str]) -> list[str | None]:
    """What --json says of each node's address."""
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    return [node.get("address") for node in document["nodes"]]


def test_a_node_says_its_address_in_the_network(stock: Mpi) -> None:
    assert addresses(where(stock, 2, "--json")) == [None]
    slurm = {"SLURM_TOPOLOGY_ADDR": "s0.s3.n17"}
    assert addresses(where(stock, 2, "--json", **slurm)) == ["s0.s3.n17"]
    both = slurm | {"HAICHI_NODE_ADDRESS": "1,0,2"}
    assert addresses(where(stock, 2, "--json", **both)) == ["1,0,2"]
    assert "address" in where(stock, 2, **slurm).stdout
    assert addresses(where(stock, 2, "--json", HAICHI_NODE_ADDRESS="x" * 65)) == [None]


def test_fujitsus_mpi_tells_tofu_coordinates(stock: Mpi, tmp_path: Path) -> None:
    """A stand-in for the function that other MPIs have not."""
    source, library = tmp_path / "fjmpi.c", tmp_path / "fjmpi.so"
    source.write_text(
        "int FJMPI_Topology_get_coords(void* comm, int rank, int view, int n, int* coords) {\n"
        "  if (view != 1 || n != 6) return 1;\n"
        "  for (int i = 0; i < n; ++i) coords[i] = 10 * i;\n"
        "  return 0;\n"
        "}\n"
    )
    command = ["cc", "-shared", "-fPIC", "-o", str(library), str(source)]
    mpis.run_bounded(command, check=True)
    done = where(stock, 2, "--json", LD_PRELOAD=str(library))
    assert addresses(done) == ["0,10,20,30,40,50"]


def test_a_placement_file_gives_addresses(stock: Mpi, tmp_path: Path) -> None:
    file = tmp_path / "placement.json"
    nodes = [{"ranks": "0", "address": "0,1"}, {"ranks": "1"}]
    file.write_text(json.dumps({"schema": "haichi.placement/1", "nodes": nodes}))
    env = {"HAICHI_PLACEMENT": str(file), "HAICHI_NODE_ADDRESS": "7"}
    assert addresses(where(stock, 2, "--json", **env)) == ["0,1", "7"]
    file.write_text(file.read_text().replace('"0,1"', "[0, 1]"))
    done = where(stock, 2, HAICHI_PLACEMENT=str(file))
    assert done.returncode == BAD_INPUT
    assert "nodes[0].address is [0,1]; write where the node is" in complaints(done)[0]
