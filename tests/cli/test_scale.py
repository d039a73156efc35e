"""`haichi figures scale` and the libraries' own rules that it simulates."""

from __future__ import annotations

import json
from pathlib import Path

import mpis
import pytest
from haichi import mpi
from haichi.figures import scale

PROGRAM = mpis.BUILD / "bin" / "scale-study"

if not PROGRAM.exists():
    pytest.skip(f"no {PROGRAM}: ./haichi build", allow_module_level=True)

KIB, MIB = 1 << 10, 1 << 20


@pytest.fixture(scope="module")
def cells() -> list[dict]:
    """96 ranks on the four networks."""
    return list(scale.simulated(PROGRAM, [96], [None], [None], lambda text: None))


def test_the_libraries_do_what_their_rules_say(cells: list[dict]) -> None:
    rules = {
        (library, cell["bytes"]): own["algorithm"]
        for cell in cells
        for library, own in cell["stock"].items()
    }
    assert rules == {
        ("MPICH", 64): "brucks",
        ("MPICH", KIB): "scattered",
        ("MPICH", 16 * KIB): "scattered",
        ("MPICH", MIB): "pairwise",
        ("Open MPI", 64): "modified_bruck",
        ("Open MPI", KIB): "linear",
        ("Open MPI", 16 * KIB): "linear",
        ("Open MPI", MIB): "pairwise",
    }


def test_one_network_and_size_alone(cells: list[dict]) -> None:
    assert {cell["network"] for cell in cells} == set(scale.NETWORKS)
    (alone,) = scale.simulated(PROGRAM, [96], [KIB], ["fat tree 2:1"], lambda text: None)
    assert alone in cells


def test_a_network_that_is_none_is_refused() -> None:
    with pytest.raises(mpi.Missing, match="exit code 2"):
        list(scale.simulated(PROGRAM, [96], [KIB], ["ring of stones"], lambda text: None))


def test_the_choice_is_never_worse_and_better_where_the_network_is_narrow(
    cells: list[dict],
) -> None:
    found = scale.choices(cells)
    assert len(found) == 4 * 4 * 2
    assert min(each.ratio for each in found) >= 1
    best = {(each.library, each.network, each.bytes): each for each in found}
    # Bruck's algorithm knows no nodes, and a ring none of the links of a torus.
    small = best["MPICH", "3-D torus", 64]
    assert small.chosen.startswith("node_aware")
    assert small.ratio > 1.3
    assert best["Open MPI", "3-D torus", MIB].ratio > 1.3
    # Where there is nothing to share, nothing is to be had.
    assert best["MPICH", "crossbar", MIB].chosen == "library"


def test_a_choice_must_be_clearly_faster_than_the_library() -> None:
    cell = {"network": "n", "ranks": 8, "bytes": 64}
    own = {"MPICH": {"algorithm": "brucks", "simulated": 1.0}}
    for seconds, chosen, ratio in ((0.98, "library", 1.0), (0.5, "ring", 2.0), (3.0, "library", 1)):
        rows = [{"candidate": "ring", "simulated": seconds, "model": 1.0}]
        (found,) = scale.choices([{**cell, "candidates": rows, "stock": own}])
        assert (found.chosen, found.ratio) == (chosen, ratio)


@pytest.mark.slow
def test_the_command_prints_and_saves(tmp_path: Path) -> None:
    out = tmp_path / "scale.json"
    command = ("figures", "scale", "--out", out)
    done = mpis.haichi_command(*command, "--ranks", "96")
    assert done.returncode == 0, done.stderr
    assert "geometric mean" in done.stdout
    saved = json.loads(out.read_text())
    assert saved["schema"] == scale.SCHEMA
    assert [each["cells"] for each in saved["summary"]] == [16, 16]
    part = mpis.haichi_command(*command, "--ranks", "96", "--bytes", "64", "--bytes", "1024")
    assert part.returncode == 0, part.stderr
    assert {cell["bytes"] for cell in json.loads(out.read_text())["cells"]} == {64, KIB}
    refused = mpis.haichi_command(*command, "--ranks", "97")
    assert refused.returncode == 2
    assert "usage: scale-study" in refused.stderr
