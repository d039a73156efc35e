"""What `haichi run --record` writes of programs whose calls are known, on every MPI."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import mpis
import pytest
from mpis import ROOT, Mpi
from record_support import calls_of, counted, of_kind, read, recorded, under

STEPS = 10


@pytest.mark.parametrize("beneath", ["the shim", "nothing"])
def test_counts_and_bytes_are_exact(mpi: Mpi, beneath: str, tmp_path: Path) -> None:
    """Each call that the program makes is in the record, with its bytes, and none that it does not
    make: what MPI libraries and haichi call themselves is not the program's."""
    program = mpi.compile(ROOT / "tests/mpi/record_calls.c")
    path = tmp_path / "record.jsonl"
    done = mpi.run(4, [program, str(STEPS)], under(mpi, path, beneath), check=True)
    assert "intact" in done.stdout
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


def test_sees_windows_files_and_views(mpi: Mpi, tmp_path: Path) -> None:
    """One-sided accesses and their traffic, file accesses with the file's name and view."""
    program = mpi.compile(ROOT / "tests/mpi/record_files.c", *mpis.thread_flags())
    path, data = tmp_path / "record.jsonl", tmp_path / "data"
    lines = recorded(mpi, 2, [program, data, "plain"], path)
    assert [line["name"] for line in of_kind(lines, "file")] == [str(data)]
    for rank in range(2):
        calls = counted(lines, rank)
        world = "0-1"
        assert calls["MPI_Put", None, 32, world] == 5
        assert calls["MPI_Get", None, 8, world] == 1
        assert calls["MPI_Accumulate", None, 0, world] == 1
        assert calls["MPI_Fetch_and_op", None, 4, world] == 1
        assert calls["MPI_Get_accumulate", None, 16, world] == 1
        assert calls["MPI_Win_fence", None, None, world] == 2
        assert calls["MPI_Win_allocate", None, 256, world] == 1
        assert calls["MPI_Win_free", None, None, world] == 1
        assert calls["MPI_File_write_at", None, 128, world] == 1
        assert calls["MPI_File_write_all", None, 32, world] == 1
        assert calls["MPI_File_iread_at", None, 16, world] == 1
        assert calls["MPI_Wait", "MPI_File_iread_at", 16, world] == 1
        assert calls["MPI_File_close", None, None, world] == 1
        by_name = {line["function"]: line for line in calls_of(lines, rank)}
        assert by_name["MPI_File_write_at"]["view"] == "contiguous"
        assert by_name["MPI_File_write_all"]["view"] == "regular"
        assert by_name["MPI_File_write_all"]["file"] == 0
        assert by_name["MPI_Put"]["place"] == by_name["MPI_Win_lock"]["place"]
    traffic = [line for line in of_kind(lines, "traffic") if line["way"] == "one-sided"]
    assert [line["to"] for line in traffic] == [[1], [0]]
    assert traffic[0]["bytes"] == [5 * 32 + 8 + 4 + 16]


def test_finds_the_order_of_calls(mpi: Mpi, tmp_path: Path) -> None:
    """With --sequence there is a program of loops for each rank, that makes as many calls as it
    did."""
    program = mpi.compile(ROOT / "tests/mpi/record_calls.c")
    lines = recorded(mpi, 2, [program, "200"], tmp_path / "record.jsonl", "--sequence")
    assert lines[0]["sequence"] is True
    ranks = {line["rank"]: line for line in of_kind(lines, "rank")}

    def length(items: list[object]) -> int:
        return sum(
            item[0] * length(item[1]) if isinstance(item, list) else 1  # type: ignore[misc]
            for item in items
        )

    for line in of_kind(lines, "sequence"):
        assert line["cut"] is False
        assert length(line["program"]) == ranks[line["rank"]]["calls"]
        assert len(line["events"]) < 100
        names = [event["call"] for event in line["events"]]
        exchange = names.index("MPI_Irecv")
        other = 1 - line["rank"]
        receive, send, wait = line["events"][exchange : exchange + 3]
        assert (receive["peer"], receive["tag"], receive["bytes"]) == (other, 3, 4096)
        assert (send["call"], send["peer"]) == ("MPI_Isend", other)
        assert sorted(wait["completes"]) == sorted([receive["request"], send["request"]])
        sendrecv = line["events"][names.index("MPI_Sendrecv")]
        assert (sendrecv["from"], sendrecv["from_bytes"], sendrecv["from_tag"]) == (other, 80, 4)
        scatter = line["events"][names.index("MPI_Scatter")]
        assert scatter["root"] == 1
        assert line["events"][names.index("MPI_Alltoallv")]["received"] == 8 * line["rank"]


def test_tells_waiting_from_the_collective(mpi: Mpi, tmp_path: Path) -> None:
    """With --sync the wait for others is part of a collective's time, and of no other call's."""
    program = mpi.compile(ROOT / "tests/mpi/record_calls.c")
    lines = recorded(mpi, 2, [program, str(STEPS)], tmp_path / "record.jsonl", "--sync")
    assert lines[0]["sync"] is True
    waiting = {line["function"] for line in of_kind(lines, "call") if line.get("wait_s")}
    assert {"MPI_Barrier", "MPI_Bcast", "MPI_Alltoall"} <= waiting
    assert not any(name.startswith(("MPI_Send", "MPI_I", "MPI_Comm")) for name in waiting)
    for line in of_kind(lines, "call"):
        assert line.get("wait_s", 0) <= line["total_s"]
    # The barriers before them are the recorder's.
    assert counted(lines, 0)["MPI_Barrier", None, None, "0-1"] == STEPS


def test_tells_a_late_sender_from_the_transfer(mpi: Mpi, tmp_path: Path) -> None:
    """With --sync what a blocking receive waits for its sender is apart, also of any source and
    tag; the program gets the same, and no error that it would not get."""
    program = mpi.compile(ROOT / "tests/mpi/late_sender.c", *mpis.thread_flags())
    stock = mpi.run(2, [program], mpi.stock(), check=True)
    assert stock.stdout == "errors 3\n"
    path = tmp_path / "record.jsonl"
    done = mpi.run(2, [program], under(mpi, path, HAICHI_RECORD_SYNC="on"), check=True)
    assert done.stdout == stock.stdout
    lines = read(path)
    receives = [line for line in of_kind(lines, "call") if line["function"] == "MPI_Recv"]
    by_bytes = {line.get("bytes"): line for line in receives if line["ranks"] == "1"}
    for bytes_of in (800, 400000):  # 0.9 s late, of which a busy machine may take some
        assert 0.3 < by_bytes[bytes_of]["wait_s"] <= by_bytes[bytes_of]["total_s"]
    # It was there already, and one whose tag not every MPI has is not looked for before.
    assert by_bytes[16].get("wait_s", 0) < 0.3
    assert "wait_s" not in by_bytes[24]
    assert not [line for line in of_kind(lines, "call") if line["function"] == "MPI_Probe"]


def test_threads_that_wait_for_the_same_message_get_each_one(mpi: Mpi, tmp_path: Path) -> None:
    """With --sync too, where several threads see the same message before one of them takes it."""
    program = mpi.compile(ROOT / "tests/mpi/late_sender.c", *mpis.thread_flags())
    stock = mpi.run(2, [program, "threads"], mpi.stock(), check=True)
    path = tmp_path / "record.jsonl"
    done = mpi.run(2, [program, "threads"], under(mpi, path, HAICHI_RECORD_SYNC="on"), check=True)
    assert sorted(done.stdout.splitlines()) == sorted(stock.stdout.splitlines())
    if "threads intact" in stock.stdout:
        assert counted(read(path), 1)["MPI_Recv", None, 4, "0-1"] == 800


def test_counts_the_calls_of_all_threads(mpi: Mpi, tmp_path: Path) -> None:
    """Four threads that call MPI at once: none of their calls is lost."""
    program = mpi.compile(ROOT / "tests/mpi/record_files.c", *mpis.thread_flags())
    path = tmp_path / "record.jsonl"
    done = mpi.run(
        2, [program, tmp_path / "data", "threads"], under(mpi, path), check=True, timeout=60
    )
    if "threads 0" in done.stdout:
        pytest.skip(f"{mpi.name} has no MPI_THREAD_MULTIPLE")
    assert counted(read(path), 0)["MPI_Sendrecv", None, 4, "0-1"] == 4000


def test_refused_arguments_are_refused_as_ever(mpi: Mpi, tmp_path: Path) -> None:
    """The program gets the same error for each wrong call as without the recorder, and of such a
    call only the function is counted."""
    program = mpi.compile(ROOT / "tests/mpi/record_files.c", *mpis.thread_flags())
    path = tmp_path / "record.jsonl"
    argv = [program, tmp_path / "data", "refused"]
    stock = mpi.run(2, argv, mpi.stock(), check=True)
    here = mpi.run(2, argv, under(mpi, path), check=True)
    assert "refused 7" in stock.stdout
    assert sorted(here.stdout.splitlines()) == sorted(stock.stdout.splitlines())
    assert counted(read(path), 0)["MPI_Send", None, None, None] == 3


@pytest.mark.parametrize("language", ["mpif.h", "use mpi", "mpi_f08", "mpi4py"])
def test_sees_other_languages(mpi: Mpi, language: str, tmp_path: Path) -> None:
    """Fortran's bindings, and Python's, are recorded as C is."""
    names = {"mpif.h": "interpose_mpif.f90", "use mpi": "interpose_usempi.f90"}
    if language == "mpi4py":
        if mpi.python is None:
            pytest.skip(mpi.python_missing)
        argv: list[str | Path] = [mpi.python, ROOT / "tests/mpi/interpose_mpi4py.py"]
        env = dict(mpi.python_env)
    else:
        if mpi.mpif90 is None:
            pytest.skip(f"{mpi.name} has no Fortran compiler here")
        source = ROOT / "tests/fortran" / names.get(language, "interpose_f08.f90")
        argv, env = [mpi.compile(source, fortran=True)], {}
    path = tmp_path / "record.jsonl"
    options = ["plain"] if (language, mpi.name) == ("mpi4py", "mpich-4.0.2") else []
    argv += [tmp_path / "data", *options]
    done = mpi.run(2, argv, {**env, **under(mpi, path)}, check=True)
    assert "intact" in done.stdout
    calls = counted(read(path), 0)
    seen = {name for name, *_ in calls}
    assert {"MPI_File_open", "MPI_File_set_view", "MPI_File_write_all", "MPI_File_close"} <= seen
    assert sum(n for key, n in calls.items() if key[0] == "MPI_File_write_all" and key[2] > 0) > 0
