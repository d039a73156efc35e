"""`haichi figures pruning` on a few small jobs: the model against the simulator."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import mpis
import pytest
from haichi.figures import pruning

PROGRAM = mpis.BUILD / "bin" / "pruning-study"

if not PROGRAM.exists():
    pytest.skip(f"no {PROGRAM}: ./haichi build", allow_module_level=True)


def figures(*words: str) -> subprocess.CompletedProcess[str]:
    return mpis.haichi_command("figures", "pruning", *words)


@pytest.fixture(scope="module")
def cases() -> list[dict]:
    """The three shapes of paper 004, and networks of switches with several ranks a node."""
    found = []
    for kind in ("paper 004", "switches"):
        done = mpis.run_bounded([str(PROGRAM), kind], timeout=200)
        assert done.returncode == 0, done.stderr
        found += [json.loads(line) for line in done.stdout.splitlines()]
    return found


@pytest.mark.slow
def test_the_best_survives_and_trials_are_few(cases: list[dict]) -> None:
    assert len({case["job"] for case in cases}) == 8
    found = pruning.figures("", cases, pruning.OURS)
    assert found.survived == 1
    assert found.trial_cost < 0.3
    assert found.alone < 1.06
    printed = pruning.figures("", cases, pruning.PRINTED, six=True)
    assert printed.survived < 0.95  # what the extensions of Table 1 are for
    plain = pruning.figures("", cases, pruning.PRINTED_NO_TOPOLOGY, six=True)
    assert plain.survived < printed.survived


@pytest.mark.slow
def test_predictions_are_near_what_is_simulated(cases: list[dict]) -> None:
    for case in cases:
        for row in case["candidates"]:
            ratio = row["model"] / row["simulated"]
            assert 0.4 < ratio < 2.5, (case["job"], case["bytes"], row)


@pytest.mark.slow
def test_the_links_of_a_line_are_seen() -> None:
    """On a line of 96 nodes what is sent at once is slow, and Bruck's detours are slower."""
    done = mpis.run_bounded([str(PROGRAM), "line"], timeout=300)
    line = [json.loads(each) for each in done.stdout.splitlines()]
    with_links = pruning.figures("", line, pruning.OURS)
    without = pruning.figures("", line, pruning.NO_TOPOLOGY)
    assert with_links.survived == 1
    assert without.survived < 1
    assert with_links.alone < without.alone


def test_a_best_that_is_pruned_is_told() -> None:
    rows = [
        {"candidate": "a", "simulated": 1.0, "model": 5.0},
        {"candidate": "b", "simulated": 1.5, "model": 2.0},
        {"candidate": "c", "simulated": 2.5, "model": 3.9},
    ]
    found = pruning.figures("", [{"job": "j", "bytes": 8, "candidates": rows}], "model")
    assert (found.survived, found.kept, found.of) == (0, 2, 3)
    assert found.trial_cost == pytest.approx(4 / 5)
    assert found.lost == [pruning.Lost("j", 8, "a", 1.5)]
    assert found.alone == 1.5


@pytest.mark.slow
def test_the_command_prints_and_saves(tmp_path: Path) -> None:
    out = tmp_path / "pruning.json"
    done = figures("--kind", "paper 004", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "table 1, no topology" in done.stdout
    assert "reached" in done.stdout
    saved = json.loads(out.read_text())
    assert saved["schema"] == pruning.SCHEMA
    assert len(saved["cases"]) == 27
    refused = figures("--kind", "star")
    assert refused.returncode == 2
    assert "usage: pruning-study" in refused.stderr
