"""`haichi replay`: the calls of a record made again, watched by a tool of its own (call_log.c)."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import mpis
import pytest
from haichi.schema import schema_file
from mpis import BUILD, HAICHI, Mpi

BAD_RECORD, USAGE = 65, 64
Event = dict[str, Any]
Log = list[tuple[str, int, int]]


@pytest.fixture(params=mpis.all_mpis(), ids=str)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return here(request.param)


@pytest.fixture
def openmpi() -> Mpi:
    """For more ranks than cores: its ranks yield."""
    return here(next(each for each in mpis.all_mpis() if each.abi == "openmpi"))


def here(mpi: Mpi) -> Mpi:
    if mpi.missing:
        pytest.skip(mpi.missing)
    if not (BUILD / "bin" / f"haichi-replay-{mpi.abi}").exists():
        pytest.skip(f"no haichi-replay-{mpi.abi} in this build: no MPI of that ABI then")
    return mpi


def program(*parts: Event | tuple[int, list[Any]]) -> tuple[list[Event], list[Any]]:
    """Events and program of a sequence. A loop is (times, [parts])."""
    events: list[Event] = []

    def walk(parts: Any) -> list[Any]:
        body: list[Any] = []
        for part in parts:
            if isinstance(part, tuple):
                body.append([part[0], walk(part[1])])
            else:
                body.append(len(events))
                events.append({"compute_s": 0, "took_s": 1e-6, **part})
        return body

    return events, walk(parts)


def write(path: Path, sequences: list[Any], *lines: dict[str, Any], end: bool = True) -> Path:
    """A record of these sequences, of one rank each (None: of that rank there is none)."""
    ranks = len(sequences)
    everybody = f"0-{ranks - 1}" if ranks > 1 else "0"
    head = {"kind": "record", "schema": "haichi.record/1", "by": "haichi 0.1", "ranks": ranks}
    head |= {"abi": "mpich", "program": ["app"], "sequence": True}
    head["placement"] = {
        "schema": "haichi.placement/1",
        "nodes": [{"name": "a", "ranks": everybody}],
    }
    world = {"kind": "communicator", "id": 0, "name": "MPI_COMM_WORLD", "members": everybody}
    all_lines: list[dict[str, Any]] = [head, world, *lines]
    for rank, sequence in enumerate(sequences):
        if sequence is not None:
            events, body = sequence
            line = {"kind": "sequence", "rank": rank, "cut": False}
            all_lines.append({**line, "events": events, "program": body})
    if end:
        all_lines.append({"kind": "end", "ranks": ranks, "calls": 1})
    path.write_text("".join(json.dumps(line) + "\n" for line in all_lines))
    return path


def replay(
    mpi: Mpi, ranks: int, record: Path, *words: str, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """Runs it through the native program."""
    command = [HAICHI, "replay", "--mpi", mpi.abi, str(record), *words]
    done = mpi.run(ranks, command, mpi.stock(), timeout=60)
    assert (done.returncode == 0) == (code == 0), done.stderr
    return done


def tool(mpi: Mpi) -> Path:
    """By the MPI that the build has the program for: it loads that library, too."""
    source = mpis.ROOT / "tests" / "mpi" / "call_log.c"
    return mpis.mpis(mpi.abi)[0].compile(source, "-shared", "-fPIC")


def watched(mpi: Mpi, record: Path, sequences: list[Any], folder: Path) -> tuple[Any, list[Log]]:
    """The replay's own report and what the tool saw on each rank."""
    log = folder / "log"
    ranks = len(sequences)
    command = [BUILD / "bin" / f"haichi-replay-{mpi.abi}", str(record), "--json"]
    env = mpi.stock(tool(mpi), CALL_LOG=str(log))
    done = mpi.run(ranks, command, env, timeout=60, check=True)
    return json.loads(done.stdout), read_logs(log, ranks)


def read_logs(log: Path, ranks: int) -> list[Log]:
    """What the tool saw on each rank, sorted out of its lines."""
    logs: list[Log] = []
    for rank in range(ranks):
        file = Path(f"{log}.{rank}")
        text = file.read_text() if file.exists() else ""
        rows = (line.split() for line in text.splitlines())
        logs.append([(name, int(size), int(peer)) for name, size, peer in rows])
    return logs


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    """The one line that the replay itself has to say."""
    lines = [line for line in done.stderr.splitlines() if "haichi replay: error" in line]
    assert len(lines) == 1, done.stderr
    return lines[0]


def message(call: str, size: int, peer: int | str, **more: Any) -> Event:
    return {"call": call, "bytes": size, "comm": 0, "peer": peer, **more}


def test_makes_the_calls_of_the_record_in_their_order(mpi: Mpi, tmp_path: Path) -> None:
    halo = [
        message("MPI_Irecv", 1000, 1, tag=7, request=0),
        message("MPI_Isend", 1000, 1, tag=7, request=1),
        {"call": "MPI_Waitall", "completes": [0, 1]},
        {"call": "MPI_Allreduce", "bytes": 24, "comm": 0},
    ]
    other = [{**event, "peer": 0} if "peer" in event else event for event in halo]
    tail = {"call": "MPI_Bcast", "bytes": 5, "comm": 0, "root": 1}
    sequences = [program((20, [*halo[:3], (3, halo[3:])]), tail) for halo in (halo, other)]
    report, logs = watched(mpi, write(tmp_path / "r.jsonl", sequences), sequences, tmp_path)
    for rank, log in enumerate(logs):
        peer = 1 - rank
        turn = [("Irecv", 1000, peer), ("Isend", 1000, peer), *[("Allreduce", 24, -1)] * 3]
        assert log == [*turn * 20, ("Bcast", 5, 1)]
    assert [each["calls"] for each in report["ranks"]] == [20 * 6 + 1] * 2
    assert report["notes"] == []
    assert report["ranks"][0]["recorded_s"] == pytest.approx(121e-6)
    assert report["slowest"]["replayed_s"] > 0


def every_collective(rank: int) -> list[Event]:
    names = ["Barrier", "Bcast", "Gather", "Scatter", "Allgather", "Alltoall", "Reduce"]
    names += ["Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan"]
    names += ["Gatherv", "Scatterv", "Allgatherv", "Alltoallv", "Alltoallw"]
    events: list[Event] = []
    for name in names:
        varies = name.endswith(("v", "w"))
        size = 10 * (rank + 1) if varies else 40
        for call in (f"MPI_{name}", f"MPI_I{name.lower()}"):
            event: Event = {"call": call, "bytes": size, "comm": 0, "root": 1}
            if varies:
                event["received"] = 30 - 10 * rank
            if call.startswith("MPI_I"):
                events += [{**event, "request": 2}, {"call": "MPI_Wait", "completes": [2]}]
            else:
                events.append(event)
    return events


def test_makes_every_collective_call_in_both_forms(mpi: Mpi, tmp_path: Path) -> None:
    sequences = [program((3, every_collective(rank))) for rank in range(2)]
    report, logs = watched(mpi, write(tmp_path / "r.jsonl", sequences), sequences, tmp_path)
    assert report["notes"] == []
    assert report["ranks"][0]["calls"] == 3 * 17 * 3
    assert logs[0].count(("Alltoall", 40, -1)) == 3
    # 10 and 20 bytes are sent, 30 and 20 received: rank 0 gives 6 + 4 of them, rank 1 12 + 8.
    assert logs[0].count(("Alltoallv", 10, -1)) == 6
    assert logs[1].count(("Alltoallv", 20, -1)) == 6


def test_communicators_are_those_of_the_record(openmpi: Mpi, tmp_path: Path) -> None:
    turned = {"kind": "communicator", "id": 3, "members": "3,1"}
    grid = {"kind": "communicator", "id": 5, "members": "0-3"}
    grid["cart"] = {"dims": [2, 2], "periods": [True, False]}
    to_one = {"call": "MPI_Send", "bytes": 7, "comm": 3, "peer": 1}
    from_three = {"call": "MPI_Recv", "bytes": 7, "comm": 3, "peer": 3}
    around = {"call": "MPI_Neighbor_alltoall", "bytes": 11, "comm": 5}
    split = {"call": "MPI_Comm_split", "comm": 5}
    sequences = [program(around, split) for _ in range(4)]
    sequences[1] = program(from_three, around, split)
    sequences[3] = program(to_one, around, split)
    record = write(tmp_path / "r.jsonl", sequences, turned, grid)
    report, logs = watched(openmpi, record, sequences, tmp_path)
    assert report["notes"] == []
    assert logs[3] == [("Send", 7, 1), ("Neighbor_alltoall", 11, -1)]
    assert logs[1] == [("Recv", 7, 0), ("Neighbor_alltoall", 11, -1)]


def test_other_kinds_of_messages(mpi: Mpi, tmp_path: Path) -> None:
    mine = [
        message("MPI_Ssend", 3, 1),
        message("MPI_Bsend", 4, 1),
        message("MPI_Rsend", 5, 1),
        message("MPI_Sendrecv", 6, 1, **{"from": 1, "from_bytes": 6}),
        message("MPI_Send_init", 8, 1, request=4, tag=2),
        (5, [{"call": "MPI_Start", "completes": [4]}, {"call": "MPI_Test", "completes": [4]}]),
        {"call": "MPI_Test"},
        message("MPI_Issend", 9, 1, request=5),
        {"call": "MPI_Request_free", "completes": [5]},
        {"call": "MPI_Send", "bytes": 2, "comm": 0},
        {"call": "MPI_Iprobe", "comm": 0},
    ]
    other = [
        *(message("MPI_Recv", size, 0) for size in (3, 4, 5)),
        message("MPI_Sendrecv", 6, 0, **{"from": 0, "from_bytes": 6}),
        message("MPI_Recv_init", 8, 0, request=0, tag=2),
        (5, [{"call": "MPI_Startall", "completes": [0]}, {"call": "MPI_Wait", "completes": [0]}]),
        message("MPI_Recv", 9, "any", tag="any"),
    ]
    sequences = [program(*mine), program(*other)]
    report, logs = watched(mpi, write(tmp_path / "r.jsonl", sequences), sequences, tmp_path)
    assert report["notes"] == []
    sent = [("Ssend", 3, 1), ("Isend", 4, 1), ("Send", 5, 1), ("Sendrecv", 6, 1)]
    assert logs[0][:9] == [*sent, *[("Isend", 8, 1)] * 5]
    assert logs[0][9][:2] == ("Send", 2)
    # Whoever takes from any rank has room for the largest.
    assert logs[1][-1] == ("Recv", 9, -1)
    assert logs[1].count(("Irecv", 9, 0)) == 5


def test_a_cut_record_is_replayed_as_far_as_it_goes(mpi: Mpi, tmp_path: Path) -> None:
    reduce = {"call": "MPI_Allreduce", "bytes": 8, "comm": 0}
    sequences = [
        program((10, [message("MPI_Send", 500_000, 1), reduce])),
        program((6, [message("MPI_Recv", 500_000, 0), reduce]), message("MPI_Recv", 500_000, 0)),
    ]
    record = write(tmp_path / "r.jsonl", sequences, end=False)
    report, logs = watched(mpi, record, sequences, tmp_path)
    assert Counter(name for name, _, _ in logs[0]) == {"Send": 7, "Allreduce": 6}
    assert Counter(name for name, _, _ in logs[1]) == {"Recv": 7, "Allreduce": 6}
    notes = "\n".join(report["notes"])
    assert "it has no last line" in notes
    assert "left out: 3 sends: their receives are not recorded" in notes
    assert "left out: 4 collective calls" in notes


def test_what_cannot_be_replayed_is_told_and_skipped(mpi: Mpi, tmp_path: Path) -> None:
    put = {"call": "MPI_Win_post", "window": 0}
    wait = {"call": "MPI_Wait", "completes": [0]}
    lone = {"call": "MPI_Isend", "bytes": 1 << 20, "comm": 0, "peer": 1, "request": 0}
    barrier = {"call": "MPI_Barrier", "comm": 0}
    sequences = [program(put, lone, wait, barrier), program(put, barrier)]
    done = replay(mpi, 2, write(tmp_path / "r.jsonl", sequences))
    assert "left out: 2 MPI_Win_post: the replay does not know it" in done.stderr
    assert "left out: 1 sends: their receives are not recorded" in done.stderr
    assert "rank 1" in done.stdout
    assert "the slowest" in done.stdout


def one_sided(rank: int) -> list[Any]:
    on = {"window": 3, "bytes": 40, "peer": 1 - rank}
    names = ("MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Get_accumulate")
    accesses = [{**on, "call": call} for call in names]
    lone = [
        {**on, "bytes": 8, "call": call} for call in ("MPI_Fetch_and_op", "MPI_Compare_and_swap")
    ]
    fence = {"call": "MPI_Win_fence", "window": 3}
    asks = [
        {**on, "call": "MPI_Rput", "request": 0},
        {**on, "call": "MPI_Rget", "request": 1},
        {"call": "MPI_Waitall", "completes": [0, 1]},
    ]
    names = ("lock", "flush", "unlock", "lock_all", "flush_all", "sync", "unlock_all")
    locks = {name: {"call": f"MPI_Win_{name}", "window": 3, "peer": 1 - rank} for name in names}
    return [
        {"call": "MPI_Win_allocate", "comm": 0, "window": 3, "bytes": 16},
        (5, [fence, *accesses, fence]),
        locks["lock"],
        *lone,
        locks["flush"],
        locks["unlock"],
        locks["lock_all"],
        *asks,
        locks["flush_all"],
        locks["sync"],
        locks["unlock_all"],
        {"call": "MPI_Win_free", "window": 3},
        # Nobody frees this one, nor unlocks it.
        {"call": "MPI_Win_create", "comm": 0, "window": 4, "bytes": 8},
        {**locks["lock"], "window": 4},
    ]


def test_one_sided_calls_go_to_windows_of_the_same_ranks(mpi: Mpi, tmp_path: Path) -> None:
    sequences = [program(*one_sided(rank)) for rank in range(2)]
    report, logs = watched(mpi, write(tmp_path / "r.jsonl", sequences), sequences, tmp_path)
    assert report["notes"] == []
    assert logs[0].count(("Put", 40, 1)) == 5
    assert logs[1].count(("Put", 40, 0)) == 5


def test_file_calls_go_to_scratch_files(mpi: Mpi, tmp_path: Path) -> None:
    on = {"file": 2, "bytes": 3000}
    calls = ["read", "write", "read_at", "write_at", "read_all", "write_all", "read_at_all"]
    calls += ["write_at_all", "write_ordered", "read_shared", "write_all_begin", "write_all_end"]
    asked = ["iread", "iwrite_at", "iwrite_all", "iread_at_all"]
    body: list[Any] = [{**on, "call": f"MPI_File_{call}"} for call in calls]
    for call in asked:
        body += [
            {**on, "call": f"MPI_File_{call}", "request": 0},
            {"call": "MPI_Wait", "completes": [0]},
        ]
    opened = {"call": "MPI_File_open", "comm": 0, "file": 2}
    rest = [{"call": f"MPI_File_{call}", "file": 2} for call in ("sync", "set_view", "close")]
    sequences = [program(opened, (3, body), *rest, opened) for _ in range(2)]
    record = write(tmp_path / "r.jsonl", sequences, {"kind": "file", "id": 2, "name": "out"})
    folder = tmp_path / "scratch"
    folder.mkdir()
    done = replay(mpi, 2, record, "--json", "--directory", str(folder))
    report = json.loads(done.stdout)
    assert report["notes"] == []
    assert report["ranks"][0]["calls"] == 1 + 3 * (len(calls) + 2 * len(asked)) + 3 + 1
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("how", ["busy", "idle", "none"])
def test_computing_is_time_that_passes(openmpi: Mpi, tmp_path: Path, how: str) -> None:
    step = {"call": "MPI_Barrier", "comm": 0, "compute_s": 2e-4}
    sequences = [program((1000, [step]))] * 2
    record = write(tmp_path / "r.jsonl", sequences)
    done = replay(openmpi, 2, record, "--json", "--compute", how)
    document = json.loads(done.stdout)
    schema = json.loads(schema_file("haichi.replay/1").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)
    assert (document["compute"], document["slowest"]["calls"]) == (how, 2000)
    for rank in document["ranks"]:
        computed = rank["replayed_s"] - rank["replayed_mpi_s"]
        assert rank["recorded_s"] - rank["recorded_mpi_s"] == pytest.approx(0.2)
        if how == "none":
            assert computed == 0
        else:
            assert computed > 0.19


def test_one_line_says_what_is_wrong_with_a_record(openmpi: Mpi, tmp_path: Path) -> None:
    good = write(tmp_path / "r.jsonl", [program({"call": "MPI_Barrier", "comm": 0})] * 2)
    without = write(tmp_path / "n.jsonl", [None, None])
    broken = tmp_path / "b.jsonl"
    broken.write_text(good.read_text().replace('"rank": 1', '"rank": 2'))
    said = {
        (good, 3): "is of 2 ranks, and these are 3: mpiexec -n 2 haichi replay",
        (without, 2): "has no sequences of calls; haichi run --record --sequence records them",
        (broken, 2): "b.jsonl: line 4: rank takes a whole number from 0 up to 1, not 2",
        (tmp_path / "no", 2): "no: No such file or directory",
    }
    for (path, ranks), text in said.items():
        assert text in complaint(replay(openmpi, ranks, path, code=BAD_RECORD))
    assert "--compute" in complaint(replay(openmpi, 1, good, "--compute", "x", code=USAGE))


def test_a_replay_that_hangs_ends_with_a_line(openmpi: Mpi, tmp_path: Path) -> None:
    # Numbers are equal, yet each waits for the other: no program was recorded so.
    mine = [message("MPI_Recv", 1, 1), message("MPI_Send", 1, 1)]
    other = [message("MPI_Recv", 1, 0), message("MPI_Send", 1, 0)]
    record = write(tmp_path / "r.jsonl", [program(*mine), program(*other)])
    done = replay(openmpi, 2, record, "--patience", "1", code=1)
    assert "haichi replay: error: no progress for long (--patience) in MPI_Recv" in done.stderr


@pytest.mark.parametrize("ranks", [2, 4])
def test_makes_the_calls_that_the_recorded_program_made(
    openmpi: Mpi, tmp_path: Path, ranks: int
) -> None:
    program = openmpi.compile(mpis.ROOT / "tests" / "mpi" / "replayed.c")
    record, log = tmp_path / "r.jsonl", tmp_path / "original"
    run = [HAICHI, "run", f"--record={record}", "--sequence", "--", program]
    openmpi.run(ranks, run, openmpi.stock(), timeout=60, check=True)
    openmpi.run(ranks, [program], openmpi.stock(tool(openmpi), CALL_LOG=str(log)), check=True)
    report, logs = watched(openmpi, record, [None] * ranks, tmp_path)
    assert report["notes"] == []
    # Whom a receive from any rank was served by is recorded, and then asked by name.
    original = [Counter(log) for log in read_logs(log, ranks)]
    made = [Counter(log) for log in logs]
    assert original[0].pop(("Recv", 50, -1)) == 3 * (ranks - 1)
    assert [made[0].pop(("Recv", 50, rank)) for rank in range(1, ranks)] == [3] * (ranks - 1)
    assert made == original
    assert report["slowest"]["recorded_s"] > 0
