"""`haichi figures` from end to end with little to measure, and what it refuses."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import mpis
import pytest
from haichi import mpi


def figures(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs the command."""
    return mpis.haichi_command("figures", *words, **env)


def one_node(out: Path, *more: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Two patterns on two ranks, once; skips, with the reason, where something is missing."""
    if not mpis.HAICHI.exists():
        pytest.skip(f"{mpis.HAICHI} is not built: ./haichi build")
    found = mpi.available("openmpi", "mpich5")
    if not found:
        pytest.skip("neither Open MPI nor MPICH 5 is here: ./haichi build")
    words = ["one-node", "--only", "segments", "--only", "cyclic", "--ranks", "2"]
    words += ["--repetitions", "1", "--mpi", found[0].name, "--out", str(out)]
    return figures(*words, *more, **env)


@pytest.mark.slow
def test_one_node(tmp_path: Path) -> None:
    out = tmp_path / "one-node.json"
    done = one_node(out)
    assert done.returncode == 0, done.stdout + done.stderr
    saved = json.loads(out.read_text())
    assert [(c["program"].split(":")[0], c["variant"]) for c in saved["cases"]] == [
        (pattern, variant)
        for pattern in ("segments", "cyclic")
        for variant in ("stock", "haichi", "limit")
    ]
    for case in saved["cases"]:
        assert case["problems"] == []
        assert {op: len(s["seconds"]) for op, s in case["operations"].items()} == {
            "write": 3,
            "read": 3,
        }
    assert all(claim["ratio"] > 0 for claim in saved["claims"])
    assert "better / haichi" in done.stdout


@pytest.mark.slow
def test_a_measurement_of_stock_under_the_name_of_haichi_is_not_valid(tmp_path: Path) -> None:
    out = tmp_path / "one-node.json"
    done = one_node(out, "--accesses", "2", HAICHI_DISABLE="1")
    assert done.returncode == 1
    cases = json.loads(out.read_text())["cases"]
    problems = {c["variant"]: c["problems"] for c in cases}
    assert problems["haichi"] == ["no run report: haichi did not act under the program"]
    assert problems["stock"] == problems["limit"] == []
    assert {len(s["seconds"]) for c in cases for s in c["operations"].values()} == {2}


@pytest.mark.parametrize(
    ("words", "text"),
    mpis.slow_after(
        1,
        [
            (["one-node", "--only", "random"], "--only random: use one of segments, hpio, cells"),
            (["one-node", "--mpi", "lam"], "unknown MPI lam"),
            (["network", "--mapping", "XX"], "--mapping XX: use one of BK, RR"),
            (["network", "--nodes", "3"], "--nodes 3: use one of 4, 8"),
        ],
    ),
)
def test_what_is_not_known_is_refused_in_one_line(words: list[str], text: str) -> None:
    done = figures(*words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"haichi figures: {text}")
    assert done.stderr.count("\n") == 1
