"""`haichi predict --by sequence`: what the engine says of known sequences, and its sensitivity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import recorded
from haichi.cli import app
from haichi.fit.model import Profile
from haichi.paths import build
from haichi.predict.basis import Basis
from haichi.predict.by_sequence import slower, with_ends
from haichi.predict.curves import Curves
from haichi.predict.model import Interval
from haichi.predict.stated import APART, MODEL, Base, misses, stated, too_wide
from haichi.schema import schema_file
from test_predict import SIGNATURE, line, machine, of_costs
from typer.testing import CliRunner

TIMES, SIZE, COMPUTE = 100, 1000, 1e-3


@pytest.fixture(autouse=True)
def _built() -> None:
    if not (build() / "bin" / "haichi").exists():
        pytest.skip("the native program is not built: ./haichi build")


def run(*words: str | Path) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["predict", "--by", "sequence", *map(str, words)])
    return done.exit_code, done.stdout, done.stderr


def predicted(record: Path, profile: Path, *words: str) -> Any:
    code, out, error = run(record, "--machine", profile, "--json", *words)
    assert code == 0, error
    document = json.loads(out)
    schema = json.loads(schema_file("haichi.prediction/1").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)
    return document


def write_machine(tmp_path: Path, **more: Any) -> Path:
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(machine(**more)))
    return path


def one_way(tmp_path: Path, answers: bool = False) -> Path:
    """Rank 0 computes and sends, rank 1 on another node receives; 100 times. With `answers` rank 1
    sends it back each time."""
    message = {"bytes": SIZE, "comm": 0, "tag": 1}
    there = [
        {"call": "MPI_Send", "peer": 1, "compute_s": COMPUTE, "took_s": 1e-5, **message},
        {"call": "MPI_Recv", "peer": 1, "took_s": 1e-5, **message},
    ]
    back = [
        {"call": "MPI_Recv", "peer": 0, "took_s": 1e-3, **message},
        {"call": "MPI_Send", "peer": 0, "took_s": 1e-5, **message},
    ]
    loop = [[TIMES, [0, 1] if answers else [0]]]
    return recorded.write(
        tmp_path / "r.jsonl",
        recorded.head(2, 1, sequence=True),
        recorded.world(2),
        [recorded.rank(number, wall=0.2, mpi=0.1) for number in (0, 1)],
        recorded.sequence(0, there, loop),
        recorded.sequence(1, back, loop),
        recorded.end(2),
    )


@pytest.mark.parametrize(
    ("launches", "same", "wanted"),
    [
        (1, False, Interval(low=2 * (1 - APART), high=3 * (1 + APART))),
        (3, False, Interval(low=2 * (1 - MODEL), high=3 * (1 + MODEL))),
        (3, True, Interval(low=2 * (1 - MODEL), high=4 * (1 + MODEL))),
    ],
)
def test_the_interval_is_no_narrower_than_is_known(
    launches: int, same: bool, wanted: Interval
) -> None:
    """The record took 4 s, and the costs say 2 to 3."""
    costs = Interval(low=2, high=3)
    made = stated(costs, Basis(launches, "", []), Base(4.0, costs) if same else None)
    assert (made.low, made.high) == pytest.approx((wanted.low, wanted.high))


def test_another_run_errs_as_the_recorded_one_did() -> None:
    # The recorded run took a fifth more than its costs at most.
    base = Base(3.6, Interval(low=2, high=3))
    made = stated(Interval(low=5, high=10), Basis(3, "", []), base)
    assert (made.low, made.high) == pytest.approx((5 * (1 - MODEL), 12 * (1 + MODEL)))
    assert misses(base, "by table", "") == ""
    assert too_wide(made, "") == ""
    apart = too_wide(Interval(low=1, high=3.1), "so")
    assert apart == "it would be from 1.00 s to 3.10 s: so"
    far = misses(Base(4.0, base.costs), "by table", "so")
    assert (
        far == "by table the run that was recorded takes 2.00 s to 3.00 s, and it took 4.00 s: so"
    )


def test_who_is_late_is_waited_for(tmp_path: Path) -> None:
    made = predicted(one_way(tmp_path), write_machine(tmp_path))
    alone = 1e-5 + SIZE * 1e-8
    assert made["by"] == "sequence"
    for end in of_costs(made):
        assert end == pytest.approx(TIMES * COMPUTE + alone, rel=0.02)
    receiver = made["by_rank"][1]
    assert receiver["waiting_s"] == pytest.approx(TIMES * COMPUTE, rel=0.05)
    (computing,) = [step for step in made["critical_path"] if step["what"] == "compute"]
    assert computing["seconds"] == pytest.approx(TIMES * COMPUTE, rel=0.01)


def test_the_interval_holds_hot_and_cold(tmp_path: Path) -> None:
    document = machine()
    cold = {"name": "ping-pong", "place": "network", "buffers": "cold", **line(3e-5, 1e-8)}
    profile = write_machine(tmp_path, curves=[*document["curves"], cold])
    made = predicted(one_way(tmp_path, answers=True), profile)
    low, high = of_costs(made)
    assert low == pytest.approx(TIMES * (COMPUTE + 2 * (1e-5 + SIZE * 1e-8)), rel=0.01)
    assert high - low == pytest.approx(TIMES * 2 * 2e-5, rel=0.02)


def test_which_latency_costs_so_much(tmp_path: Path) -> None:
    """There and back 100 times: 200 latencies are one after the other."""
    made = predicted(one_way(tmp_path, answers=True), write_machine(tmp_path), "--sensitivity")
    (of,) = made["sensitivity"]
    assert of["place"] == "network" and of["latencies"]["low"] == 2 * TIMES
    whole, _ = of_costs(made)
    for cost in (1, 2, 5):
        found = of["added_latency_s"][str(cost)]
        assert found["low"] <= cost / 100 * whole / (2 * TIMES) * 1.01
        assert found["high"] == pytest.approx(cost / 100 * whole / (2 * TIMES), rel=0.03)


def test_latency_that_waiting_hides_costs_nothing_at_first(tmp_path: Path) -> None:
    """What is sent early is there in time: only much latency makes the program longer."""
    message = {"bytes": 8, "comm": 0, "tag": 1}
    record = recorded.write(
        tmp_path / "r.jsonl",
        recorded.head(2, 1, sequence=True),
        recorded.world(2),
        [recorded.rank(number) for number in (0, 1)],
        recorded.sequence(0, [{"call": "MPI_Send", "peer": 1, **message}], [0]),
        recorded.sequence(1, [{"call": "MPI_Recv", "peer": 0, "compute_s": 0.01, **message}], [0]),
        recorded.end(2),
    )
    made = predicted(record, write_machine(tmp_path), "--sensitivity")
    (of,) = made["sensitivity"]
    assert of["latencies"]["high"] == 0  # none is on the path
    added = of["added_latency_s"]["5"]
    assert 0.0103 < added["low"] < added["high"] < 0.0107  # what it is early, and 5 % of 10 ms


def test_more_latency_is_more_for_messages_and_collectives() -> None:
    profile = Profile.model_validate(machine())
    later = slower(profile, "network", 1e-3)
    before, after = Curves(profile), Curves(later)
    for of in (before, after):
        assert of.pair(("ping-pong",), "numa", 100)
    far = [of.pair(("ping-pong",), "network", 100) for of in (before, after)]
    tree = [of.job("allreduce", 4, 2, 100) for of in (before, after)]
    assert far[0] and far[1] and tree[0] and tree[1]
    assert far[1].span.low - far[0].span.low == pytest.approx(1e-3)
    assert tree[1].span.high - tree[0].span.high == pytest.approx(2e-3)


def test_ends_hold_the_line_and_the_points() -> None:
    document = machine()
    document["curves"][0]["pieces"][0]["latency_s"] = 2e-6  # the line is above its points
    made = with_ends(Profile.model_validate(document)).curves[0]
    assert made.low == pytest.approx(made.seconds)
    assert made.high == pytest.approx([each + 1e-6 for each in made.seconds])


def test_sequences_that_do_not_fit_together_have_no_figure(tmp_path: Path) -> None:
    record = one_way(tmp_path)
    text = record.read_text().replace("[[100, [0]]]", "[[99, [0]]]", 1)
    record.write_text(text)
    made = predicted(record, write_machine(tmp_path))
    assert made["program_s"] is None
    assert made["why_not"].startswith("the ranks' sequences do not fit together: ")


def test_calls_that_no_curve_tells_of_have_no_figure(tmp_path: Path) -> None:
    """An all-to-all of the two ranks of a node, and a profile that has nothing inside one."""
    event = {"call": "MPI_Alltoall", "bytes": SIZE, "comm": 0, "took_s": 1e-2}
    record = recorded.write(
        tmp_path / "r.jsonl",
        recorded.head(2, 2, sequence=True),
        recorded.world(2),
        [recorded.rank(number, wall=1.2, mpi=1.0) for number in (0, 1)],
        recorded.call("0-1", "MPI_Alltoall", TIMES, 1.0, bytes=SIZE, comm=0),
        [recorded.sequence(number, [event], [[TIMES, [0]]]) for number in (0, 1)],
        recorded.end(2),
    )
    curves = machine()["curves"]
    made = predicted(record, write_machine(tmp_path, curves=curves[1:]))
    assert made["program_s"] is None
    assert made["why_not"] == (
        "200 calls with 100 % of the time in MPI have no curve in the profile"
    )
    (lacking,) = made["unknown"]
    assert (lacking["name"], lacking["measure"]) == ("Alltoall", "alltoall")
    # Messages that were measured tell what the call takes, on another machine than the record's.
    other = SIGNATURE | {"processor": "another"}
    there = write_machine(tmp_path, curves=curves, signature=other)
    assert predicted(record, there)["program_s"]
    here = predicted(record, write_machine(tmp_path, curves=curves))
    assert "what makes that difference is not in its order of calls" in here["why_not"]


def test_parts_of_a_job_share_ports_that_have_to_be_known(tmp_path: Path) -> None:
    """Two all-to-alls at a time through the same ports. How long one takes alone is measured."""
    event = {"call": "MPI_Alltoall", "bytes": 1 << 20, "took_s": 1e-2}
    parts = [{"kind": "communicator", "id": n + 1, "members": f"{n},{n + 2}"} for n in (0, 1)]
    record = recorded.write(
        tmp_path / "r.jsonl",
        recorded.head(4, 2, sequence=True),
        recorded.world(4),
        parts,
        [recorded.rank(number, wall=1.2, mpi=1.0) for number in range(4)],
        [
            recorded.call(f"{n},{n + 2}", "MPI_Alltoall", TIMES, 1.0, bytes=1 << 20, comm=n + 1)
            for n in (0, 1)
        ],
        [
            recorded.sequence(number, [event | {"comm": number % 2 + 1}], [[TIMES, [0]]])
            for number in range(4)
        ],
        recorded.end(4),
    )
    alone = {"name": "alltoall", "ranks": 2, "nodes": 2, **line(1e-5, 1e-8)}
    more = {"collectives": [alone], "signature": SIGNATURE | {"processor": "another"}}
    inside, between = machine()["curves"]
    made = predicted(record, write_machine(tmp_path, curves=[inside], **more))
    assert made["program_s"] is None
    assert "400 calls with 100 % of the time in MPI have no curve" in made["why_not"]
    low, high = of_costs(
        predicted(record, write_machine(tmp_path, curves=[inside, between], **more))
    )
    # Each takes 10.5 ms alone: twice as long, but for latencies.
    assert TIMES * 2e-2 < low <= high < TIMES * 2.2e-2


def test_a_record_without_sequences_is_one_line(tmp_path: Path) -> None:
    record = recorded.small(tmp_path / "r.jsonl")
    code, _, error = run(record, "--machine", write_machine(tmp_path))
    assert code == 2 and error.count("\n") == 1
    assert "has no sequence of events of rank 0; record it with haichi run" in error


def test_as_text(tmp_path: Path) -> None:
    code, out, _ = run(one_way(tmp_path), "--machine", write_machine(tmp_path), "--sensitivity")
    assert code == 0
    for words in ("by sequence", "The critical path", "compute", "latency for 5 %"):
        assert words in out
