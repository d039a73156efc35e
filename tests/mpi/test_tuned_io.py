"""Order and window of collective accesses by trial (io.tune): what is tried, kept and left alone.
The choice itself is tested in src/collectives/exchange_tuner_test.cpp."""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest
import tuned_io
from haichi.export.model import Decisions
from haichi.report.load import load, load_form
from haichi.report.model import Call, Collective, Report
from mpis import Mpi

# Enough for six trials of four pairs, as many as there are at most.
RANKS, ROUNDS = tuned_io.RANKS, 30
# Four aggregators on two nodes: orders differ, and so do 4 and 32 sends.
SETTINGS = {
    "HAICHI_IO_TUNE": "on",
    "HAICHI_IO_AGGREGATORS": "4",
    "HAICHI_COLLECTIVES_ROUNDS": "2",
}
USUAL = ("nd_rank_shift", 32)
PAIRS = {USUAL, ("pairwise", 32), ("nd_rank_shift", 4), ("pairwise", 4)}


def first_mpi() -> Mpi:
    """One MPI is enough where haichi's own files are tested."""
    mpi = next((each for each in mpis.mpis() if not each.missing and each.shim.exists()), None)
    if mpi is None:
        pytest.skip("no MPI")
    return mpi


def run(mpi: Mpi, folder: Path, *words: str, rounds: int = ROUNDS, **settings: str) -> Report:
    """The program on two nodes of two ranks; every byte must be right."""
    return tuned_io.run(mpi, folder, *words, rounds=rounds, **{**SETTINGS, **settings})


def calls(report: Report, kind: str) -> list[Call]:
    """The writes or reads of the file that all ranks have."""
    (file,) = [each for each in report.files if each.path.endswith("/x")]
    return [each for each in file.calls if kind in each.call]


def pairs(found: list[Call]) -> list[tuple[str, int]]:
    return [(each.order, each.window) for each in found]


def name(pair: tuple[str, int]) -> str:
    return f"{pair[0]},{pair[1]}"


def tuned(report: Report, kind: str) -> Collective:
    """What the report has of the writes or reads of all ranks."""
    (found,) = [
        each
        for each in report.collectives
        if each.collective.startswith(f"two-phase {kind}, 4 aggregators") and each.ranks == RANKS
    ]
    return found


@pytest.mark.parametrize("words", [[], ["dup"]], ids=["world", "duplicates"])
def test_trials_go_on_from_file_to_file(mpi: Mpi, tmp_path: Path, words: list[str]) -> None:
    report = run(mpi, tmp_path, *words)
    for kind in ("write", "read"):
        found = calls(report, kind)
        choice = tuned(report, kind)
        assert len(found) == ROUNDS
        # The first call of a kind does not count; then all pairs have their turn, the usual first.
        assert pairs(found)[:2] == [USUAL, USUAL]
        assert set(pairs(found)[1:5]) == PAIRS
        assert choice.calls == ROUNDS - 1
        assert [each.name for each in choice.candidates] == [
            "nd_rank_shift,32",
            "pairwise,32",
            "nd_rank_shift,4",
            "pairwise,4",
        ]
        assert choice.locked
        assert name(pairs(found)[-1]) == choice.chosen
        assert any("trial 3, 4 pairs" in why for why in found[3].why)
        assert any("chosen by trial" in why for why in found[-1].why)


def test_off_and_named_orders_are_left_alone(mpi: Mpi, tmp_path: Path) -> None:
    for words, settings, expected in (
        ([], {"HAICHI_IO_TUNE": "off"}, USUAL),
        ([], {"HAICHI_IO_WINDOW": "32"}, USUAL),
        (["haichi_comm_order=rank"], {}, ("rank", 32)),
        (["haichi_tune=off"], {}, USUAL),
    ):
        report = run(mpi, tmp_path, *words, rounds=8, **settings)
        assert set(pairs(calls(report, "write"))) == {expected}
        assert not report.collectives


def test_a_hint_that_changes_nothing_names_nothing(tmp_path: Path) -> None:
    """Programs hand on what MPI_File_get_info gave them."""
    report = run(first_mpi(), tmp_path, "haichi_comm_order=nd_rank_shift", rounds=8)
    assert set(pairs(calls(report, "write"))) == PAIRS


def test_ranks_on_one_node_have_nothing_to_tune(tmp_path: Path) -> None:
    mpi = first_mpi()
    report = tmp_path / "report.json"
    env = mpi.preload(HAICHI_REPORT=str(report), **SETTINGS)
    program = mpi.compile(tuned_io.HERE / "tuned_io.c")
    done = mpi.run(RANKS, [program, str(tmp_path / "x"), "8"], env, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not load(report).collectives


def test_groups_of_ranks_are_tuned_by_themselves(mpi: Mpi, tmp_path: Path) -> None:
    """Files of all ranks and of the halves in turn: the trials of each know nothing of the others.
    The halves have one rank on each node, and so but one order."""
    report = run(mpi, tmp_path, "halves", HAICHI_IO_AGGREGATORS="0")
    groups = [each for each in report.collectives if "write" in each.collective]
    assert sorted(each.ranks for each in groups) == [2, 2, RANKS]
    assert {each.calls for each in groups} == {ROUNDS // 2 - 1}


def kept(folder: Path, *, ranks: int = RANKS) -> tuple[Path, Decisions]:
    (file,) = folder.glob(f"*-{ranks}-ranks-*.json")
    return file, load_form(file, Decisions)


def test_a_second_run_starts_with_the_decisions_of_the_first(tmp_path: Path) -> None:
    mpi, folder = first_mpi(), tmp_path / "decisions"
    folder.mkdir()
    settings = {"HAICHI_COLLECTIVES_DECISIONS": str(folder)}
    first = run(mpi, tmp_path, **settings)
    _, decisions = kept(folder)
    assert {each.collective: each.chosen for each in decisions.decisions} == {
        each.collective: each.chosen for each in first.collectives
    }
    second = run(mpi, tmp_path, rounds=6, **settings)
    for kind in ("write", "read"):
        chosen = tuned(first, kind).chosen
        assert {name(pair) for pair in pairs(calls(second, kind))} == {chosen}
        assert tuned(second, kind).why == "decided in an earlier run"
        assert any("decided in an earlier run" in why for why in calls(second, kind)[0].why)


@pytest.mark.parametrize("damage", mpis.slow_but(["foreign"], ["cut", "foreign", "unknown pair"]))
def test_a_file_of_decisions_that_is_wrong_is_ignored(tmp_path: Path, damage: str) -> None:
    mpi, folder = first_mpi(), tmp_path / "decisions"
    folder.mkdir()
    settings = {"HAICHI_COLLECTIVES_DECISIONS": str(folder)}
    run(mpi, tmp_path, **settings)
    file, decisions = kept(folder)
    text = file.read_text()
    wrong = {
        "cut": text[: len(text) // 2],
        "foreign": text.replace('"library": "', '"library": "Other '),
        "unknown pair": text.replace(
            f'"chosen": "{decisions.decisions[0].chosen}"', '"chosen": "magic,7"'
        ),
    }[damage]
    assert wrong != text
    file.write_text(wrong)
    report = run(mpi, tmp_path, rounds=6, **settings)
    assert "by trial" in {each.why for each in report.collectives}
    told = [note for note in report.notes if "decisions of earlier runs are ignored" in note]
    assert len(told) == (damage != "unknown pair")


def test_decisions_of_files_and_of_all_to_alls_are_kept_together(tmp_path: Path) -> None:
    """Both are of the same ranks, and so in the same file."""
    mpi, folder = first_mpi(), tmp_path / "decisions"
    folder.mkdir()
    settings = {"HAICHI_COLLECTIVES_DECISIONS": str(folder)}
    run(mpi, tmp_path, **settings)
    file, before = kept(folder)
    env = mpi.preload(
        HAICHI_PLACEMENT=str(tmp_path / "placement.json"),
        HAICHI_COLLECTIVES_DECISIONS=str(folder),
    )
    program = mpi.compile(tuned_io.HERE / "exchange_repeated.c")
    done = mpi.run(RANKS, [program, "400"], env, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    after = load_form(file, Decisions).decisions
    assert after[: len(before.decisions)] == before.decisions
    assert [each.collective for each in after[len(before.decisions) :]] == ["MPI_Alltoall"]


@pytest.mark.slow
def test_explain_shows_the_pairs(tmp_path: Path) -> None:
    run(first_mpi(), tmp_path)
    command = [str(mpis.ROOT / "haichi"), "explain", str(tmp_path / "report.json")]
    done = mpis.run_bounded(command, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "two-phase write, 4 aggregators, messages from " in done.stdout
    assert "128 KiB and more a rank, 4 ranks on 2 nodes: " in done.stdout
    assert "pairwise,4 " in done.stdout
    assert "library" not in done.stdout.split("two-phase", 1)[1]


def test_nothing_is_exported_of_it(tmp_path: Path) -> None:
    """MPI libraries have no such rules."""
    run(first_mpi(), tmp_path, rounds=6)
    command = [str(mpis.ROOT / "haichi"), "export", "--to", "ucc", str(tmp_path / "report.json")]
    done = mpis.run_bounded(command, timeout=120)
    assert done.returncode != 0
    assert "nothing was decided of MPI_Alltoall" in done.stderr
    assert "still being tried" not in done.stderr
