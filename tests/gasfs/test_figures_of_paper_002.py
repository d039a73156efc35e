"""The commands that print tables 2 and 3 of paper 002, on the smallest class: their counts are
those of arithmetic, and a live server counts the same."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from mpis import haichi_command
from whole import needs_gasfs

RECORDS = 20_736  # of class S: 12^3 cells, 12 snapshots
AS_THEY_COME = 20_746  # and those that a stripe of 64 KiB cuts
ARRANGED = 24  # 12 snapshots, each of two stripes at the most


def test_counts_by_arithmetic(tmp_path: Path) -> None:
    needs_gasfs()
    out = tmp_path / "counts.json"
    done = haichi_command("figures", "gasfs-counts", "--classes", "S", "--out", out)
    assert done.returncode == 0, done.stderr
    first, *others = json.loads(out.read_text())["cases"]
    assert (first["nodes"], first["per_node"], first["records"]) == (1, 4, RECORDS)
    assert first["unarranged"]["requests"] == AS_THEY_COME
    assert first["snapshot"]["requests"] == ARRANGED
    # Ranks in blocks leave less than ranks dealt out.
    left = {(o["nodes"], o["cyclic"]): o["snapshot"]["requests"] for o in others}
    assert ARRANGED < left[4, False] < left[4, True]


@pytest.mark.slow
def test_a_server_counts_the_same(tmp_path: Path) -> None:
    needs_gasfs()
    out = tmp_path / "btio.json"
    done = haichi_command("figures", "gasfs-btio", "--class", "S", "--no-peers", "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    local, *runs = json.loads(out.read_text())["runs"]
    assert local["requests"] == 0
    assert [run["requests"] for run in runs] == [AS_THEY_COME, ARRANGED, ARRANGED]
    assert all(run["whole"] and run["requests"] == run["least"] for run in runs)


@pytest.mark.slow
def test_file_systems_of_others_stand_beside(tmp_path: Path) -> None:
    needs_gasfs()
    out = tmp_path / "btio.json"
    done = haichi_command("figures", "gasfs-btio", "--class", "S", "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    runs = {run["way"]: run for run in json.loads(out.read_text())["runs"]}
    assert "MooseFS does not serve on loopback" in done.stderr
    for name, programs in (("bindfs", ["bindfs"]), ("sshfs", ["sshfs", "socat"])):
        if all(shutil.which(program) for program in programs):
            (run,) = [run for way, run in runs.items() if name in way]
            assert run["whole"] and run["seconds"] > runs["local, in memory"]["seconds"]
        else:
            assert f"apt-get install {name}" in done.stderr
