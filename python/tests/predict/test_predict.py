"""`haichi predict` by table: known records on known machines, the paper's program, and what is
wrong."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import recorded
from haichi.cli import app
from haichi.figures.paper_001 import TRANS7_BYTES, TRANS7_EXCHANGES, facts
from haichi.paths import ROOT
from haichi.predict.kinds import Kind, kind_of
from haichi.predict.stated import APART
from haichi.schema import schema_file
from typer.testing import CliRunner

Document = dict[str, Any]
SIGNATURE = {"library": "Known MPI 1.0", "processor": "known", "cores": 2, "node_names": ["n0"]}


def run(*words: str | Path) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["predict", *map(str, words)])
    return done.exit_code, done.stdout, done.stderr


def predicted(record: Path, machine: Path | None, *words: str) -> Any:
    named = ["--machine", machine] if machine else []
    code, out, error = run(record, *named, "--json", *words)
    assert code == 0, error
    document = json.loads(out)
    schema = json.loads(schema_file("haichi.prediction/1").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)
    return document


def line(latency: float, per_byte: float, sizes: tuple[int, ...] = (1, 1 << 20)) -> Document:
    """A curve that is one line."""
    return {"bytes": list(sizes), "seconds": [latency + per_byte * size for size in sizes]}


def machine(**more: Any) -> Document:
    """1 µs and 1 ns a byte inside a node, 10 µs and 10 ns a byte between nodes; all-reduces of 4
    ranks on 2 nodes."""
    pieces = [{"from": 0, "to": 1 << 20, "latency_s": 0.0, "s_per_byte": 0.0}]
    places = (("numa", 1e-6, 1e-9), ("network", 1e-5, 1e-8))
    return {
        "schema": "haichi.machine/2",
        "name": "known",
        "made": {"by": "a test", "when": "2026-01-01T00:00:00Z", "from": [], "launches": 1},
        "signature": SIGNATURE,
        "source": "measured",
        "numbers": {"eager_bytes": {"value": 4096, "from": "a test"}},
        "curves": [
            {
                "name": "ping-pong",
                "place": place,
                **line(latency, per_byte),
                "pieces": [{**pieces[0], "latency_s": latency, "s_per_byte": per_byte}],
            }
            for place, latency, per_byte in places
        ],
        "collectives": [
            {"name": "allreduce", "ranks": 4, "nodes": 2, **line(3e-5, 1e-8)},
            {"name": "alltoall", "ranks": 4, "nodes": 2, **line(5e-5, 3e-8)},
            {"name": "barrier", "ranks": 4, "nodes": 2, "bytes": [0], "seconds": [2e-5]},
        ],
    } | more


@pytest.fixture
def known(tmp_path: Path) -> Path:
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(machine()))
    return path


def write_machine(tmp_path: Path, document: Document) -> Path:
    path = tmp_path / "other.json"
    path.write_text(json.dumps(document))
    return path


def write_record(
    tmp_path: Path,
    *lines: Document,
    ranks: int = 4,
    wall: float = 10.0,
    mpi: float = 4.0,
    **head: Any,
) -> Path:
    return recorded.write(
        tmp_path / "r.jsonl",
        recorded.head(ranks, 2, **head),
        recorded.world(ranks),
        [recorded.rank(number, wall=wall, mpi=mpi) for number in range(ranks)],
        lines,
        recorded.end(ranks),
    )


def of_costs(made: Document) -> tuple[float, float]:
    """A program's interval without what is allowed for launches, of which the profile has one."""
    low, high = span(made["program_s"])
    return low / (1 - APART), high / (1 + APART)


def span(interval: Document) -> tuple[float, float]:
    return interval["low"], interval["high"]


# Paper 001, section 3.7

CLAIM = 0.024  # what its authors' own predictions were off by at most


def trans7(tmp_path: Path, way: str) -> tuple[Path, float]:
    """The paper's program as a record, and what its communication took: 64 ranks, one a node, that
    exchange 6,150 KB with each other 2,400 times. Nothing is told of how long which call took."""
    name = "Put" if way == "put" else "Send+Barrier"
    paper = facts()
    whole = paper["Table 4", f"Trans7 total;global,{name}"]
    comm = paper["Table 4", f"Trans7 comm;global,{name}"]
    ranks, each = "0-63", {"bytes": TRANS7_BYTES, "comm": 0, "place": "network"}
    messages = TRANS7_EXCHANGES * 63
    if way == "put":
        calls = [
            recorded.call(ranks, "MPI_Put", messages, comm / 2, **each),
            recorded.call(ranks, "MPI_Win_fence", TRANS7_EXCHANGES, comm / 2, comm=0),
        ]
    else:
        calls = [
            recorded.call(ranks, "MPI_Irecv", messages, comm / 4, **each),
            recorded.call(ranks, "MPI_Send", messages, comm / 4, **each),
            recorded.call(ranks, "MPI_Barrier", messages, comm / 4, comm=0),
            recorded.call(ranks, "MPI_Waitall", TRANS7_EXCHANGES, comm / 4, **{"for": "MPI_Irecv"}),
        ]
    path = recorded.write(
        tmp_path / "trans7.jsonl",
        recorded.head(64, 1),
        recorded.world(64),
        [recorded.rank(number, wall=whole, mpi=comm) for number in range(64)],
        calls,
        recorded.end(64),
    )
    return path, comm


@pytest.mark.parametrize("way", ["send", "put"])
def test_trans7_on_the_earth_simulator_is_within_the_papers_claim(tmp_path: Path, way: str) -> None:
    record, comm = trans7(tmp_path, way)
    made = predicted(record, ROOT / "machines" / "earth-simulator.json")
    low, high = span(made["communication"])
    assert low <= comm <= high
    middle = (low + high) / 2
    assert abs(middle / comm - 1) <= CLAIM
    assert (high - low) / 2 <= 0.05 * middle  # and the interval says something
    assert made["unknown"] == [] and made["program_s"] is not None


# Messages


def test_blocking_messages_that_follow_each_other(tmp_path: Path, known: Path) -> None:
    size = 1000
    record = write_record(
        tmp_path,
        recorded.call("0", "MPI_Send", 100, 0.1, bytes=size, comm=0, place="network"),
        recorded.call("1", "MPI_Recv", 100, 0.1, bytes=size, comm=0, place="network"),
    )
    made = predicted(record, known)
    # At least the bytes at the rate of the line, at most each alone on its way.
    for rank in (0, 1):
        assert span(made["by_rank"][rank]["communication"]) == pytest.approx((1e-3, 2e-3))
    assert span(made["parts"][0]["seconds"]) == pytest.approx((2e-3, 4e-3))
    assert made["parts"][0]["name"] == "messages"


def test_a_long_message_waits_for_its_receiver(tmp_path: Path, known: Path) -> None:
    size = 100_000
    record = write_record(
        tmp_path, recorded.call("0", "MPI_Send", 10, 0.1, bytes=size, comm=0, place="network")
    )
    low, high = span(predicted(record, known)["by_rank"][0]["communication"])
    assert low == pytest.approx(high) == pytest.approx(10 * (1e-5 + size * 1e-8))


def test_both_ways_at_once(tmp_path: Path, known: Path) -> None:
    """Between nodes what comes in does not slow what goes out; inside a node it may."""
    size = 10_000
    for place, latency, per_byte, most in (("network", 1e-5, 1e-8, 1), ("numa", 1e-6, 1e-9, 2)):
        record = write_record(
            tmp_path,
            recorded.call("0-1", "MPI_Irecv", 100, 0.1, bytes=size, comm=0, place=place),
            recorded.call("0-1", "MPI_Isend", 100, 0.1, bytes=size, comm=0, place=place),
            recorded.call("0-1", "MPI_Waitall", 100, 0.1, bytes=size, **{"for": "mixed"}),
        )
        alone = latency + size * per_byte
        low, high = span(predicted(record, known)["by_rank"][0]["communication"])
        assert (low, high) == pytest.approx((100 * alone, 100 * alone * most))


def test_what_was_measured_both_ways_counts_inside_a_node(tmp_path: Path) -> None:
    document = machine()
    document["curves"].append({"name": "bidirectional", "place": "numa", **line(1.3e-6, 1.1e-9)})
    record = write_record(
        tmp_path,
        recorded.call("0-1", "MPI_Sendrecv", 100, 0.1, bytes=10_000, comm=0, place="numa"),
    )
    made = predicted(record, write_machine(tmp_path, document))
    # The bytes as much slower as one is beside another, with a latency each time; each by itself.
    least = 100 * (1e-5 * 12.3 / 11 + 1e-6)
    assert span(made["by_rank"][0]["communication"]) == pytest.approx((least, 1.23e-3))


def test_many_messages_for_each_wait_share_a_latency(tmp_path: Path, known: Path) -> None:
    record = write_record(
        tmp_path,
        recorded.call("0", "MPI_Isend", 600, 0.1, bytes=100, comm=0, place="network"),
        recorded.call("0", "MPI_Waitall", 100, 0.1, bytes=600, **{"for": "MPI_Isend"}),
    )
    low, high = span(predicted(record, known)["by_rank"][0]["communication"])
    assert low == pytest.approx(600 * 100 * 1e-8 + 100 * 1e-5)
    assert high == pytest.approx(600 * (100 * 1e-8 + 1e-5))


@pytest.mark.parametrize("started", [2000, 3000])
def test_requests_that_are_kept(tmp_path: Path, known: Path, started: int) -> None:
    """Started together, where their bytes are what was started; else it is not clear which were."""
    each = {"bytes": 1000, "comm": 0, "place": "network"}
    record = write_record(
        tmp_path,
        recorded.call("0-1", "MPI_Startall", 100, 0.1, bytes=started, **{"for": "mixed"}),
        recorded.call("0-1", "MPI_Waitall", 100, 0.1, bytes=2000, **{"for": "mixed"}),
        recorded.call("0-1", "MPI_Send_init", 1, 1e-6, **each),
        recorded.call("0-1", "MPI_Recv_init", 1, 1e-6, **each),
    )
    made = predicted(record, known)
    if started == 2000:
        alone = 1e-5 + 1e-5
        low, high = span(made["by_rank"][0]["communication"])
        assert (low, high) == pytest.approx((100 * alone, 100 * alone))
        assert made["unknown"] == []
    else:
        assert [each["name"] for each in made["unknown"]] == ["Startall"]


def test_one_request_of_a_size_is_started(tmp_path: Path, known: Path) -> None:
    each = {"comm": 0, "place": "network"}
    record = write_record(
        tmp_path,
        recorded.call("0", "MPI_Recv_init", 3, 1e-6, bytes=1000, **each),
        recorded.call("0", "MPI_Recv_init", 1, 1e-6, bytes=50, **each),
        recorded.call("0", "MPI_Start", 100, 0.1, bytes=1000, **{"for": "MPI_Recv_init"}),
        recorded.call("0", "MPI_Wait", 100, 0.1, bytes=1000, **{"for": "MPI_Recv_init"}),
    )
    assert span(predicted(record, known)["by_rank"][0]["communication"])[1] == pytest.approx(
        100 * (1e-5 + 1e-5)
    )


def test_a_receive_is_as_long_as_what_came(tmp_path: Path, known: Path) -> None:
    """A receive that is begun offers room; what filled it the traffic tells."""
    receives = recorded.call("1", "MPI_Irecv", 10, 0.1, bytes=50_000, comm=0, place="network")
    alone = {}
    for bytes_ in (50_000, 1000):
        record = write_record(
            tmp_path, receives, recorded.traffic(0, {1: 10 * bytes_}, messages=10)
        )
        alone[bytes_] = span(predicted(record, known)["by_rank"][1]["communication"])[1]
    assert alone[50_000] == pytest.approx(10 * (1e-5 + 5e-4))
    assert alone[1000] == pytest.approx(10 * (1e-5 + 1e-5))


def test_a_class_inside_a_node_stands_in_for_another(tmp_path: Path, known: Path) -> None:
    record = write_record(
        tmp_path, recorded.call("0", "MPI_Recv", 10, 0.1, bytes=8, comm=0, place="node")
    )
    assert "messages at node by those at numa" in predicted(record, known)["notes"]


# Collectives, waiting, what has no curve


def test_collectives_by_ranks_and_nodes(tmp_path: Path, known: Path) -> None:
    record = write_record(
        tmp_path,
        recorded.call("0-3", "MPI_Allreduce", 50, 0.1, bytes=1 << 10, comm=0),
        recorded.call("0-3", "MPI_Alltoallv_c", 10, 0.1, bytes=4 << 10, comm=0),
    )
    made = predicted(record, known)
    (unknown,) = made["unknown"]
    assert (unknown["name"], unknown["measure"]) == ("Alltoallv", "alltoallv")
    assert (unknown["share_of_time"], unknown["share_of_calls"]) == (
        pytest.approx(0.4 / 16),
        pytest.approx(40 / 240),
    )
    (part,) = made["parts"]
    assert span(part["seconds"]) == pytest.approx((200 * (3e-5 + 1024e-8),) * 2)
    assert part["where"] == "4 on 2"


def test_other_numbers_of_ranks_make_the_interval_wider(tmp_path: Path, known: Path) -> None:
    record = write_record(
        tmp_path, recorded.call("0-7", "MPI_Alltoall", 1, 0.1, bytes=1, comm=0), ranks=8
    )
    made = predicted(record, known)
    low, high = span(made["parts"][0]["seconds"])
    once = 8 * (5e-5 + 3e-8)
    assert (low, high) == pytest.approx((once * 3 / 2, once * 7 / 3))
    assert made["notes"][-1] == "alltoall of 8 ranks on 4 nodes by that of 4 on 2"


def test_far_more_ranks_than_measured_have_no_curve(tmp_path: Path, known: Path) -> None:
    record = write_record(tmp_path, recorded.call("0-63", "MPI_Barrier", 1, 0.1, comm=0), ranks=64)
    assert [each["name"] for each in predicted(record, known)["unknown"]] == ["Barrier"]


def test_hot_and_cold_are_one_interval(tmp_path: Path) -> None:
    document = machine()
    cold = copy.deepcopy(document["collectives"][0]) | line(9e-5, 2e-8)
    document["collectives"].append(cold)
    record = write_record(
        tmp_path, recorded.call("0-3", "MPI_Allreduce", 1, 0.1, bytes=1000, comm=0)
    )
    made = predicted(record, write_machine(tmp_path, document))
    assert span(made["by_rank"][0]["communication"]) == pytest.approx((4e-5, 1.1e-4))


def test_mostly_waiting_has_no_figure(tmp_path: Path, known: Path) -> None:
    record = write_record(tmp_path, recorded.call("0-3", "MPI_Allreduce", 50, 3.9, bytes=8, comm=0))
    made = predicted(record, known)
    assert made["same_machine"] and made["program_s"] is None
    assert made["why_not"].startswith("97 % of the time in MPI is waiting for others or imbalance")
    code, out, _ = run(record, "--machine", known)
    assert code == 0 and "program: no figure, as 97 % of the time" in out


def test_calls_without_a_curve_have_no_figure(tmp_path: Path, known: Path) -> None:
    record = write_record(tmp_path, recorded.call("0-3", "MPI_Scan", 50, 3.9, bytes=8, comm=0))
    made = predicted(record, known)
    assert made["program_s"] is None
    assert made["why_not"] == "200 calls with 98 % of the time in MPI have no curve in the profile"
    assert "no curve: Scan, 200 calls (100.0 % of all)" in run(record, "--machine", known)[1]


def test_the_program_is_computing_and_calls_and_what_was_waited(
    tmp_path: Path, known: Path
) -> None:
    need = 1000 * (3e-5 + 8e-8)
    call = recorded.call("0-3", "MPI_Allreduce", 1000, 0.04, bytes=8, comm=0)
    record = recorded.write(
        tmp_path / "r.jsonl",
        recorded.head(),
        recorded.world(),
        [recorded.rank(number, wall=1.0, mpi=0.04) for number in range(4)],
        call,
        recorded.end(),
    )
    made = predicted(record, known)
    assert of_costs(made) == pytest.approx((0.96 + need, 1.0))
    assert made["by_rank"][0]["waiting_s"] == pytest.approx(0.04 - need)


def test_time_without_a_processor_may_be_none_or_twice(tmp_path: Path, known: Path) -> None:
    """It is in the time from begin to end, and in no call."""
    ranks = [recorded.rank(n, wall=1.2, mpi=0.04, compute_s=0.96) for n in range(4)]
    call = recorded.call("0-3", "MPI_Allreduce", 1000, 0.04, bytes=8, comm=0)
    lines = recorded.head(), recorded.world(), ranks, call, recorded.end()
    made = predicted(recorded.write(tmp_path / "r.jsonl", *lines), known)
    need = 1000 * (3e-5 + 8e-8)
    assert of_costs(made) == pytest.approx((0.96 + need, 1.0 + 2 * 0.2))


def test_who_misses_the_recorded_run_has_no_figure(tmp_path: Path, known: Path) -> None:
    """Calls that took a tenth of what the curves have for them."""
    call = recorded.call("0-3", "MPI_Allreduce", 10000, 0.03, bytes=8, comm=0)
    made = predicted(write_record(tmp_path, call, wall=0.04, mpi=0.03), known)
    assert made["program_s"] is None
    assert (
        "by table the run that was recorded takes 311 ms to 311 ms, and it took 40.0 ms"
        in (made["why_not"])
    )


def test_what_stays_on_the_rank_is_as_recorded(tmp_path: Path, known: Path) -> None:
    record = write_record(
        tmp_path,
        recorded.call("0-3", "MPI_Type_commit", 9, 0.5),
        recorded.call("0-3", "MPI_Barrier", 9, 1e-3, comm=0),
        wall=6.501,
        mpi=0.501,
    )
    made = predicted(record, known)
    assert made["unknown"] == []
    assert of_costs(made) == pytest.approx((6.5 + 9 * 2e-5, 6.5 + 1e-3))


def test_requests_of_collectives_are_theirs(tmp_path: Path, known: Path) -> None:
    """What computing hides is not told by a table: from nothing to the whole call."""
    record = write_record(
        tmp_path,
        recorded.call("0-3", "MPI_Wait", 10, 3e-4, bytes=0, **{"for": "MPI_Iallreduce"}),
        recorded.call("0-3", "MPI_Iallreduce", 10, 1e-5, bytes=1000, comm=0),
    )
    made = predicted(record, known)
    (part,) = made["parts"]
    assert span(part["seconds"]) == pytest.approx((0.0, 40 * 4e-5))
    assert part["recorded_s"] == pytest.approx(4 * 3.1e-4)


def test_files_by_the_file_systems_rates(tmp_path: Path) -> None:
    storage = {
        "client_gbs": {"read": 2, "write": 1},
        "all_gbs": {"read": 2, "write": 2},
        "request_s": {"read": 0, "write": 1e-5},
        "open_s": 1e-3,
    }
    record = write_record(
        tmp_path,
        recorded.call("0-3", "MPI_File_write_at", 10, 0.1, bytes=10**6, comm=0, file=0),
        recorded.call("0-3", "MPI_File_open", 1, 0.1, comm=0, file=0),
        recorded.call("0-3", "MPI_File_close", 1, 0.1, comm=0, file=0),
    )
    made = predicted(record, write_machine(tmp_path, machine(storage=[storage])))
    parts = {part["name"]: span(part["seconds"]) for part in made["parts"]}
    assert parts["File_write_at"] == pytest.approx((40 * 1.01e-3, 40 * 2.01e-3))
    assert parts["File_open"] == pytest.approx((4e-3, 4e-3))
    assert [each["name"] for each in made["unknown"]] == ["File_close"]


# Sensitivity


@pytest.mark.parametrize("what", ["latency", "bytes"])
def test_sensitivity_is_what_another_machine_takes(tmp_path: Path, known: Path, what: str) -> None:
    """Adding to the latency, or to a byte's time, of the network: the prediction changes by as much
    as the first one's sensitivity says."""
    record = write_record(
        tmp_path,
        recorded.call("0-3", "MPI_Recv", 100, 0.1, bytes=50_000, comm=0, place="network"),
        recorded.call("0-3", "MPI_Send", 100, 0.1, bytes=50_000, comm=0, place="network"),
        recorded.call("0-3", "MPI_Send", 70, 0.1, bytes=8, comm=0, place="numa"),
    )
    before = predicted(record, known, "--sensitivity")
    document = machine()
    latency, per_byte = (2e-5, 1e-8) if what == "latency" else (1e-5, 1.5e-8)
    network = document["curves"][1]
    network |= line(latency, per_byte)
    network["pieces"][0] |= {"latency_s": latency, "s_per_byte": per_byte}
    after = predicted(record, write_machine(tmp_path, document))
    places = {each["place"]: each for each in before["sensitivity"]}
    assert set(places) == {"network", "numa"}
    of = places["network"]
    for end in ("low", "high"):
        change = after["communication"][end] - before["communication"][end]
        says = of["latencies"][end] * 1e-5 if what == "latency" else of["bytes_s"][end] / 2
        assert change == pytest.approx(says, rel=1e-3), end


def test_which_latency_costs_so_much(tmp_path: Path, known: Path) -> None:
    record = write_record(
        tmp_path,
        recorded.call("0-3", "MPI_Recv", 1000, 0.1, bytes=8, comm=0, place="network"),
        mpi=0.1,
    )
    made = predicted(record, known, "--sensitivity")
    (of,) = made["sensitivity"]
    low, high = span(of["added_latency_s"]["2"])
    assert low == pytest.approx(0.02 * of_costs(made)[0] / 1000)
    assert high >= low
    assert "latency for 2 %" in run(record, "--machine", known, "--sensitivity")[1]


# Which profile, and what is wrong


def test_the_profile_of_the_machine_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data" / "haichi" / "machines"
    folder.mkdir(parents=True)
    foreign = machine(name="foreign", signature=SIGNATURE | {"processor": "another"})
    (folder / "a.json").write_text(json.dumps(foreign))
    (folder / "b.json").write_text("not JSON")
    (folder / "c.json").write_text(json.dumps(machine(name="it")))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("HAICHI_MACHINE", raising=False)
    record = write_record(tmp_path, recorded.call("0-3", "MPI_Barrier", 9, 1e-3, comm=0))
    made = predicted(record, None)
    assert (made["machine"], made["same_machine"]) == ("it", True)
    (folder / "c.json").unlink()
    code, _, error = run(record)
    assert code == 2 and error.count("\n") == 1
    assert "none that was found is of it" in error and "processor “another”" in error


def test_a_profile_of_another_machine_says_so(tmp_path: Path) -> None:
    other = write_machine(tmp_path, machine(signature=SIGNATURE | {"library": "Other"}))
    record = write_record(tmp_path, recorded.call("0-3", "MPI_Barrier", 9, 1e-3, comm=0))
    made = predicted(record, other)
    assert not made["same_machine"]
    assert made["notes"][0].startswith("the profile is not of the machine of the record (MPI lib")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("not JSON", "is not JSON"),
        ("", "is empty"),
        ('{"schema": "haichi.machine/3"}', "is haichi.machine/3, and this haichi reads version 2"),
        (json.dumps(machine(curves=[], collectives=[])), "has no curve, only numbers"),
    ],
)
def test_a_profile_that_does_not_do(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    record = write_record(tmp_path, recorded.call("0-3", "MPI_Barrier", 9, 1e-3, comm=0))
    code, out, error = run(record, "--machine", path)
    assert (code, out) == (2, "")
    assert error.startswith("haichi predict: ") and error.count("\n") == 1 and says in error


def test_a_record_that_is_cut_off_is_predicted_with_a_note(tmp_path: Path, known: Path) -> None:
    record = write_record(tmp_path, recorded.call("0-3", "MPI_Barrier", 9, 1e-3, comm=0))
    lines = record.read_text().splitlines(keepends=True)
    record.write_text("".join(lines[:-1]))
    made = predicted(record, known)
    assert made["notes"][0].startswith("the record is cut off")


def test_every_function_that_moves_data_has_a_kind() -> None:
    kinds = {
        "Bsend": Kind.SEND,
        "Imrecv": Kind.RECEIVE_BEGUN,
        "Reduce_scatter_block": Kind.COLLECTIVE,
        "Ineighbor_alltoallw": Kind.COLLECTIVE_BEGUN,
        "File_iwrite_at_all": Kind.WRITE_ALL,
        "File_read_ordered_end": Kind.READ_ALL,
        "File_read_shared": Kind.READ,
        "File_set_view": Kind.MAKE,
        "Cart_create": Kind.MAKE,
        "Win_allocate_shared": Kind.MAKE,
        "Rget_accumulate": Kind.ACCESS,
        "Comm_rank": Kind.LOCAL,
        "Wtime": Kind.LOCAL,
    }
    assert {name: kind_of(name) for name in kinds} == kinds


def test_the_measurement_that_would_tell_is_the_one_that_is_looked_up(
    tmp_path: Path, known: Path
) -> None:
    write = recorded.call("0-3", "MPI_File_iwrite_at", 9, 1e-3, bytes=8, comm=0, file=0)
    (unknown,) = predicted(write_record(tmp_path, write), known)["unknown"]
    assert (unknown["name"], unknown["measure"]) == ("File_iwrite_at", "file-write-at")
