"""`haichi fit` on samples of a known machine, and on what is wrong."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from haichi.cli import app
from haichi.schema import schema_file
from known import POWERS, LogGP, Noise, Piece, curve, hockney, launch, point, write
from typer.testing import CliRunner

LOCAL = (Piece(4096, 0.6e-6, 0.2e-9), Piece(1 << 26, 2.4e-6, 0.1e-9))
NETWORK = LogGP()
TWO_NODES = {
    "node_names": ["a", "b"],
    "nodes_of_ranks": [0, 0, 1, 1],
    "job_ranks": 4,
    "host_cores": [2] * 4,
}
CALLS = {"call-isend": 0.15e-6, "call-irecv": 0.05e-6, "call-recv": 0.25e-6}


def fit(*words: str | Path) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["fit", *map(str, words)])
    return done.exit_code, done.stdout, done.stderr


def samples(path: Path, noise: Noise | None = None, launches: int = 1) -> Path:
    """Two nodes of two ranks: all that a profile is made of."""
    records: list[dict[str, Any]] = []
    small = [4, 16, 64]
    for number in range(1, launches + 1):
        records.append(launch(number, **TWO_NODES))
        add = lambda *of: records.extend(curve(*of, number, noise))  # noqa: E731, B023
        add("ping-pong", "numa", POWERS, hockney(LOCAL))
        add("ping-pong", "network", POWERS, NETWORK.ping_pong)
        add("stream", "network", small, NETWORK.stream)
        add("call-isend", "network", small, lambda _: NETWORK.o_send)
        add("call-recv", "network", small, lambda _: NETWORK.o_receive)
        for name, seconds in CALLS.items():
            add(name, "numa", small, lambda _, seconds=seconds: seconds)
        add("alltoall", "all", small, lambda size: 5e-6 + size * 1e-9)
        add("barrier", "all", [0], lambda _: 3e-6)
        add("ialltoall", "all", small, lambda _: 9e-6)
        add("memory-copy", "all", POWERS, lambda size: 2e-8 + size / 8e9)
        accesses = [4**k for k in range(5, 11)]
        add("file-write-at", "all", accesses, lambda size: 20e-6 + size / 1e9)
        add("file-read-at", "all", accesses, lambda size: 10e-6 + size / 2e9)
        add("file-write-at-atomic", "all", accesses, lambda size: 32e-6 + size / 1e9)
        add("file-open", "all", [0], lambda _: 70e-6)
        add("file-close", "all", [0], lambda _: 30e-6)
    return write(path, *records)


def profile_of(tmp_path: Path, *words: str) -> dict[str, Any]:
    out = tmp_path / "machine.json"
    code, _, error = fit(*words, "-o", out)
    assert code == 0, error
    document: dict[str, Any] = json.loads(out.read_text())
    schema = json.loads(schema_file("haichi.machine/2").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)
    return document


def test_a_known_machine_is_found_again(tmp_path: Path) -> None:
    made = profile_of(tmp_path, str(samples(tmp_path / "s.jsonl")))
    values = {name: number["value"] for name, number in made["numbers"].items()}
    assert values == {
        "send_ns": pytest.approx(150),
        "receive_ns": pytest.approx(50),
        "match_ns": pytest.approx(200),  # MPI_Recv posts and matches
        "local_latency_ns": pytest.approx(600.8 - 150 - 200),
        "latency_ns": pytest.approx(3001.5 - 150 - 200),
        "copy_gbs": pytest.approx(10),
        "out_gbs": pytest.approx(2),
        "in_gbs": pytest.approx(2),
        "eager_bytes": 4096,
        "client_gbs": pytest.approx(0.98, rel=0.02),  # a MiB at a time
        "request_us": pytest.approx(20, rel=0.02),
    }
    for number in made["numbers"].values():
        assert number["from"]
        assert number.get("low", 0) <= number["value"] <= number.get("high", float("inf"))
    assert made["signature"] == {
        "library": "Known MPI 1.0",
        "processor": "known",
        "cores": 2,
        "node_names": ["a", "b"],
        "network": True,
    }
    assert made["source"] == "measured"
    curves = {each["place"]: each for each in made["curves"]}
    assert curves["numa"]["switches"] == [4096]
    assert [piece["s_per_byte"] for piece in curves["numa"]["pieces"]] == [
        pytest.approx(0.2e-9),
        pytest.approx(0.1e-9),
    ]
    assert curves["network"]["switches"] == []


def test_loggp_is_found_again(tmp_path: Path) -> None:
    made = profile_of(tmp_path, str(samples(tmp_path / "s.jsonl")))
    (model,) = made["loggp"]
    assert model["place"] == "network"
    assert model["L_s"] == pytest.approx(NETWORK.latency, rel=0.01)
    assert model["o_send_s"] == pytest.approx(NETWORK.o_send)
    assert model["o_receive_s"] == pytest.approx(NETWORK.o_receive)
    assert model["g_s"] == pytest.approx(NETWORK.gap, rel=0.01)
    assert model["G_s_per_byte"] == pytest.approx(NETWORK.per_byte)
    assert model["residual"] < 1e-6


def test_storage_collectives_and_copies(tmp_path: Path) -> None:
    made = profile_of(tmp_path, str(samples(tmp_path / "s.jsonl")))
    (storage,) = made["storage"]
    assert (storage["path"], storage["file_system"]) == ("/scratch", "ext4")
    assert storage["client_gbs"]["read"] == pytest.approx(2, rel=0.03)
    assert storage["node_gbs"]["write"] == pytest.approx(2 * storage["client_gbs"]["write"], 1e-4)
    assert storage["all_gbs"]["write"] == pytest.approx(4 * storage["client_gbs"]["write"], 1e-4)
    assert storage["request_s"]["read"] == pytest.approx(10e-6, rel=0.02)
    assert storage["lock_s"] == pytest.approx(12e-6)
    assert (storage["open_s"], storage["close_s"]) == (pytest.approx(70e-6), pytest.approx(30e-6))
    shapes = [(c["name"], c["ranks"], c["nodes"], c["bytes"]) for c in made["collectives"]]
    assert shapes == [("alltoall", 4, 2, [4, 16, 64]), ("barrier", 4, 2, [0])]
    assert made["copy"][0]["gbs"][-1] == pytest.approx(8, rel=0.01)


def test_what_a_programs_calls_are_looked_up_by(tmp_path: Path) -> None:
    """Behind the ping-pongs and the blocking collectives, with what was measured in other ways."""
    groups = {"put-flush": "rma", "call-send": "p2p", "iallreduce": "collective",
              "iallreduce-wait": "collective", "comm-dup": "communicator", "shift-put": "exchange",
              "put-busy-target": "overlap"}  # fmt: skip
    records: list[dict[str, Any]] = [launch(1)]
    records += [described(name, group) for name, group in groups.items()]
    for name in ("ping-pong", "put-flush", "call-send", "put-busy-target"):
        records += curve(name, "numa", POWERS, hockney(LOCAL))
    for name in ("iallreduce", "iallreduce-wait", "comm-dup", "shift-put", "allreduce"):
        records += curve(name, "all", [4, 4096], lambda size: 1e-6 + size * 1e-9)
    cold = curve("allreduce", "all", [4, 4096], lambda size: 3e-6 + size * 1e-9)
    far = curve("ping-pong", "network", [4, 4096], lambda size: 9e-6 + size * 1e-9)
    for record in cold:
        record |= {"usual": False, "buffers": "cold", "start": "back to back"}
    for record in far:
        record |= {"usual": False, "buffers": "cold"}
    made = profile_of(tmp_path, str(write(tmp_path / "s.jsonl", *records, *cold, *far)))
    # Of a place without a ping-pong as usual nothing: others must not pass for it.
    assert [(each["name"], each["place"]) for each in made["curves"]] == [
        ("ping-pong", "numa"),
        ("put-flush", "numa"),
    ]
    assert "pieces" not in made["curves"][1] or made["curves"][1]["pieces"] == []
    calls = [
        (each["name"], each.get("buffers"), each.get("spacing")) for each in made["collectives"]
    ]
    assert calls == [
        ("allreduce", None, None),
        ("allreduce", "cold", "back to back"),
        ("comm-dup", None, None),
        ("iallreduce", None, None),
    ]


def described(name: str, group: str) -> dict[str, Any]:
    """An entry of the catalogue, as a samples file has it."""
    words = dict.fromkeys(
        ("section", "timed", "sample", "formula", "buffers"), "as the catalogue says"
    )
    return words | {
        "kind": "measurement",
        "name": name,
        "group": group,
        "functions": [],
        "who": "all",
        "start": "barrier",
        "over": "slowest rank",
        "sized": True,
        "unit": "s",
    }


def test_each_folder_is_a_file_system_of_its_own(tmp_path: Path) -> None:
    accesses = curve("file-write-at", "all", [1024, 1 << 20], lambda size: 1e-6 + size / 1e9)
    slow = curve("file-write-at", "all", [1024, 1 << 20], lambda size: 1e-3 + size / 1e8)
    files = [
        write(tmp_path / "a.jsonl", launch(directory="/a", file_system="tmpfs"), *accesses),
        write(tmp_path / "b.jsonl", launch(directory="/b", file_system="nfs4"), *slow),
    ]
    made = profile_of(tmp_path, *map(str, files))
    rates = {each["file_system"]: each["client_gbs"]["write"] for each in made["storage"]}
    assert rates == {"tmpfs": pytest.approx(1, rel=0.01), "nfs4": pytest.approx(0.09, rel=0.05)}
    assert made["numbers"]["client_gbs"]["value"] == rates["tmpfs"]
    assert "/a" in made["numbers"]["client_gbs"]["from"]


@pytest.mark.parametrize("seed", range(3))
def test_noise_and_disturbed_points(tmp_path: Path, seed: int) -> None:
    """A hundredth of noise, and in each of three launches one point of each long curve is five
    times too high."""
    noise = Noise(spread=0.01, disturbed=1, seed=seed)
    made = profile_of(tmp_path, str(samples(tmp_path / "s.jsonl", noise, launches=3)))
    numbers = {name: number["value"] for name, number in made["numbers"].items()}
    assert numbers["out_gbs"] == pytest.approx(2, rel=0.05)
    assert numbers["copy_gbs"] == pytest.approx(10, rel=0.05)
    assert numbers["eager_bytes"] == 4096
    assert numbers["latency_ns"] == pytest.approx(3001.5 - 350, rel=0.05)
    assert made["made"]["launches"] == 3


def test_what_is_not_measured_is_left_out_and_told(tmp_path: Path) -> None:
    file = write(tmp_path / "s.jsonl", launch(), *curve("ping-pong", "numa", [8], lambda _: 1e-6))
    code, text, _ = fit(file, "-o", tmp_path / "m.json")
    assert code == 0
    made = json.loads((tmp_path / "m.json").read_text())
    assert list(made["numbers"]) == ["local_latency_ns"]
    assert made["signature"]["network"] is False
    for line in (
        "left out: send_ns: no samples of call-isend at numa",
        "left out: latency_ns: no samples of ping-pong between nodes",
        "left out: LogGP: no samples of call-isend, call-recv, stream at numa",
    ):
        assert line in text


def test_launches_that_disagree_are_told(tmp_path: Path) -> None:
    """A machine that is in one of two states: medians mix them, the least is one of them."""
    records: list[dict[str, Any]] = []
    for number in range(1, 5):
        slow = [1.0, 4.0] if number % 2 else [4.0, 1.0]
        records.append(launch(number))
        for times, sizes in zip(slow, (POWERS[::2], POWERS[1::2]), strict=True):
            state = lambda size, times=times: times * hockney(LOCAL)(size)  # noqa: E731
            records += curve("ping-pong", "numa", sizes, state, number)
    file = write(tmp_path / "s.jsonl", *records)
    code, text, _ = fit(file, "-o", tmp_path / "m.json")
    assert code == 0
    assert "unsure: ping-pong at numa, 11 sizes of 11 known to 1.5 times only" in text
    code, text, _ = fit(file, "-o", tmp_path / "m.json", "--least")
    assert (code, "unsure" in text) == (0, False)
    made = json.loads((tmp_path / "m.json").read_text())
    assert made["curves"][0]["pieces"][0]["latency_s"] == pytest.approx(0.6e-6)


def test_a_call_takes_no_longer_than_the_message(tmp_path: Path) -> None:
    """Many sends in a row wait for room, which is not what one of them costs."""
    file = write(
        tmp_path / "s.jsonl",
        launch(),
        *curve("ping-pong", "numa", POWERS, hockney(LOCAL)),
        *curve("call-isend", "numa", [4, 16], lambda _: 0.9e-6),
        *curve("call-irecv", "numa", [4, 16], lambda _: 0.05e-6),
        *curve("call-recv", "numa", [4, 16], lambda _: 0.25e-6),
    )
    made = profile_of(tmp_path, str(file))["numbers"]
    assert made["send_ns"]["value"] == pytest.approx(600.8 - 200)
    assert made["local_latency_ns"]["value"] == pytest.approx(0, abs=1e-6)
    assert "waits for room" in made["send_ns"]["from"]


def test_numbers_said_by_hand(tmp_path: Path) -> None:
    file = samples(tmp_path / "s.jsonl")
    made = profile_of(tmp_path, str(file), "--set", "servers=4", "--set", "network=torus:2x2")
    assert made["numbers"]["servers"] == {"value": 4, "from": "said by hand (--set)"}
    assert made["network"] == "torus:2x2"
    for word in ("seats=1", "servers=x", "servers=-1", "servers"):
        code, _, error = fit(file, "-o", tmp_path / "other.json", "--set", word)
        assert code == 2
        assert error.startswith(f"haichi fit: --set {word}: ")
    assert not (tmp_path / "other.json").exists()


def test_a_damaged_file_is_named_with_its_line(tmp_path: Path) -> None:
    file = samples(tmp_path / "s.jsonl")
    lines = file.read_text().splitlines()
    lines[4] = lines[4][:40]
    file.write_text("\n".join(lines) + "\n")
    code, _, error = fit(file, "-o", tmp_path / "m.json")
    assert code == 2
    assert error.startswith(f"haichi fit: {file}:5: is not JSON")
    assert error.count("\n") == 1
    assert not (tmp_path / "m.json").exists()


def test_no_samples_of_what_is_needed(tmp_path: Path) -> None:
    file = write(tmp_path / "s.jsonl", launch(), *curve("win-create", "all", [8], lambda _: 1e-6))
    code, _, error = fit(file, "-o", tmp_path / "m.json")
    assert code == 2
    assert "no samples of what a machine's numbers are made from; measure it with: mpiexec" in error


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    file = samples(tmp_path / "s.jsonl")
    code, _, error = fit(file, "-o", tmp_path / "nowhere" / "m.json")
    assert code == 2
    assert "nowhere/m.json: no such file or directory" in error


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    """A limit on the size of files stands for it: the write fails half way."""
    file = samples(tmp_path / "s.jsonl")
    out = tmp_path / "m.json"
    out.write_text("before")
    pid = os.fork()
    if pid == 0:  # the limit must not stay with the tests
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
        code, _, error = fit(file, "-o", out)
        os._exit(0 if code == 2 and "m.json: file too large" in error else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert out.read_text() == "before"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["m.json", "s.jsonl"]


def few(path: Path, samples: int, *medians: float) -> Path:
    """A launch for each median of a ping-pong, whose points of 64 KiB and more have few samples."""
    records: list[dict[str, Any]] = []
    for number, median in enumerate(medians, 1):
        records.append(launch(number))
        for record in curve("ping-pong", "numa", POWERS, lambda _, m=median: m, number):
            large = record["bytes"] >= 1 << 16
            records.append(record | {"samples": samples} if large else record)
    return write(path, *records)


def test_what_rests_on_too_few_samples_is_refused(tmp_path: Path) -> None:
    file = few(tmp_path / "s.jsonl", 5, 1e-6, 1e-6, 1e-6)
    code, text, _ = fit(file, "-o", tmp_path / "m.json")
    assert code == 0
    made = json.loads((tmp_path / "m.json").read_text())
    assert made["curves"][0]["bytes"] == [size for size in POWERS if size < 1 << 16]
    (line,) = (each for each in text.splitlines() if "too few samples" in each)
    assert line == (
        "left out: ping-pong at numa, 65536, 262144, 1048576, 4194304 B: too few samples; 6 "
        "samples in a launch and 3 launches are enough: haichi measure ping-pong --launches 3 "
        "--budget 60 --out FILE -- mpiexec ..."
    )
    enough = few(tmp_path / "e.jsonl", 6, 1e-6, 1e-6, 1e-6)
    code, text, _ = fit(enough, "-o", tmp_path / "m.json")
    assert (code, "too few samples" in text) == (0, False)


def test_nothing_is_made_of_too_few_samples_alone(tmp_path: Path) -> None:
    records = [each | {"samples": 5} for each in curve("ping-pong", "numa", [8], lambda _: 1e-6)]
    file = write(tmp_path / "s.jsonl", launch(), *records)
    code, _, error = fit(file, "-o", tmp_path / "m.json")
    assert code == 2
    assert "; ping-pong at numa, 8 B: too few samples; 6 samples in a launch and" in error
    assert not (tmp_path / "m.json").exists()


def test_two_launches_that_disagree_are_too_few(tmp_path: Path) -> None:
    file = few(tmp_path / "s.jsonl", 100, 1e-6, 4e-6)
    code, _, error = fit(file, "-o", tmp_path / "m.json")
    assert code == 2
    assert "ping-pong at numa, 4, 16, 64," in error
    assert "B: two launches 4.0 times apart; 6 samples in a launch and 3 launches are" in error
    code, _, _ = fit(file, "-o", tmp_path / "m.json", "--least")
    assert code == 0
    code, _, _ = fit(few(tmp_path / "t.jsonl", 100, 1e-6, 4e-6, 4e-6), "-o", tmp_path / "m.json")
    assert code == 0


def test_one_launch_is_told_to_be_one(tmp_path: Path) -> None:
    code, text, _ = fit(few(tmp_path / "s.jsonl", 100, 1e-6), "-o", tmp_path / "m.json")
    assert code == 0
    assert "unsure: all of it is of one launch, and one in a few is slow as a whole" in text


def test_collectives_of_more_ranks_than_cores_are_labelled(tmp_path: Path) -> None:
    """Also where the user said that they are a reference; beside a launch that has cores enough for
    the same job they do not count."""
    shape = {"job_ranks": 16, "nodes_of_ranks": [0] * 16, "oversubscribed": True}
    crowded = launch(1, **shape, reference=True)
    records = [
        *curve("ping-pong", "numa", POWERS, hockney(LOCAL)),
        *curve("barrier", "all", [0], lambda _: 9e-3),
    ]
    file = write(tmp_path / "s.jsonl", crowded, *records)
    code, text, _ = fit(file, "-o", tmp_path / "m.json")
    assert code == 0
    assert "collectives of 16 ranks on 1 nodes (more ranks than cores: no reference): b" in text
    (made,) = json.loads((tmp_path / "m.json").read_text())["collectives"]
    assert made["oversubscribed"] is True
    roomy = launch(2, **{**shape, "oversubscribed": False})
    both = write(
        tmp_path / "b.jsonl",
        crowded,
        *records,
        roomy,
        *curve("barrier", "all", [0], lambda _: 9e-6, 2),
    )
    (made,) = profile_of(tmp_path, str(both))["collectives"]
    assert made["seconds"] == [pytest.approx(9e-6)]
    assert "oversubscribed" not in made


def test_looking_through_a_queue_is_a_slope_over_its_length(tmp_path: Path) -> None:
    queues = [0, 64, 256, 1024]
    ping_pong = curve("ping-pong", "numa", POWERS, hockney(LOCAL))

    def made_of(*times: float) -> dict[str, Any]:
        known = [
            point(f"queue-search-{queue}", "all", 0, time)
            for queue, time in zip(queues, times, strict=True)
        ]
        file = write(tmp_path / "s.jsonl", launch(ranks=3), *ping_pong, *known)
        return profile_of(tmp_path, str(file))["numbers"]["search_ns"]

    made = made_of(*(1e-6 + 7e-9 * queue for queue in queues))
    assert made["value"] == pytest.approx(7)
    assert made["low"] < 7 < made["high"]
    assert "queue-search, behind 0 to 1024 receives: 100 samples of 1 launch" in made["from"]
    # One that was disturbed does not move it much.
    assert made_of(1e-6, 1.5e-6, 2.8e-6, 1e-3)["value"] < 8
    # A list for each sender, or a table: what is left is less than the points are known to.
    flat = made_of(1e-6, 1.001e-6, 0.999e-6, 1.0005e-6)
    assert (flat["value"], flat["low"]) == (0, 0)
    assert flat["high"] > 0


def test_a_curve_says_how_many_launches_it_rests_on(tmp_path: Path) -> None:
    """Of three launches two had barriers, and one of them of one size only."""
    records: list[dict[str, Any]] = []
    for number in range(1, 4):
        records += [launch(number), *curve("ping-pong", "numa", POWERS, hockney(LOCAL), number)]
        if number < 3:
            records += curve("bcast", "all", [4, 64][:number], lambda _: 1e-6, number)
    made = profile_of(tmp_path, str(write(tmp_path / "s.jsonl", *records)))
    assert made["made"]["launches"] == 3
    assert [each["launches"] for each in made["curves"]] == [3]
    assert [each["launches"] for each in made["collectives"]] == [1]
