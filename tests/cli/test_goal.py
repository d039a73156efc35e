"""`haichi export --to goal` and `haichi import` of GOAL: through the native program and back."""

from __future__ import annotations

import json
from pathlib import Path

import mpis
import pytest
from haichi.record.read import read
from mpis import HAICHI, haichi_command

pytestmark = pytest.mark.skipif(not HAICHI.exists(), reason="haichi is not built: ./haichi build")

BAD_INPUT = 2
GOAL = """num_ranks 2
rank 0 {
l1: calc 1500
l2: send 10b to 1 tag 3
l2 requires l1
}
rank 1 {
l1: recv 10b from 0 tag 3 cpu 0
}
"""


def record(path: Path, *, sequences: bool = True) -> Path:
    """Two ranks: 50 times a message and a broadcast of rank 1; rank 0 has one send more."""
    head = {"kind": "record", "schema": "haichi.record/1", "ranks": 2, "sequence": True}
    world = {"kind": "communicator", "id": 0, "members": "0-1"}
    bcast = {"call": "MPI_Bcast", "bytes": 7, "comm": 0, "root": 1, "compute_s": 1e-6}
    calls = [
        {"call": "MPI_Send", "bytes": 100, "comm": 0, "peer": 1},
        {"call": "MPI_Recv", "bytes": 100, "comm": 0, "peer": 0},
    ]
    lines = [head, world]
    for rank in range(2 if sequences else 0):
        program = [[50, [0, 1]], *([0] if rank == 0 else [])]
        line = {"kind": "sequence", "rank": rank, "events": [calls[rank], bcast]}
        lines.append({**line, "program": program})
    lines.append({"kind": "end", "ranks": 2, "calls": 201})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_record_becomes_goal_and_a_record_again(tmp_path: Path) -> None:
    goal, back = tmp_path / "r.goal", tmp_path / "back.jsonl"
    done = haichi_command("export", "--to", "goal", record(tmp_path / "r"), "--out", goal)
    assert done.returncode == 0, done.stderr
    assert "left out: 1 sends: their receives are not recorded" in done.stderr
    text = goal.read_text()
    assert text.count(": send 100b to 1 tag") == 50
    assert text.count(": send 7b to 0 tag") == 50
    assert text.count(": calc 1000") == 100
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []

    done = haichi_command("import", goal, "-o", back)
    assert done.returncode == 0, done.stderr
    found = read(back)
    assert found.notes == []
    assert found.head.ranks == 2
    assert found.node_of_rank == [0, 1]
    assert set(found.sequences) == {0, 1}
    # 50 rounds are a loop again.
    assert len(found.sequences[0].program) < 10


def test_goal_of_others_becomes_a_record(tmp_path: Path) -> None:
    goal, out = tmp_path / "x.goal", tmp_path / "x.jsonl"
    goal.write_text(GOAL)
    done = haichi_command("import", goal, "--out", out)
    assert done.returncode == 0, done.stderr
    (send, *_) = json.loads(out.read_text().splitlines()[3])["events"]
    assert send["call"] == "MPI_Isend"
    assert (send["bytes"], send["peer"], send["tag"]) == (10, 1, 3)
    assert send["compute_s"] == pytest.approx(1.5e-6)


@pytest.mark.parametrize(
    ("words", "said"),
    mpis.slow_after(
        2,
        [
            (["export", "--to", "goal", "{whole}"], "--to goal takes one record, and --out"),
            (["export", "--to", "goal", "{no}", "--out", "{out}"], "no: No such file or directory"),
            (
                ["export", "--to", "goal", "{bare}", "--out", "{out}"],
                "no sequences of calls; haichi run",
            ),
            (["import", "{broken}", "--out", "{out}"], "broken: line 3: an operation is 'calc N'"),
        ],
    ),
)
def test_one_line_says_what_is_wrong(tmp_path: Path, words: list[str], said: str) -> None:
    names = {name: tmp_path / name for name in ("whole", "bare", "no", "broken", "out")}
    record(names["whole"])
    record(names["bare"], sequences=False)
    names["broken"].write_text(GOAL.replace("calc", "compute"))
    done = haichi_command(*(word.format(**names) for word in words))
    assert done.returncode == BAD_INPUT
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not names["out"].exists()
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []
