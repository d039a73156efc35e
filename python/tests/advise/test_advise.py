"""`haichi advise`: known records, what belongs where, what gains, and what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import recorded
from haichi import paths
from haichi.advise.paste import notations, taskmap
from haichi.advise.traffic import neighbours, traffic_of
from haichi.cli import app
from haichi.record.model import Cart
from haichi.record.read import read
from haichi.report.placement import Place
from haichi.schema import schema_file
from typer.testing import CliRunner

Document = dict[str, Any]
needs_solver = pytest.mark.skipif(
    not paths.program("haichi").exists(), reason="haichi is not built: ./haichi build"
)


def run(*words: str | Path) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["advise", *map(str, words)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def advised(record: Path, *words: str | Path) -> Any:
    code, out, error = run(record, "--json", *words)
    assert code == 0, error
    document = json.loads(out)
    schema = json.loads(schema_file("haichi.advice/1").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)
    return document


def profile(folder: Path, **more: Any) -> Path:
    """1 µs and 1 ns a byte inside a node, 10 µs and 10 ns a byte between nodes; an all-reduce takes
    20 µs up to a KiB."""

    def line(latency: float, per_byte: float, last: int = 1 << 20) -> Document:
        piece = {"from": 0, "to": last, "latency_s": latency, "s_per_byte": per_byte}
        seconds = [latency + per_byte * size for size in (1, last)]
        return {"bytes": [1, last], "seconds": seconds, "pieces": [piece]}

    path = folder / "machine.json"
    document = {
        "schema": "haichi.machine/2",
        "name": "known",
        "made": {"by": "a test", "when": "2026-01-01T00:00:00Z", "from": [], "launches": 1},
        "signature": {"library": "Known MPI 1.0", "processor": "known", "cores": 2},
        "source": "measured",
        "numbers": {},
        "curves": [
            {
                "name": "ping-pong",
                "place": place,
                **line(latency, per_byte),
            }
            for place, latency, per_byte in (("numa", 1e-6, 1e-9), ("network", 1e-5, 1e-8))
        ],
        "collectives": [
            {
                "name": "allreduce",
                "ranks": 4,
                "nodes": 2,
                **line(2e-5, 0.0, last=1024),
            }
        ],
    } | more
    path.write_text(json.dumps(document))
    return path


def pairs(path: Path, abi: str = "mpich") -> Path:
    """Ranks 0 and 2, 1 and 3 talk; they are on different nodes."""
    partner = {0: 2, 1: 3, 2: 0, 3: 1}
    return recorded.write(
        path,
        recorded.head(abi=abi),
        recorded.world(),
        [recorded.rank(number) for number in range(4)],
        [recorded.traffic(number, {to: 1000 * 65536}, 1000) for number, to in partner.items()],
        recorded.traffic(0, {1: 100}),
        recorded.end(),
    )


@needs_solver
def test_who_talks_comes_together(tmp_path: Path) -> None:
    found = advised(pairs(tmp_path / "r.jsonl"), "--machine", profile(tmp_path))
    assert found["placement"]["recorded"]["between_nodes"] == 4 * 65_536_000
    assert found["placement"]["advised"]["between_nodes"] == 100
    nodes = found["placement"]["nodes"]
    assert nodes[0] == nodes[2] != nodes[1] == nodes[3]
    assert sorted(found["placement"]["seats"]) == [0, 1, 2, 3]
    (advice,) = found["advice"]
    # 1,000 messages of 64 KiB each way: 0.665 s between nodes, 0.0665 inside.
    assert 0.5 < advice["gain_s"]["low"] <= advice["gain_s"]["high"] < 4.0
    assert advice["gain_s"]["low"] == pytest.approx(0.6, rel=0.02)


@needs_solver
def test_without_a_profile_there_are_bytes_and_no_time(tmp_path: Path) -> None:
    record = pairs(tmp_path / "r.jsonl")
    found = advised(record)
    assert found["placement"]["advised"]["between_nodes"] == 100
    assert found["advice"][0]["gain_s"] is None
    code, out, _ = run(record, "-o", tmp_path / "advice")
    assert code == 0
    assert "1. Place ranks that talk to each other on one node: no figure" in out
    assert "note: no profile of the record's machine" in out
    assert (tmp_path / "advice" / "slurm-hosts").read_text() == "n0\nn1\nn0\nn1\n"
    assert (tmp_path / "advice" / "hosts").read_text() == "n0:1\nn1:1\nn0:1\nn1:1\n"
    assert f"SLURM_HOSTFILE={tmp_path}/advice/slurm-hosts srun -n 4" in out
    assert '--taskmap=\'manual:{"version":1,"map":[[0,2,1,2]]}\'' in out


@needs_solver
def test_what_is_best_stays(tmp_path: Path) -> None:
    record = recorded.write(
        tmp_path / "r.jsonl",
        recorded.head(),
        recorded.world(),
        [recorded.rank(number) for number in range(4)],
        recorded.traffic(0, {1: 500}),
        recorded.end(),
    )
    found = advised(record)
    assert found["placement"] is None
    assert found["advice"] == []
    assert any("none was found with less than the 0 B" in note for note in found["notes"])


@needs_solver
def test_a_column_of_a_transform_is_a_clique(tmp_path: Path) -> None:
    """All-to-alls of ranks 0 and 2, and of 1 and 3, are what goes between nodes."""
    record = recorded.write(
        tmp_path / "r.jsonl",
        recorded.head(),
        recorded.world(),
        {"kind": "communicator", "id": 1, "members": "0,2"},
        {"kind": "communicator", "id": 2, "members": "1,3"},
        [recorded.rank(number) for number in range(4)],
        recorded.call("0,2", "MPI_Alltoall", 10, 1.0, bytes=4096, comm=1),
        recorded.call("1,3", "MPI_Alltoallv", 10, 1.0, bytes=4096, comm=2),
        recorded.call("0-3", "MPI_Alltoall", 10, 1.0, bytes=1 << 20, comm=0),
        recorded.end(),
    )
    assert traffic_of(read(record)).edges() == [(0, 2, 81920), (1, 3, 81920)]
    found = advised(record)
    assert found["placement"]["recorded"]["between_nodes"] == 2 * 81920
    assert found["placement"]["advised"]["between_nodes"] == 0


def test_neighbours_of_a_grid() -> None:
    grid = Cart(dims=[2, 3], periods=[False, True])
    assert sorted(neighbours(grid, 0)) == [1, 2, 3]
    assert sorted(neighbours(grid, 4)) == [1, 3, 5]
    assert sorted(neighbours(Cart(dims=[2], periods=[True]), 0)) == [1, 1]


def test_a_task_map_is_short() -> None:
    assert taskmap(["a", "b"] * 4) == '{"version":1,"map":[[0,2,1,4]]}'
    assert taskmap(["a"] * 4 + ["b"] * 4 + ["c"] * 2) == '{"version":1,"map":[[0,2,4,1],[2,1,2,1]]}'
    assert taskmap(["b", "a", "a", "b"]) == '{"version":1,"map":[[0,1,1,1],[1,1,2,1],[0,1,1,1]]}'


def test_open_mpi_gets_a_rank_file_where_ranks_were_bound() -> None:
    bound = [Place(core=core, cores=1, numa=0) for core in (0, 1)]
    own, *_ = notations("openmpi", ["a", "b"], bound, "./app")
    assert (own.file, own.content) == ("rankfile", "rank 0=a slot=0\nrank 1=b slot=1\n")
    loose = [Place(core=0, cores=2, numa=0)] * 2
    own, *_ = notations("openmpi", ["a", "b"], loose, "./app")
    assert (own.file, own.content) == ("hosts", "a\nb\n")
    assert own.pasted(Path("f")) == "mpiexec -n 2 --hostfile f/hosts --map-by seq ./app  # Open MPI"


def calls(path: Path, *more: recorded.Line) -> Path:
    return recorded.write(
        path,
        recorded.head(),
        recorded.world(),
        [recorded.rank(number) for number in range(4)],
        list(more),
        recorded.end(),
    )


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        (
            "Put several MPI_Allreduce into one",
            [recorded.call("0-3", "MPI_Allreduce", 10000, 0.5, bytes=8, comm=0)],
        ),
        (
            "Write at offsets (MPI_File_write_at_all) in place of ordered",
            [recorded.call("0-3", "MPI_File_write_ordered", 10, 1.0, bytes=1 << 20, file=0)],
        ),
        (
            "Leave atomic mode: MPI_File_sync and a barrier between writing and reading",
            [
                recorded.call("0-3", "MPI_File_set_atomicity", 1, 0.001, file=0),
                recorded.call("0-3", "MPI_File_write_at_all", 10, 1.0, bytes=1 << 20, file=0),
            ],
        ),
        (
            "Give pieces to a collective write (MPI_File_write_all)",
            [recorded.call("0-3", "MPI_File_write_at", 1000, 1.0, bytes=512, file=0)],
        ),
        (
            "Give pieces to a collective read (MPI_File_read_all)",
            [recorded.call("0-3", "MPI_File_read", 5, 1.0, bytes=1 << 20, file=0, view="regular")],
        ),
        (
            "Wait in MPI (MPI_Mprobe, MPI_Waitany) in place of looking again and again",
            [
                recorded.call("0-3", "MPI_Iprobe", 100000, 1.0, comm=0),
                recorded.call("0-3", "MPI_Recv", 10, 0.1, bytes=8, comm=0, place="node"),
            ],
        ),
    ],
)
def test_calls_that_cost_more_than_they_need(
    tmp_path: Path, title: str, lines: list[recorded.Line]
) -> None:
    found = advised(calls(tmp_path / "r.jsonl", *lines))
    assert [each["title"] for each in found["advice"]] == [title]
    assert found["advice"][0]["recorded_s"] > 0
    assert found["advice"][0]["unknown"] == "there is no profile of the machine"
    # A hundredth of the time is not worth a word.
    little = [line | {"total_s": line["total_s"] / 1000} for line in lines]
    assert advised(calls(tmp_path / "s.jsonl", *little))["advice"] == []


def test_what_eight_in_one_gain_is_taken_from_the_curve(tmp_path: Path) -> None:
    """10,000 all-reduces of 50 µs, where one of 64 bytes takes 20: an eighth of them is left."""
    record = calls(
        tmp_path / "r.jsonl", recorded.call("0-3", "MPI_Allreduce", 10000, 0.5, bytes=8, comm=0)
    )
    found = advised(record, "--machine", profile(tmp_path))
    gained = found["advice"][0]["gain_s"]
    assert gained["low"] == pytest.approx(0.5 - 10000 / 8 * 2e-5, rel=0.01)
    assert gained["high"] == pytest.approx(gained["low"], rel=0.2)


def test_most_gain_comes_first(tmp_path: Path) -> None:
    record = calls(
        tmp_path / "r.jsonl",
        recorded.call("0-3", "MPI_File_write_ordered", 10, 3.0, bytes=1 << 20, file=0),
        recorded.call("0-3", "MPI_Allreduce", 10000, 0.5, bytes=8, comm=0),
    )
    titles = [each["title"] for each in advised(record, "--machine", profile(tmp_path))["advice"]]
    assert titles[0] == "Put several MPI_Allreduce into one"
    assert [each["recorded_s"] for each in advised(record)["advice"]] == [3.0, 0.5]


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    code, _, error = run(tmp_path / "none.jsonl")
    assert (code, error.count("\n")) == (2, 1)
    assert error.startswith("haichi advise: ")
    (tmp_path / "machine.json").write_text("{}")
    code, _, error = run(pairs(tmp_path / "r.jsonl"), "--machine", tmp_path / "machine.json")
    assert (code, error.count("\n")) == (2, 1)
