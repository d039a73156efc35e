"""`haichi predict` of a run that is to be different: other places, other ranks, another algorithm,
no haichi."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import recorded
from haichi.paths import build
from haichi.predict.changes import Wish, change
from haichi.predict.scaled import Grid, balanced
from haichi.record.read import Record, read
from haichi.report.load import ReportError
from test_predict import SIGNATURE, machine, predicted, run

needs_build = pytest.mark.skipif(
    not (build() / "bin" / "haichi").exists(), reason="not built: ./haichi build"
)


@pytest.fixture
def known(tmp_path: Path) -> Path:
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(machine()))
    return path


def ring(path: Path, ranks: int = 4, **odd: Any) -> Path:
    """Each rank sends 1000 bytes to the next 50 times, on nodes of two, and receives as much; an
    all-reduce behind each. `odd`: members of rank 1's messages that are another way."""
    lines = []
    for rank in range(ranks):
        there, back = (rank + 1) % ranks, (rank - 1) % ranks
        message = {"bytes": 1000, "comm": 0} | (odd if rank == 1 else {})
        near = ["node" if rank // 2 == peer // 2 else "network" for peer in (there, back)]
        one = f"{rank}"
        lines += [
            recorded.rank(rank, wall=2.0, mpi=1.0),
            recorded.call(one, "MPI_Irecv", 50, 0.01, place=near[1], **message),
            recorded.call(one, "MPI_Send", 50, 0.5, place=near[0], **message),
            recorded.call(one, "MPI_Wait", 50, 0.2, **{"for": "MPI_Irecv"}, bytes=1000),
            recorded.call(one, "MPI_Allreduce", 50, 0.29, bytes=8, comm=0),
            recorded.traffic(rank, {there: 50 * message["bytes"]}, messages=50),
            recorded.sequence(
                rank,
                [
                    {"call": "MPI_Irecv", "peer": back, "request": 0, "compute_s": 0.02, **message},
                    {"call": "MPI_Send", "peer": there, "took_s": 1e-2, **message},
                    {"call": "MPI_Wait", "completes": [0], "took_s": 4e-3},
                    {"call": "MPI_Allreduce", "bytes": 8, "comm": 0},
                ],
                [[50, [0, 1, 2, 3]]],
            ),
        ]
    head = recorded.head(ranks, 2, sequence=True)
    return recorded.write(path, head, recorded.world(ranks), lines, recorded.end(ranks))


def places(record: Record, function: str) -> list[Counter[str]]:
    """Of each rank, how many calls have which class."""
    found = [Counter[str]() for _ in range(record.head.ranks)]
    for key in record.keys:
        for rank in key.ranks if key.call.function == function else ():
            found[rank][key.call.place or ""] += key.call.count
    return found


def test_calls_follow_their_peers_to_other_places(tmp_path: Path) -> None:
    record = read(ring(tmp_path / "r.jsonl"))
    there = change(record, Wish(placement="RR"))
    # In blocks 1 and 3 send to the other node; dealt out, neighbours are never on one.
    assert places(record, "MPI_Send") == [Counter({at: 50}) for at in ("node", "network") * 2]
    assert places(there.record, "MPI_Send") == [Counter(network=50)] * 4
    assert places(there.record, "MPI_Irecv") == [Counter(network=50)] * 4
    back = change(there.record, Wish(placement="BK"))
    assert places(back.record, "MPI_Send") == places(record, "MPI_Send")
    assert there.lines == ("placement: RR",)
    assert not there.record.notes


def test_a_mix_of_sizes_is_told_where_peers_part(tmp_path: Path) -> None:
    path = recorded.write(
        tmp_path / "r.jsonl",
        recorded.head(4, 4),
        recorded.world(),
        [recorded.rank(number) for number in range(4)],
        recorded.call("0", "MPI_Send", 30, 0.1, bytes=8, comm=0, place="node"),
        recorded.call("0", "MPI_Send", 10, 0.1, bytes=9000, comm=0, place="node"),
        recorded.traffic(0, {1: 240, 2: 90000}, messages=20),
        recorded.end(),
    )
    two_nodes = tmp_path / "there.json"
    nodes = [{"name": "a", "ranks": "0-1"}, {"name": "b", "ranks": "2-3"}]
    two_nodes.write_text(json.dumps({"schema": "haichi.placement/1", "nodes": nodes}))
    there = change(read(path), Wish(placement=str(two_nodes))).record
    assert places(there, "MPI_Send")[0] == Counter(node=20, network=20)
    assert any("the same mix" in note for note in there.notes)


@needs_build
def test_a_placement_changes_both_predictions(tmp_path: Path, known: Path) -> None:
    record = ring(tmp_path / "r.jsonl")
    task_map = tmp_path / "map.json"  # all on one node
    task_map.write_text('{"version":1,"map":[[0,1,4,1]]}')
    for by in ("table", "sequence"):
        as_it_is = predicted(record, known, "--by", by)
        near = predicted(record, known, "--by", by, "--placement", str(task_map))
        assert near["communication"]["high"] < as_it_is["communication"]["high"]
        assert near["changed"] == [f"placement: {task_map}"]
        assert as_it_is["changed"] == []


@needs_build
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"version":1,"map":[[0,1,3,1]]}', "3 ranks"),
        ("nonsense", "placement"),
        (None, "No such file"),
    ],
)
def test_a_placement_that_is_none_is_a_line(
    tmp_path: Path, known: Path, text: str | None, said: str
) -> None:
    file = tmp_path / "map.json"
    if text is not None:
        file.write_text(text)
    record = ring(tmp_path / "r.jsonl")
    code, _, error = run(record, "--machine", known, "--placement", file)
    assert code == 2
    assert error.count("\n") == 1
    assert said.lower() in error.lower()


@needs_build
def test_a_ring_scales(tmp_path: Path, known: Path) -> None:
    small, large = ring(tmp_path / "4.jsonl", 4), ring(tmp_path / "8.jsonl", 8)
    for by in ("table", "sequence"):
        wide = predicted(small, known, "--by", by, "--ranks", "8")
        true = predicted(large, known, "--by", by)
        assert wide["ranks"] == true["ranks"] == 8
        assert wide["communication"] == pytest.approx(true["communication"])
        assert len(wide["by_rank"]) == 8
        assert "8 ranks in place of 4" in wide["changed"][0]
    scaled = change(read(small), Wish(ranks=8)).record
    assert places(scaled, "MPI_Send") == places(read(large), "MPI_Send")


def test_a_grid_scales_by_its_directions() -> None:
    grid = Grid((4, 3))
    assert grid.step(0, 9) == (-1, 0)
    assert grid.step(2, 0) == (0, 1)
    assert Grid((6, 4)).at(0, (-1, -1)) == 23
    with pytest.raises(ReportError, match="half way"):
        grid.step(0, 6)
    assert balanced(12, 2) == (4, 3)
    assert balanced(64, 3) == (4, 4, 4)
    assert balanced(24, 3) == (4, 3, 2)
    assert balanced(7, 2) == (7, 1)


def test_what_does_not_scale_says_why(tmp_path: Path) -> None:
    def why(path: Path) -> str:
        with pytest.raises(ReportError) as caught:
            change(read(path), Wish(ranks=8))
        return str(caught.value)

    odd = why(ring(tmp_path / "odd.jsonl", bytes=2000))
    assert "rank 0 makes 50 MPI_Irecv" in odd or "and rank 1" in odd
    assert "its pattern does not scale" in odd
    part = recorded.write(
        tmp_path / "part.jsonl",
        recorded.head(),
        recorded.world(),
        {"kind": "communicator", "id": 1, "members": "0-1"},
        [recorded.rank(number) for number in range(4)],
        recorded.call("0-1", "MPI_Alltoall", 5, 0.1, bytes=8, comm=1),
        recorded.end(),
    )
    assert "on a communicator of 2 of its 4 ranks" in why(part)
    all_together = recorded.write(
        tmp_path / "v.jsonl",
        recorded.head(),
        recorded.world(),
        [recorded.rank(number) for number in range(4)],
        recorded.call("0-3", "MPI_Alltoallv", 5, 0.1, bytes=80, comm=0),
        recorded.end(),
    )
    assert "bytes to all ranks together" in why(all_together)


def exchanges(path: Path) -> Path:
    """Ten all-to-alls of 64 KiB, 4 ranks on 2 nodes."""
    event = {"call": "MPI_Alltoall", "bytes": 65536, "comm": 0, "compute_s": 1e-3}
    return recorded.write(
        path,
        recorded.head(sequence=True),
        recorded.world(),
        [recorded.rank(number) for number in range(4)],
        recorded.call("0-3", "MPI_Alltoall", 10, 1.0, bytes=65536, comm=0),
        [recorded.sequence(number, [event], [[10, [0]]]) for number in range(4)],
        recorded.end(),
    )


@needs_build
def test_an_algorithm_is_carried_out_by_its_messages(tmp_path: Path) -> None:
    known = tmp_path / "machine.json"
    known.write_text(json.dumps(machine(signature=SIGNATURE | {"processor": "another"})))
    record = exchanges(tmp_path / "r.jsonl")
    words = ("--by", "sequence", "--machine", known)
    found = {
        name: predicted(record, known, "--by", "sequence", "--algorithm", name)
        for name in ("ring", "bruck(2)", "node_aware(1)")
    }
    # Bruck's messages carry two blocks of four between ranks, twice: more than a block to each.
    assert found["bruck(2)"]["program_s"]["low"] > found["ring"]["program_s"]["low"]
    assert found["node_aware(1)"]["program_s"] != found["ring"]["program_s"]
    assert found["ring"]["changed"] == ["all-to-alls by ring"]
    order = predicted(record, known, "--by", "sequence", "--order", "nd_rank_shift")
    assert order["changed"] == ["all-to-alls by spread(nd_rank_shift)"]
    code, _, error = run(record, *words, "--algorithm", "nonsense")
    assert code == 2
    assert "no such algorithm" in error
    code, _, error = run(record, *words, "--algorithm", "spread(rank,4)")
    assert code == 2
    assert "a window is not predicted" in error


def test_an_order_needs_a_sequence(tmp_path: Path, known: Path) -> None:
    record = exchanges(tmp_path / "r.jsonl")
    for words, said in (
        (("--order", "rank"), "need --by sequence"),
        (("--order", "ring"), "use one of rank, pairwise"),
        (("--order", "rank", "--algorithm", "ring"), "give one of the two"),
        (("--without", "mpi"), "only haichi"),
    ):
        code, _, error = run(record, "--machine", known, *words)
        assert code == 2
        assert said in error
        assert error.count("\n") == 1


@needs_build
def test_without_haichi_what_it_took_tells_nothing(tmp_path: Path, known: Path) -> None:
    event = {"call": "MPI_File_write_all", "bytes": 4096, "comm": 0, "file": 0, "took_s": 0.4}
    record = recorded.write(
        tmp_path / "r.jsonl",
        recorded.head(sequence=True),
        recorded.world(),
        [recorded.rank(number, wall=4.0, mpi=4.0) for number in range(4)],
        recorded.call("0-3", "MPI_File_write_all", 10, 4.0, bytes=4096, comm=0, file=0),
        [recorded.sequence(number, [event], [[10, [0]]]) for number in range(4)],
        recorded.end(),
    )
    as_recorded = predicted(record, known, "--by", "sequence")
    assert as_recorded["program_s"]["low"] == pytest.approx(4.0 * 0.9)
    without = predicted(record, known, "--by", "sequence", "--without", "haichi")
    assert without["program_s"] is None
    assert "have no curve" in without["why_not"]
