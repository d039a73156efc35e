"""`haichi measure --for`: what a record needs measured, at which sizes."""

from __future__ import annotations

from pathlib import Path

import pytest
import recorded
from haichi.cli import app
from haichi.predict import measure_for
from haichi.predict.measure_for import MOST_SIZES, Needs, needs_of
from haichi.record.read import read
from haichi_processes import runner
from typer.testing import CliRunner

CATALOGUE = [
    "ping-pong", "stream", "bidirectional", "call-isend", "call-irecv", "call-recv", "allreduce",
    "alltoallv", "iallreduce", "iallreduce-issue", "barrier", "put-fence", "put-flush", "fence",
    "file-write-at-all", "comm-dup",
]  # fmt: skip

# What every profile is made from.
BASE = {"ping-pong": [8], "stream": [8]}


def needs(tmp_path: Path, *lines: recorded.Line) -> Needs:
    path = recorded.write(
        tmp_path / "r.jsonl",
        recorded.head(),
        recorded.world(),
        {"kind": "communicator", "id": 1, "members": "0-1"},
        [recorded.rank(number) for number in range(4)],
        lines,
        recorded.end(),
    )
    return needs_of(read(path), CATALOGUE)


def test_messages(tmp_path: Path) -> None:
    found = needs(
        tmp_path,
        recorded.call("0-3", "MPI_Isend", 9, 0.1, bytes=5000, comm=0, place="network"),
        recorded.call("0-3", "MPI_Irecv", 9, 0.1, bytes=5000, comm=0, place="network"),
        recorded.call("0-3", "MPI_Waitall", 9, 0.1, bytes=10000, **{"for": "mixed"}),
        recorded.call("0-3", "MPI_Comm_rank", 9, 0.1),
    )
    sizes = {name: sorted(of) for name, of in found.sizes.items()}
    assert sizes == {
        "ping-pong": [8, 5000],
        "stream": [8, 5000],
        "bidirectional": [5000],
        "call-isend": [8],
        "call-irecv": [8],
        "call-recv": [8],
    }
    assert not found.unknown


def test_calls_of_all_ranks(tmp_path: Path) -> None:
    found = needs(
        tmp_path,
        recorded.call("0-3", "MPI_Allreduce_c", 9, 0.1, bytes=24, comm=0),
        recorded.call("0-1", "MPI_Iallreduce", 9, 0.1, bytes=80, comm=1),
        recorded.call("0-3", "MPI_Alltoallv", 9, 0.1, bytes=4000, comm=0),
        recorded.call("0-3", "MPI_File_iwrite_at_all", 9, 0.1, bytes=77, comm=0, file=0),
        recorded.call("0-3", "MPI_Comm_dup", 1, 0.1, comm=0),
        recorded.call("0-3", "MPI_Comm_spawn", 1, 0.1, comm=0),
    )
    assert {name: sorted(of) for name, of in found.sizes.items()} == {
        **BASE,
        "ping-pong": [8, 80],  # parts of the job share ports
        "allreduce": [24],
        "iallreduce": [80],
        "iallreduce-issue": [80],
        "alltoallv": [1000],
        "file-write-at-all": [77],
        "comm-dup": [0],
    }
    assert list(found.unknown) == ["Comm_spawn"]
    assert {shape: list(of) for shape, of in found.shapes.items()} == {(2, 1): ["Iallreduce"]}


@pytest.mark.parametrize("way", ["fence", "flush"])
def test_one_sided_as_the_program_synchronises(tmp_path: Path, way: str) -> None:
    found = needs(
        tmp_path,
        recorded.call("0-3", "MPI_Put", 9, 0.1, bytes=64, comm=0, place="node"),
        recorded.call("0-3", f"MPI_Win_{way}", 9, 0.1, comm=0),
    )
    measured = {"put-fence", "fence"} if way == "fence" else {"put-flush"}
    assert set(found.sizes) == measured | BASE.keys()


def test_of_many_sizes_those_with_most_time(tmp_path: Path) -> None:
    lines = [
        recorded.call("0-3", "MPI_Allreduce", 1, 1.0 + size, bytes=8 * size, comm=0)
        for size in range(1, 101)
    ]
    chosen = needs(tmp_path, *lines).chosen()
    (sizes,) = (each for each, names in chosen.items() if "allreduce" in names)
    assert list(sizes) == [8 * size for size in range(101 - MOST_SIZES, 101)]


def test_without_a_launcher_the_commands_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure_for, "catalogue", lambda: CATALOGUE)
    record = recorded.small(tmp_path / "r.jsonl")
    done = CliRunner().invoke(app, ["measure-for", "--for", str(record), "--budget", "10"])
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("haichi measure allreduce call-irecv call-isend call-recv stream")
    assert all(line.endswith(" -- mpiexec -n N") for line in lines)
    assert "no measurement of Alltoall" in done.stderr
    assert "4 ranks on 2 nodes, as the record's job" in done.stderr


def test_all_groups_go_into_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure_for, "catalogue", lambda: CATALOGUE)
    asked: list[list[str]] = []

    def run(words: list[str | Path], *, capture: bool) -> runner.Outcome:
        asked.append([str(word) for word in words[2:]])
        return runner.Outcome(1 if len(asked) == 1 else 0)

    monkeypatch.setattr(measure_for.runner, "run", run)
    for name in measure_for.UNDER_A_LAUNCHER:
        monkeypatch.delenv(name, raising=False)
    record, out = recorded.small(tmp_path / "r.jsonl"), tmp_path / "s.jsonl"
    words = ["--for", record, "--out", out, "--buffers", "hot", "--", "mpiexec", "-n", "4"]
    done = CliRunner().invoke(app, ["measure-for", *map(str, words)])
    assert done.exit_code == 1  # something could not be measured, and the others were
    assert ["--resume" in each for each in asked] == [False, True]
    for each in asked:
        assert each[each.index("--out") + 1] == str(out)
        assert each[-4:] == ["--", "mpiexec", "-n", "4"]
        assert each[each.index("--buffers") + 1] == "hot"
    sizes = [[each[at + 1] for at, word in enumerate(each) if word == "--size"] for each in asked]
    assert sizes == [["8"], ["8", "65536"]]


@pytest.mark.parametrize("what", ["there", "under a launcher", "no record", "no calls"])
def test_what_is_wrong_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(measure_for, "catalogue", lambda: CATALOGUE)
    record, out = recorded.small(tmp_path / "r.jsonl"), tmp_path / "s.jsonl"
    if what == "there":
        out.touch()
    elif what == "under a launcher":
        monkeypatch.setenv("PMI_RANK", "0")
    elif what == "no record":
        record.write_text("{}\n")
    else:
        recorded.write(record, recorded.head(), recorded.end())
    says = {
        "there": "is there already; name a new file",
        "under a launcher": "starts the launcher itself",
        "no record": "JSON without a schema",
        "no calls": "none of its calls is one to measure",
    }[what]
    words = ["--for", str(record), "--out", str(out), "--", "mpiexec"]
    done = CliRunner().invoke(app, ["measure-for", *words])
    assert done.exit_code == 2 and says in done.stderr
