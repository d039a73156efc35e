"""All-to-all and all-gather collectives by haichi's algorithms: random exchanges byte by byte, and
what the report says of the choice."""

from __future__ import annotations

import json
import re
from pathlib import Path

import mpis
import pytest
from exchange_support import RANKS, first_mpi, placement_file, run_on_nodes
from haichi.export.model import Decisions
from haichi.report.load import load, load_form
from haichi.report.model import Report
from mpis import Mpi

HERE = Path(__file__).parent
CASES = 40  # of each number of ranks
ALL_TO_ALL = {"MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw"}
ALL_GATHER = {"MPI_Allgather", "MPI_Allgatherv"}
# Algorithms, and the functions that they can always carry out; the others may have to be left to
# the library.
FIXED = {
    "ring_light_barrier": ALL_TO_ALL | ALL_GATHER,
    "pair": ALL_TO_ALL | ALL_GATHER,
    "spread(pairwise,2)": ALL_TO_ALL | ALL_GATHER,
    "bruck(3)": {"MPI_Alltoall"},
    "node_aware(2)": {"MPI_Alltoall"},
    "relay": ALL_GATHER,
    "doubling(3)": ALL_GATHER,
    "node_gather(2)": ALL_GATHER,
}


def run_cases(
    mpi: Mpi,
    folder: Path,
    ranks: int,
    seed: int,
    cases: int,
    flags: tuple[str, ...] = (),
    **settings: str,
) -> Report:
    """Runs the program on so many cases; none may be wrong."""
    argv = [mpi.compile(HERE / "exchange_cases.c", *flags), str(seed), str(cases)]
    out, report = run_on_nodes(mpi, folder, ranks, argv, HAICHI_COLLECTIVES_AFTER="1", **settings)
    assert f"cases {cases} wrong 0" in out
    return report


@pytest.mark.parametrize("place", mpis.slow_but([1], range(4)))
def test_random_exchanges_by_trial(mpi: Mpi, tmp_path: Path, place: int) -> None:
    """Every call takes another candidate; all give the same bytes."""
    sizes = RANKS[mpi.abi]
    ranks = sizes[place % len(sizes)]
    report = run_cases(mpi, tmp_path, ranks, 1000 * place, CASES)
    if ranks > 1:
        assert {each.collective for each in report.collectives} == ALL_TO_ALL | ALL_GATHER
        tried = {c.name for each in report.collectives for c in each.candidates if c.trials}
        assert "library" in tried


@pytest.mark.parametrize("algorithm", mpis.slow_but(["relay", "bruck(3)"], FIXED))
def test_random_exchanges_by_one_algorithm(mpi: Mpi, tmp_path: Path, algorithm: str) -> None:
    ranks = max(size for size in RANKS[mpi.abi] if size <= 8)
    report = run_cases(
        mpi, tmp_path, ranks, 7000, CASES // 2, HAICHI_COLLECTIVES_ALGORITHM=algorithm
    )
    able = [each for each in report.collectives if each.collective in FIXED[algorithm]]
    assert able
    assert all(each.chosen == algorithm for each in able)
    rest = {each.chosen for each in report.collectives if each.collective not in FIXED[algorithm]}
    assert rest <= {"library"}


@pytest.mark.parametrize(
    "algorithm",
    mpis.slow_but(["spread(pairwise,1)"], ["spread(pairwise,1)", "spread(rank,0)", "pair"]),
)
def test_random_exchanges_of_large_blocks(mpi: Mpi, tmp_path: Path, algorithm: str) -> None:
    """Their receives stand back behind sends, and more has to be packed than is at a time."""
    ranks = {"mpich": 5, "mpiabi": 4, "openmpi": 7}[mpi.abi]
    large = ("-DLARGEST=20000",)  # elements: 240 KB
    run_cases(mpi, tmp_path, ranks, 9, 12, large, HAICHI_COLLECTIVES_ALGORITHM=algorithm)


@pytest.mark.parametrize("algorithm", ["spread(rank,0)", "pair", "ring"])
@pytest.mark.parametrize(("size", "first"), [(65536, "S"), (1000, "R")])
def test_large_blocks_are_sent_before_others_are_received(
    mpi: Mpi, tmp_path: Path, size: int, first: str, algorithm: str
) -> None:
    """See "Sends before receives" in docs/notes.md; small ones are received where they belong."""
    tool = mpi.compile(HERE / "message_order.c", "-shared", "-fPIC", f"-DBYTES={size}")
    env = mpi.preload(
        tool,
        HAICHI_COLLECTIVES_AFTER="1",
        HAICHI_PLACEMENT=placement_file(tmp_path, 3),
        HAICHI_COLLECTIVES_ALGORITHM=algorithm,
    )
    program = mpi.compile(HERE.parents[1] / "bench/collective/exchange.c")
    done = mpi.run(3, [program, "alltoall", str(size), "3"], env, check=True)
    issued = re.findall(r"issued: (\w+)\.", done.stdout)
    assert [each[0] for each in issued] == 3 * [first]


def test_one_node_is_left_to_the_library(mpi: Mpi, tmp_path: Path) -> None:
    """Unless the user asks for it: haichi's messages are not faster than a library's memory."""
    program = mpi.compile(HERE / "exchange_cases.c")
    report = tmp_path / "report.json"
    for enable, expected in (("auto", False), ("on", True)):
        env = mpi.preload(
            HAICHI_COLLECTIVES_AFTER="1",
            HAICHI_REPORT=str(report),
            HAICHI_COLLECTIVES_ENABLE=enable,
        )
        done = mpi.run(2, [program, "1", "10"], env, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        assert bool(load(report).collectives) == expected


def test_switched_off_nothing_is_reported(mpi: Mpi, tmp_path: Path) -> None:
    ranks = RANKS[mpi.abi][-1]
    report = run_cases(mpi, tmp_path, ranks, 1, 5, HAICHI_COLLECTIVES_ENABLE="off")
    assert report.collectives == []


@pytest.mark.slow
def test_explain_names_the_choice_and_its_trials(tmp_path: Path) -> None:
    mpi = next((each for each in mpis.mpis() if not each.missing), None)
    if mpi is None:
        pytest.skip("no MPI")
    ranks = RANKS[mpi.abi][-1]
    run_cases(mpi, tmp_path, ranks, 1, 30)
    command = [str(mpis.ROOT / "haichi"), "explain", str(tmp_path / "report.json")]
    done = mpis.run_bounded(command, timeout=120)
    assert done.returncode == 0, done.stderr
    assert re.search(r"MPI_Alltoall, blocks from [\d.]+ \w+, \d+ ranks on \d+ nodes: ", done.stdout)
    assert re.search(r"^  (library|spread\(nd_rank_shift,0\)) +\d", done.stdout, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize(("budget", "after"), [("2", "40"), ("2", "4"), ("100", "40")])
def test_a_job_of_twenty_calls_has_no_trials_by_default(
    tmp_path: Path, budget: str, after: str
) -> None:
    """They could not pay for themselves, nor for a look at the communicator. With any budget there
    are trials from the first on."""
    mpi = first_mpi()
    report = tmp_path / "report.json"
    env = mpi.preload(HAICHI_PLACEMENT=placement_file(tmp_path, 3), HAICHI_REPORT=str(report))
    env["HAICHI_COLLECTIVES_BUDGET"] = budget  # 2 and 40 are the defaults
    env["HAICHI_COLLECTIVES_AFTER"] = after
    done = mpi.run(3, [mpi.compile(HERE / "exchange_repeated.c"), "20"], env, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    if (budget, after) == ("2", "40"):
        assert not load(report).collectives
        return
    (found,) = load(report).collectives
    others = [each for each in found.candidates if each.name != "library"]
    assert others
    if budget == "2":
        assert not [each for each in others if each.trials or each.steady_calls]
        assert found.chosen in ("", "library")
        (library,) = [each for each in found.candidates if each.name == "library"]
        # All that haichi has seen, less the one that makes connections.
        assert library.steady_calls == found.calls - 1
    else:
        assert [each for each in others if each.trials]
    command = [str(mpis.ROOT / "haichi"), "explain", str(report)]
    told = mpis.run_bounded(command, timeout=120)
    assert told.returncode == 0, told.stderr
    assert ("less than the library's" in told.stdout) <= (budget is not None)


def run_with_decisions(mpi: Mpi, tmp_path: Path, folder: Path) -> Report:
    """Calls with blocks of one size, often enough for all trials."""
    out, report = run_on_nodes(
        mpi,
        tmp_path,
        3,
        [mpi.compile(HERE / "exchange_repeated.c"), "90"],
        HAICHI_COLLECTIVES_AFTER="1",
        HAICHI_COLLECTIVES_DECISIONS=str(folder),
        HAICHI_COLLECTIVES_ROUNDS="2",  # six at most
    )
    assert "90 calls right" in out
    return report


def test_a_second_run_starts_with_the_decisions_of_the_first(tmp_path: Path) -> None:
    mpi = first_mpi()
    folder = tmp_path / "decisions"
    folder.mkdir()
    first = run_with_decisions(mpi, tmp_path, folder).collectives[0]
    assert first.locked
    assert first.why == "by trial"
    (file,) = folder.iterdir()
    kept = load_form(file, Decisions)
    assert kept.ranks_and_nodes() == (3, 2)
    assert [each.chosen for each in kept.decisions] == [first.chosen]
    second = run_with_decisions(mpi, tmp_path, folder).collectives[0]
    assert second.why == "decided in an earlier run"
    assert second.chosen == first.chosen
    assert sum(len(each.trials) for each in second.candidates) == 1  # of the earlier run


@pytest.mark.parametrize("damage", mpis.slow_but(["cut"], ["cut", "foreign", "unknown algorithm"]))
def test_a_file_of_decisions_that_is_wrong_is_ignored(tmp_path: Path, damage: str) -> None:
    mpi = first_mpi()
    folder = tmp_path / "decisions"
    folder.mkdir()
    first = run_with_decisions(mpi, tmp_path, folder).collectives[0]
    (file,) = folder.iterdir()
    text = file.read_text()
    wrong = {
        "cut": text[: len(text) // 2],
        "foreign": text.replace('"library": "', '"library": "Other '),
        "unknown algorithm": text.replace(f'"chosen": "{first.chosen}"', '"chosen": "magic"'),
    }[damage]
    assert wrong != text
    file.write_text(wrong)
    report = run_with_decisions(mpi, tmp_path, folder)
    assert report.collectives[0].why == "by trial"
    told = [note for note in report.notes if "decisions of earlier runs are ignored" in note]
    assert len(told) == (damage != "unknown algorithm")
    # What this run decided has taken its place.
    assert run_with_decisions(mpi, tmp_path, folder).collectives[0].why == (
        "decided in an earlier run"
    )


def test_decisions_that_cannot_be_kept_are_a_note(tmp_path: Path) -> None:
    report = run_with_decisions(first_mpi(), tmp_path, tmp_path / "not there")
    assert report.collectives[0].locked
    assert any("decisions are not kept" in note for note in report.notes)


def run_on_machine(
    mpi: Mpi, tmp_path: Path, machine: str, addresses: list[str] | None = None
) -> Report:
    """The repeated exchange of 3 ranks on 2 nodes, with what a file says of the machine."""
    file = tmp_path / "machine.json"
    file.write_text(machine)
    placement = placement_file(tmp_path, 3)
    if addresses:
        document = json.loads(Path(placement).read_text())
        for node, address in zip(document["nodes"], addresses, strict=True):
            node["address"] = address
        Path(placement).write_text(json.dumps(document))
    _, report = run_on_nodes(
        mpi,
        tmp_path,
        3,
        [mpi.compile(HERE / "exchange_repeated.c"), "40"],
        HAICHI_COLLECTIVES_AFTER="1",
        HAICHI_PLACEMENT=placement,
        HAICHI_MACHINE=str(file),
    )
    return report


def test_what_is_predicted_to_be_far_slower_is_not_tried(tmp_path: Path) -> None:
    """Where a message costs much, barriers do."""
    machine = {"schema": "haichi.machine/1", "latency_ns": 1e6, "network": "torus:2x1"}
    report = run_on_machine(first_mpi(), tmp_path, json.dumps(machine))
    candidates = {each.name: each for each in report.collectives[0].candidates}
    assert candidates["library"].trials
    assert candidates["library"].predicted_seconds is None
    barriers = candidates["ring_mpi_barrier"]
    assert (barriers.trials, barriers.dropped) == ([], True)
    assert "times the predicted best" in barriers.reason
    best = [each for each in candidates.values() if each.reason == "predicted best"]
    assert len(best) == 1
    assert best[0].trials
    assert barriers.predicted_seconds > 2 * best[0].predicted_seconds


def test_where_nodes_sit_makes_a_difference(tmp_path: Path) -> None:
    """In a line of places where each hop costs as much as a message."""
    machine = {"schema": "haichi.machine/1", "hop_ns": 1e6, "network": "mesh:9"}

    def ring(addresses: list[str] | None) -> float:
        report = run_on_machine(first_mpi(), tmp_path, json.dumps(machine), addresses)
        (found,) = [c for c in report.collectives[0].candidates if c.name == "ring"]
        assert found.predicted_seconds is not None
        return found.predicted_seconds

    side_by_side = ring(None)
    assert ring(["3", "4"]) == pytest.approx(side_by_side)
    assert ring(["0", "8"]) > 7 * side_by_side


def test_an_address_that_is_no_place_is_a_note(tmp_path: Path) -> None:
    machine = json.dumps({"schema": "haichi.machine/1", "network": "torus:2x2"})
    report = run_on_machine(first_mpi(), tmp_path, machine, ["0,0", "0,2"])
    assert any('the address "0,2" of node 1 is no place' in note for note in report.notes)


@pytest.mark.parametrize(
    "machine", ["{", '{"schema": "haichi.machine/1", "network": "torus:1"}', '{"schema": "x"}']
)
def test_a_machine_that_makes_no_sense_is_a_note(tmp_path: Path, machine: str) -> None:
    report = run_on_machine(first_mpi(), tmp_path, machine)
    said = ("the machine's profile is not used", "collectives do not know the machine")
    assert any(note.startswith(said) for note in report.notes)
    reasons = [each.reason for each in report.collectives[0].candidates if each.reason]
    assert any("more than 3" in reason for reason in reasons)
