"""`haichi simulate`: the command line around src/sim, whose own tests say what the times are."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import mpis
import pytest
from haichi import simulation_gantt_picture, simulation_io_picture, simulation_picture
from haichi.report import html, perfetto
from haichi.report.load import load
from haichi.report.summary import summarize
from haichi.schema import schema_file
from haichi.simulation import Machine
from launch_prefix import clean_environment

CONFIG, UNAVAILABLE, USAGE = 78, 69, 64
ORDERS = ["rank", "pairwise", "nd_shift", "nd_rank_shift"]

if not mpis.HAICHI.exists():
    pytest.skip(f"no {mpis.HAICHI}: ./haichi build", allow_module_level=True)


def simulate(*words: str | Path):
    command = [str(mpis.HAICHI), "simulate", *(str(word) for word in words)]
    return mpis.run_bounded(command, env=clean_environment())


def follows(form: str, value: object) -> None:
    schema = json.loads(schema_file(form).read_text())
    jsonschema.Draft202012Validator(schema).validate(value)


def document(*words: str | Path, pattern: str = "alltoall") -> dict:
    done = simulate(pattern, *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_paper_000_figure_8_as_a_table() -> None:
    done = simulate("alltoall", "--nodes", "64", "--ppn", "12")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    table = {row[0]: row[1:] for row in rows if row and row[0] in ORDERS}
    assert list(table) == ORDERS
    assert float(table["rank"][-1]) > 1.25
    assert float(table["nd_rank_shift"][-1]) < 1.01


def test_json_says_what_was_asked_and_every_rank() -> None:
    case = ("--nodes", "3", "--ppn", "2", "--placement", "RR", "--bytes", "2k", "--window", "1")
    found = document(*case, "--order", "pairwise", "--per-rank")
    assert found["schema"] == "haichi.simulation/1"
    assert found["placement"] == "RR"
    (row,) = found["results"]
    assert row["order"] == "pairwise"
    assert (row["nodes"], row["ranks"], row["bytes"], row["window"]) == (3, 6, 2048, 1)
    assert row["messages"] == 30
    assert row["network_bytes"] == 6 * 4 * 2048
    assert len(row["rank_us"]) == 6
    assert max(row["rank_us"]) == row["worst_us"] == row["rank_us"][row["worst_rank"]]
    assert min(row["rank_us"]) == row["best_us"]
    assert sum(row["rank_us"]) / 6 == pytest.approx(row["mean_us"], abs=1e-5)


def test_a_placement_file_counts_as_its_notation() -> None:
    def rows(*words: str | Path) -> list:
        return document(*words, "--per-rank")["results"]

    dealt = rows("--nodes", "2", "--ppn", "2", "--placement", "RR")
    assert dealt != rows("--nodes", "2", "--ppn", "2")
    file = mpis.scratch() / "simulate-placement"
    file.write_text(
        '{"schema": "haichi.placement/1", "nodes": [{"ranks": "0,2"}, {"ranks": "1,3"}]}'
    )
    assert rows("--placement", file) == dealt
    file.write_text("(vector,(0,2,1))")
    assert rows("--placement", file, "--ranks", "4") == dealt


def test_nodes_sit_where_the_placement_says(tmp_path: Path) -> None:
    def microseconds(address: str) -> float:
        file = tmp_path / f"{address}.json"
        nodes = [{"address": "0", "ranks": "0"}, {"address": address, "ranks": "1"}]
        file.write_text(json.dumps({"schema": "haichi.placement/1", "nodes": nodes}))
        torus = ("--set", "network=torus:8", "--set", "hop_ns=100", "--bytes", "8")
        found = document("--placement", file, *torus, "--algorithm", "ring")
        return found["results"][0]["worst_us"]

    assert microseconds("4") - microseconds("1") == pytest.approx(0.3, abs=0.01)


def test_the_machine_that_was_printed_can_be_read(tmp_path: Path) -> None:
    case = ("--nodes", "4", "--set", "out_gbs=1", "--set", "network=torus:2x2")
    printed = document(*case)
    assert printed["machine"]["out_gbs"] == 1
    done = simulate("--set", "out_gbs=1", "alltoall", "--nodes", "4")  # --set takes one word
    assert done.returncode == 0, done.stderr
    file = tmp_path / "machine.json"
    file.write_text(json.dumps(printed["machine"]))
    assert document("--nodes", "4", "--machine", file) == printed
    # What the command line says wins over the file.
    assert document("--nodes", "4", "--machine", file, "--set", "out_gbs=2") != printed


def test_a_sweep_is_each_value_by_itself() -> None:
    swept = document("--nodes", "4", "--order", "rank", "--sweep", "bytes=1k,20k")["results"]
    assert [row.pop("sweep") for row in swept] == [{"bytes": "1k"}, {"bytes": "20k"}]
    for row, size in zip(swept, ("1k", "20k"), strict=True):
        (alone,) = document("--nodes", "4", "--order", "rank", "--bytes", size)["results"]
        assert row == alone
    for key in ("network=crossbar,mesh:4", "ppn=1,2", "window=0,1", "latency_ns=1000,5000"):
        rows = document("--nodes", "4", "--bytes", "20k", "--order", "rank", "--sweep", key)
        first, second = rows["results"]
        assert first["mean_us"] != second["mean_us"], key


def test_a_seed_draws_skew_and_noise() -> None:
    case = ("--nodes", "3", "--skew", "5000", "--noise", "0.5")
    assert document(*case, "--seed", "1") == document(*case, "--seed", "1")
    first, second = (document(*case, "--seed", str(seed))["results"] for seed in (1, 2))
    assert first != second


def test_collective_io_in_layouts_and_orders() -> None:
    case = ("--nodes", "4", "--ppn", "3", "--region-count", "500", "--per-node", "3")
    case += ("--buffer", "16M")
    found = document(*case, pattern="hpio")
    rows = found["results"]
    assert [(row["layout"], row["order"]) for row in rows] == [
        (layout, order) for layout in ("roundrobin", "packed") for order in ORDERS
    ]
    for row in rows:
        assert row["program_bytes"] == 12 * 500 * 3744
        assert row["program_bytes"] < row["file_bytes"] <= 2 * 12 * 500 * 4000  # read and written
        assert row["gbs"] == pytest.approx(row["program_bytes"] / row["worst_us"] / 1000)
        assert row["why"][0] == "12 aggregators: 3 on each of 4 nodes"
        assert row["cycles"] == 2  # 23 stripes of 1 MiB, 12 aggregators
        assert (row["region_size"], row["access"], row["holes"]) == (3744, "write", "auto")
    table = simulate("hpio", *case, "--layout", "packed", "--order", "rank").stdout
    assert table.splitlines()[-4].split()[:2] == ["packed", "rank"]


def test_an_all_to_all_of_unequal_messages(tmp_path: Path) -> None:
    file = tmp_path / "matrix.csv"
    rows = [[(a + 1) * 100 if a != b else 0 for b in range(4)] for a in range(4)]
    file.write_text("\n".join(",".join(map(str, row)) for row in rows))
    case = ("--nodes", "2", "--ppn", "2", "--order", "rank")
    (row,) = document(file, *case, pattern="alltoallv")["results"]
    assert row["messages"] == 12  # nothing to oneself
    assert row["network_bytes"] == sum(2 * (a + 1) * 100 for a in range(4))
    file.write_text("\n".join(" ".join(["1k"] * 4) for _ in range(4)))
    assert "line 1: 1k is no number of bytes" in simulate("alltoallv", file, *case).stderr
    # With equal messages it is the all-to-all.
    file.write_text("\n".join(" ".join(["5000"] * 4) for _ in range(4)))
    (row,) = document(file, *case, pattern="alltoallv")["results"]
    (equal,) = document("--bytes", "5000", *case)["results"]
    assert row["worst_us"] == equal["worst_us"]


def test_neighbours_in_a_ring() -> None:
    case = ("--nodes", "4", "--ppn", "4", "--bytes", "1M")
    (near,) = document(*case, pattern="shift")["results"]
    (far,) = document(*case, "--distance", "4", pattern="shift")["results"]
    assert near["network_bytes"] == 4 << 20
    assert far["network_bytes"] == 16 << 20
    assert near["worst_us"] < far["worst_us"]
    (both,) = document(*case, pattern="exchange")["results"]
    assert both["messages"] == 2 * near["messages"] == 32


@pytest.mark.parametrize(
    "words",
    [
        ("alltoall", "--order", "nd_shift", "--bytes", "20k", "--window", "2"),
        ("hpio", "--order", "rank", "--layout", "packed", "--region-count", "300"),
        ("hpio", "--order", "rank", "--layout", "packed", "--region-count", "3000",
         "--region-size", "40", "--region-space", "0", "--buffer", "32k", "--streams", "on"),
        ("hpio", "--order", "rank", "--layout", "packed", "--access", "read", "--regions",
         "contiguous", "--region-count", "300", "--share", "off"),
    ],
)  # fmt: skip
def test_what_was_recorded_takes_as_long(tmp_path: Path, words: tuple[str, ...]) -> None:
    file, nodes = tmp_path / "schedule.jsonl", ("--nodes", "3", "--ppn", "2")
    done = simulate(*words, *nodes, "--json", "--per-rank", "--record", file)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["results"]
    head, *lines = (json.loads(line) for line in file.read_text().splitlines())
    follows("haichi.schedule/1", {"head": head, "steps": lines})
    (again,) = document(file, *nodes, "--per-rank", pattern="schedule")["results"]
    assert again["rank_us"] == row["rank_us"]
    assert again["file_bytes"] == row["file_bytes"]
    done = simulate("schedule", file, "--nodes", "4")
    assert "6 ranks, and the placement has 4" in done.stderr


def test_a_trace_is_a_report_like_that_of_a_real_run(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    one = (
        "--order",
        "rank",
        "--layout",
        "packed",
        "--region-count",
        "700",
        "--buffer",
        "512k",
        "--per-node",
        "1",
    )
    found = document("--nodes", "3", "--ppn", "2", *one, "--trace", file, pattern="hpio")
    (row,) = found["results"]
    follows("haichi.report/1", json.loads(file.read_text()))
    report = load(file)
    (call,) = report.calls()
    assert call.bytes == row["program_bytes"]
    assert call.seconds == pytest.approx(row["worst_us"] / 1e6)
    assert (
        call.bytes_between
        == row["network_bytes"]
        == sum(
            bytes_
            for node, to in enumerate(report.traffic.bytes)
            for other, bytes_ in enumerate(to)
            if node != other
        )
    )
    assert call.cycles == row["cycles"] > 3
    assert call.aggregators == [0, 2, 4]
    assert sum(rank.bytes.read + rank.bytes.write for rank in report.ranks) == row["file_bytes"]
    for rank in report.ranks:
        phases = [(event.phase, event.cycle) for event in rank.events]
        cycles = {("exchange", cycle) for cycle in range(call.cycles)}
        assert cycles <= set(phases)
        assert {"read", "write"} <= {phase for phase, _ in phases} or rank.rank % 2 == 1
        begins = [event.begin_us for event in rank.events]
        assert begins == sorted(begins)
        assert all(0 <= e.begin_us <= e.end_us <= row["worst_us"] + 1e-3 for e in rank.events)
    runs, summary = summarize([file], [report])
    assert "packed" in html.page(runs, summary)
    slices = [e for e in json.loads(perfetto.trace(runs))["traceEvents"] if e["ph"] == "X"]
    assert {e["name"] for e in slices} >= {"Exchange", "Read", "Write", "hpio"}


def test_a_profile_of_measurements_says_what_messages_inside_a_node_take(tmp_path: Path) -> None:
    """One way from rank to rank is what its curve says, on both sides of a change of protocol."""
    file = tmp_path / "profile.json"
    pieces = [
        {"from": 0, "to": 4096, "latency_s": 2e-6, "s_per_byte": 1e-9},
        {"from": 4096, "to": 1 << 20, "latency_s": 2e-5, "s_per_byte": 5e-10},
    ]
    profile = {
        "schema": "haichi.machine/2",
        "numbers": {"eager_bytes": {"value": 4096, "from": "ping-pong"}},
        "curves": [{"name": "ping-pong", "place": "node", "pieces": pieces}],
    }
    file.write_text(json.dumps(profile))
    for size, seconds in ((1000, 3e-6), (4096, 6.096e-6), (65536, 5.2768e-5)):
        words = ("--nodes", "1", "--ppn", "2", "--bytes", size)
        (row,) = document(*words, "--machine", file, pattern="shift")["results"]
        (without,) = document(*words, pattern="shift")["results"]
        # Beside it a receive is posted, or a word comes back.
        assert row["mean_us"] == pytest.approx(seconds * 1e6, rel=0.04)
        assert without["mean_us"] < seconds * 1e6 / 2


def test_a_machine_and_a_simulation_follow_their_schemas() -> None:
    found = document("--nodes", "2", "--region-count", "9", "--sweep", "ppn=1,2", pattern="hpio")
    follows("haichi.simulation/1", found)
    follows("haichi.machine/1", found["machine"])
    # The program's defaults are the model's.
    default = Machine.model_validate({"schema": "haichi.machine/1"})
    assert default.model_dump(by_alias=True) == found["machine"]


def test_what_a_server_does_at_a_handover_decides_between_the_layouts() -> None:
    case = ("--nodes", "4", "--ppn", "3", "--region-count", "2000", "--per-node", "3")
    handover = ("--order", "rank", "--set", "servers=4", "--sweep", "handover_us=0,5000")
    found = document(*case, *handover, pattern="hpio")
    free, paid = (
        {row["layout"]: row["gbs"] for row in found["results"] if row["sweep"] == at}
        for at in ({"handover_us": "0"}, {"handover_us": "5000"})
    )
    assert free["roundrobin"] == pytest.approx(free["packed"], rel=0.1)
    assert paid["roundrobin"] > 1.3 * paid["packed"]


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        ((), USAGE, "PATTERN is required"),
        (("ring",), USAGE, "PATTERN: ring not in {alltoall,"),
        (("alltoall",), USAGE, "how many nodes? say --nodes N"),
        (("alltoall", "--nodes", "0"), USAGE, "--nodes"),
        (("alltoall", "--nodes", "9" * 9, "--ppn", "99"), USAGE, "are more than 16777216 ranks"),
        (("alltoall", "--nodes", "2", "--order", "up"), USAGE, "--order takes all, rank,"),
        (("alltoall", "--nodes", "2", "--bytes", "x"), USAGE, "bytes takes a size"),
        (("alltoall", "--nodes", "2", "--set", "speed=1"), USAGE, "a machine has no speed; it"),
        (("alltoall", "--nodes", "2", "--set", "out_gbs=0"), USAGE, "out_gbs takes a number above"),
        (("alltoall", "--nodes", "9", "--set", "network=mesh:2x4"), USAGE, "has 8 places for 9"),
        (("alltoall", "--nodes", "2", "--sweep", "window=1,-1"), USAGE, "--sweep window=1,-1: win"),
        (("alltoall", "--nodes", "2", "--machine", "/no"), CONFIG, "cannot open /no"),
        (("alltoall", "--nodes", "2", "--machine", __file__), CONFIG, "not JSON: parse error"),
        (("alltoall", "--nodes", "2", "--layout", "packed"), USAGE, "alltoall has no layout; it"),
        (("alltoall", "--nodes", "2", "--sweep", "region-size=1,2"), USAGE, "no region-size; it"),
        (("hpio", "--nodes", "2", "--layout", "up"), USAGE, "--layout takes all, roundrobin,"),
        (("hpio", "--nodes", "2", "--access", "all"), USAGE, "access takes read, write, not all"),
        (("hpio", "--nodes", "2", "--region-count", "9" * 18), USAGE, "file would be too large"),
        (("hpio", "--nodes", "2", "--set", "servers=0"), USAGE, "needs a machine with servers"),
        (("hpio", "--nodes", "2", "--set", "servers=1.5"), USAGE, "servers takes a whole number"),
        (("alltoall", "--nodes", "2", "--record", "x"), USAGE, "are of one case, not of 4"),
        (("alltoall", "m", "--nodes", "2"), USAGE, "alltoall has no file; it has order, bytes,"),
        (("alltoallv", "--nodes", "2"), USAGE, "alltoallv takes a file: a matrix"),
        (("alltoallv", "/no", "--nodes", "2"), USAGE, "cannot open /no"),
        (("alltoallv", __file__, "--nodes", "2"), USAGE, "test_simulate.py: line 1: "),
        (("schedule", "--nodes", "2"), USAGE, "schedule takes a file: a recorded schedule"),
        (("schedule", __file__, "--nodes", "2"), USAGE, "test_simulate.py: line 1: not a JSON"),
        (("shift", "--nodes", "2", "--distance", "-1"), USAGE, "distance takes a whole number"),
        (("shift", "--nodes", "2", "--trace", "/no/t"), UNAVAILABLE, "/no/t"),
        (("alltoall", "--placement", "/no"), USAGE, "cannot open /no"),
        (("alltoall", "--placement", __file__), USAGE, "test_simulate.py: "),
    ],
)
def test_says_what_is_wrong(words: tuple[str, ...], code: int, text: str) -> None:
    done = simulate(*words)
    assert done.returncode == code
    assert done.stdout == ""
    assert done.stderr.startswith("haichi: error: ")
    assert text in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("machine", "text"),
    [
        ("{}", '"schema" is left out, not "haichi.machine/2" or "haichi.machine/1"'),
        ("[]", "not a JSON object; `haichi fit` writes such a file anew"),
        ('{"schema": "haichi.machine/3"}', '"schema" is "haichi.machine/3"'),
        ('{"schema": "haichi.machine/2", "numbers": {"send_ns": {"value": -1}}}', "from 0"),
        (
            '{"schema": "haichi.machine/2", "curves": [{"place": "node", "bytes": [8, 8]}]}',
            "curves[0].bytes takes ascending numbers",
        ),
        ('{"schema": "haichi.machine/1", "out_gbs": "3"}', "out_gbs takes a number"),
        ('{"schema": "haichi.machine/1", "network": 3}', "network takes a text"),
        ('{"schema": "haichi.machine/1", "latency_ns": -1}', "latency_ns takes a number from 0"),
        ('{"schema": "haichi.machine/1", "cost": 1}', "a machine has no cost"),
    ],
)
def test_says_what_is_wrong_with_a_machine(tmp_path: Path, machine: str, text: str) -> None:
    file = tmp_path / "machine.json"
    file.write_text(machine)
    done = simulate("alltoall", "--nodes", "2", "--machine", file)
    assert done.returncode == CONFIG
    assert done.stderr.startswith(f"haichi: error: {file}: ")
    assert text in done.stderr


def test_help_names_every_option() -> None:
    text = simulate("--help").stdout
    manual = (mpis.ROOT / "docs" / "man" / "haichi-simulate.1.md").read_text()
    for word in text.replace(",", " ").replace(":", " ").split():
        if word.startswith("--"):
            assert f"`{word}`" in manual, word


@pytest.mark.slow
def test_paper_000_figure_10_and_its_picture() -> None:
    mpis.not_with_sanitizers("takes longer than the 300 s of a test")
    figures = {
        machine: simulation_io_picture.throughput(words)
        for machine, words in simulation_io_picture.MACHINES.items()
    }
    known, fitted = figures.values()
    # As far as the machine is known, storage is all that counts.
    for lines in zip(*known.values(), strict=True):
        assert max(lines) < 1.04 * min(lines)
    # Fitted, at 12 aggregators a node: near +67 % over orig and +16 % over normal, orders alike.
    at_12 = {line: values[-1] for line, values in fitted.items()}
    shifted = [at_12[order] for order in ORDERS[1:]]
    assert max(shifted) < 1.01 * min(shifted)
    assert 1.55 < min(shifted) / at_12["orig"] < 1.75
    assert 1.1 < min(shifted) / at_12["normal"] < 1.2
    # One aggregator a node has nothing to lay out; from there the order's gain grows.
    assert fitted["orig"][0] == fitted["normal"][0]
    gains = [a / b for a, b in zip(fitted["nd_rank_shift"], fitted["normal"], strict=True)]
    assert gains == sorted(gains)
    assert simulation_io_picture.PICTURE.read_text() == simulation_io_picture.picture(figures), (
        "python -m haichi.simulation_io_picture writes it"
    )


@pytest.mark.slow
def test_paper_000_figure_11_and_its_picture() -> None:
    lines = {
        name: simulation_gantt_picture.events(*line)
        for name, line in simulation_io_picture.LINES.items()
    }
    shares = {name: simulation_gantt_picture.shares(ranks) for name, ranks in lines.items()}
    # The exchange takes most in stock ROMIO, less with the aggregators laid out round robin, and
    # least in the shifted orders; writing stays what it is.
    assert shares["orig"]["exchange"] > 0.7 * sum(shares["orig"].values())
    assert shares["orig"]["exchange"] > 2 * shares["normal"]["exchange"]
    for order in ORDERS[1:]:
        assert shares[order]["exchange"] < 0.8 * shares["normal"]["exchange"]
        assert shares[order]["write"] == pytest.approx(shares["normal"]["write"], rel=0.01)
    picture = simulation_gantt_picture.picture(lines)
    assert simulation_gantt_picture.PICTURE.read_text() == picture, (
        "python -m haichi.simulation_gantt_picture writes it"
    )


def test_the_picture_of_the_guide_is_what_it_says() -> None:
    assert simulation_picture.PICTURE.read_text() == simulation_picture.picture(), (
        "python -m haichi.simulation_picture writes it"
    )


def test_algorithms_are_compared_in_a_sweep() -> None:
    """Few large messages win where blocks are small, many at once where they are large."""

    def means(size: str) -> dict[str, float]:
        sweep = "algorithm=ring,bruck(2),node_aware(1),spread(nd_rank_shift,32)"
        out = document("--nodes", "16", "--ppn", "4", "--bytes", size, "--sweep", sweep)
        return {row["algorithm"]: row["mean_us"] for row in out["results"]}

    small, large = means("8"), means("64k")
    assert len(small) == len(large) == 4
    assert small["bruck(2)"] < small["spread(nd_rank_shift,32)"] < small["ring"]
    assert large["spread(nd_rank_shift,32)"] < large["bruck(2)"]


def test_an_unknown_algorithm_is_refused_with_what_there_is() -> None:
    done = simulate("alltoall", "--nodes", "2", "--algorithm", "magic")
    assert done.returncode != 0
    assert "node_aware(LEADERS)" in done.stderr


def one_line_about_memory(done) -> str:
    assert (done.returncode, done.stdout) == (UNAVAILABLE, "")
    (line,) = done.stderr.splitlines()
    assert "GB of memory" in line
    return line


def test_what_memory_would_not_hold_ends_before_it_begins() -> None:
    many = ("alltoall", "--nodes", "16384", "--order", "rank")
    line = one_line_about_memory(simulate(*many, "--memory", "1G"))
    assert "16384 ranks with 268419072 messages" in line
    # As the process's own limit says.
    command = f"ulimit -v 600000; exec {mpis.HAICHI} simulate {' '.join(many)}"
    one_line_about_memory(mpis.run_bounded(["bash", "-c", command], env=clean_environment()))
    few = ("alltoall", "--nodes", "600", "--order", "rank", "--bytes", "64")
    assert simulate(*few, "--memory", "1G").returncode == 0


def test_what_the_estimate_does_not_foresee_is_one_line_too() -> None:
    """Where more is allowed than there is."""
    words = "simulate alltoall --nodes 1024 --bytes 20000 --order rank --memory 4G"
    command = f"ulimit -v 60000; exec {mpis.HAICHI} {words}"
    done = mpis.run_bounded(["bash", "-c", command], env=clean_environment())
    assert done.returncode == UNAVAILABLE
    (line,) = done.stderr.splitlines()
    assert "not enough memory" in line


def test_progress_begins_with_the_estimate() -> None:
    done = simulate("alltoall", "--nodes", "600", "--order", "rank", "--progress")
    assert done.returncode == 0
    assert done.stderr.startswith("about 3.59e+05 messages: 0 s on one core, 0.0")
    assert simulate("alltoall", "--nodes", "600", "--order", "rank").stderr == ""


def test_looking_at_schedules_beforehand_leaves_the_run_alone() -> None:
    """From 512 ranks on some are looked at."""
    (small,) = document("--nodes", "511", "--order", "rank", "--bytes", "64")["results"]
    (large,) = document("--nodes", "512", "--order", "rank", "--bytes", "64")["results"]
    assert (small["messages"], large["messages"]) == (511 * 510, 512 * 511)


@pytest.mark.long
def test_one_machine_has_figures_8_and_10_of_paper_000() -> None:
    """With buffers of 16 KiB in the network the ports of Fig. 8 do for Fig. 10 too."""
    buffers = ("--nodes", "64", "--ppn", "12", "--set", "buffer_bytes=16384")
    for placement, most in (("BK", 10), ("RR", 1.5)):
        figure_8 = document(*buffers, "--placement", placement)["results"]
        times = {row["order"]: row["mean_us"] for row in figure_8}
        assert 1.3 < times["rank"] / times["nd_rank_shift"] < most
    servers = ("--set", "server_gbs=0.27", "--set", "handover_us=3900", "--set", "client_gbs=0.14")
    romio = ("--share", "off", "--thread", "off", "--window", "0", "--cycles", "in-step")
    hpio = (*buffers, *servers, *romio, "--region-count", "1048", "--buffer", "16M")
    gbs = {}
    for layout, order in (("packed", "rank"), ("roundrobin", "rank"), ("roundrobin", "nd_shift")):
        words = (*hpio, "--per-node", "12", "--layout", layout, "--order", order)
        command = [str(mpis.HAICHI), "simulate", "hpio", *words, "--json"]
        done = mpis.run_bounded(command, env=clean_environment(), timeout=600, check=True)
        (row,) = json.loads(done.stdout)["results"]
        gbs[layout, order] = row["gbs"]
    best = gbs["roundrobin", "nd_shift"]
    assert best == pytest.approx(7.4, rel=0.05)
    assert best / gbs["packed", "rank"] == pytest.approx(1.67, rel=0.1)
    assert best / gbs["roundrobin", "rank"] == pytest.approx(1.16, rel=0.05)
