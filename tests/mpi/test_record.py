"""What `haichi run --record` writes of programs whose calls are known, on every MPI."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import mpis
import pytest
from mpis import BUILD, HAICHI, ROOT, Mpi

Line = dict[str, Any]
STEPS = 10


def read(path: Path) -> list[Line]:
    """The lines of a record, which is whole."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0]["kind"] == "record"
    assert lines[-1]["kind"] == "end"
    assert lines[-1]["calls"] == sum(line["calls"] for line in of_kind(lines, "rank"))
    return lines


def of_kind(lines: Iterable[Line], kind: str) -> list[Line]:
    """The lines of one kind."""
    return [line for line in lines if line["kind"] == kind]


def counted(lines: Iterable[Line], rank: int) -> Counter[tuple[Any, ...]]:
    """How often a rank made each call: function, what it completes, bytes, members."""
    members = {line["id"]: line["members"] for line in of_kind(lines, "communicator")}
    calls: Counter[tuple[Any, ...]] = Counter()
    for line in of_kind(lines, "call"):
        if line["ranks"] == str(rank):
            where = members.get(line.get("comm"))
            calls[line["function"], line.get("for"), line.get("bytes"), where] += line["count"]
    return calls


def recorded(mpi: Mpi, ranks: int, argv: list[str | Path], path: Path, *options: str) -> list[Line]:
    """Runs a program under `haichi run --record` and reads the record."""
    words = [HAICHI, "run", f"--record={path}", *options, "--", *argv]
    done = mpi.run(ranks, words, mpi.stock(), check=True)
    assert "haichi" not in done.stderr, done.stderr
    assert "intact" in done.stdout
    return read(path)


@pytest.mark.parametrize("beneath", ["the shim", "nothing"])
def test_counts_and_bytes_are_exact(mpi: Mpi, beneath: str, tmp_path: Path) -> None:
    """Each call that the program makes is in the record, with its bytes, and none that it does not
    make: what MPI libraries and haichi call themselves is not the program's."""
    program = mpi.compile(ROOT / "tests/mpi/record_calls.c")
    path = tmp_path / "record.jsonl"
    if beneath == "the shim":
        lines = recorded(mpi, 4, [program, str(STEPS)], path)
    else:
        recorder = BUILD / "lib" / f"libhaichi-record-{mpi.abi}.so"
        env = mpi.stock(recorder, HAICHI_RECORD=str(path))
        assert "intact" in mpi.run(4, [program, str(STEPS)], env, check=True).stdout
        lines = read(path)
    world, half = "0-3", ["0,2", "1,3"]
    for rank in range(4):
        alltoallv = 4 * sum(other % 3 for other in range(4))
        expected = Counter(
            {
                ("MPI_Irecv", None, 4096, world): STEPS,
                ("MPI_Isend", None, 4096, world): STEPS,
                ("MPI_Waitall", "mixed", 8192, world): STEPS,
                ("MPI_Sendrecv", None, 80, world): STEPS,
                ("MPI_Send", None, 0, world): 1,
                ("MPI_Recv", None, 0, world): 1,
                ("MPI_Send_init", None, 4, world): 1,
                ("MPI_Recv_init", None, 4, world): 1,
                ("MPI_Startall", "mixed", 8, world): STEPS,
                ("MPI_Wait", "MPI_Send_init", 4, world): STEPS,
                ("MPI_Wait", "MPI_Recv_init", 4, world): STEPS,
                ("MPI_Test", None, None, None): 1,
                ("MPI_Request_free", "MPI_Send_init", 4, world): 1,
                ("MPI_Request_free", "MPI_Recv_init", 4, world): 1,
                ("MPI_Barrier", None, None, world): STEPS,
                ("MPI_Bcast", None, 16, world): STEPS,
                ("MPI_Allreduce", None, 8, world): STEPS,
                ("MPI_Alltoall", None, 16, world): STEPS,
                ("MPI_Gather", None, 8, world): STEPS,
                ("MPI_Scatter", None, 12, world): STEPS,
                ("MPI_Allgather", None, 4, world): STEPS,
                ("MPI_Alltoallv", None, alltoallv, world): 1,
                ("MPI_Comm_split", None, None, world): 1,
                ("MPI_Comm_dup", None, None, half[rank % 2]): 3,
                ("MPI_Comm_free", None, None, half[rank % 2]): 4,
                ("MPI_Cart_create", None, None, world): 1,
                ("MPI_Comm_free", None, None, world): 1,
                ("MPI_Bcast", None, 4, half[rank % 2]): 3,
                ("MPI_Bcast", None, 8, world): 1,
                ("MPI_Bcast", None, 16, half[rank % 2]): 1,
            }
        )
        if rank == 0:
            expected["MPI_Send", None, 12, world] = 1
        if rank == 1:
            expected["MPI_Recv", None, 12, world] = 1
        assert counted(lines, rank) == expected


def test_says_who_runs_where_and_for_how_long(mpi: Mpi, tmp_path: Path) -> None:
    """The job, its communicators, each rank's times, and who sent how much to whom."""
    program = mpi.compile(ROOT / "tests/mpi/record_calls.c")
    lines = recorded(mpi, 4, [program, str(STEPS)], tmp_path / "record.jsonl")
    first = lines[0]
    assert first["schema"] == "haichi.record/1"
    assert (first["abi"], first["ranks"]) == (mpi.abi, 4)
    assert first["program"] == [str(program), str(STEPS)]
    assert first["placement"]["nodes"][0]["ranks"] == "0-3"
    communicators = of_kind(lines, "communicator")
    assert communicators[0]["name"] == "MPI_COMM_WORLD"
    grid = next(line for line in communicators if "cart" in line)
    assert grid["cart"] == {"dims": [2, 2], "periods": [True, False]}
    # Two halves, and one copy of each however often it is made.
    assert sorted(line["members"] for line in communicators) == [
        *("0,2", "0,2", "0-3", "0-3", "1,3", "1,3")
    ]
    for line in of_kind(lines, "rank"):
        assert 0 < line["mpi_s"] < line["wall_s"] < 120
        assert 0 <= line["compute_s"] <= line["wall_s"] - line["mpi_s"] + 1e-3
        assert line["finalized"] is True
        assert line["full"] is False
    for line in of_kind(lines, "call"):
        counts = line["histogram"]["counts"]
        assert sum(counts) == line["count"]
        assert counts[0] > 0
        assert line["least_s"] <= line["total_s"] / line["count"] <= line["most_s"]
    traffic = {line["rank"]: line for line in of_kind(lines, "traffic")}
    messages, sent = 3 * STEPS, (4096 + 80 + 4) * STEPS
    assert traffic[2]["to"] == [3]
    assert (traffic[2]["messages"], traffic[2]["bytes"]) == ([messages], [sent])
    assert (traffic[0]["messages"], traffic[0]["bytes"]) == ([messages + 1], [sent + 12])


def test_names_the_place_that_calls(mpi: Mpi, tmp_path: Path) -> None:
    """A call site is an address in the program's file, which its debug information knows."""
    program = mpi.compile(ROOT / "tests/mpi/record_calls.c")
    lines = recorded(mpi, 2, [program, str(STEPS)], tmp_path / "record.jsonl")
    sites = {line["id"]: line for line in of_kind(lines, "site")}
    barrier = next(line for line in of_kind(lines, "call") if line["function"] == "MPI_Barrier")
    site = sites[barrier["site"]]
    assert site["object"] == str(program)
    words = ["addr2line", "-f", "-e", site["object"], hex(site["offset"] - 1)]
    assert "collectives" in mpis.run_bounded(words, check=True).stdout
