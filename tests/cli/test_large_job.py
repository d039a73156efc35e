"""`haichi figures large-job`: what a call costs each rank does not grow with the job's ranks."""

from __future__ import annotations

import json
from pathlib import Path

import mpis
import pytest
from haichi import mpi
from haichi.figures import large_job

PROGRAM = mpis.BUILD / "bin" / "large-job-study"
KIB = 1 << 10

if not PROGRAM.exists():
    pytest.skip(f"no {PROGRAM}: ./haichi build", allow_module_level=True)


@pytest.mark.slow
def test_memory_at_100_000_ranks() -> None:
    """Memory does not depend on the machine; a plain rank is what nearly all are."""
    rows = large_job.simulated(PROGRAM)
    found = {(each.pattern, each.kind): each for each in large_job.figures(rows)}
    for pattern in ("blocks", "interleaved"):
        assert found[pattern, "rank"].bytes <= large_job.BYTES
        assert found[pattern, "mean of a node"].bytes <= large_job.BYTES
        assert found[pattern, "rank"].messages < 10e-6
    told = [row["bytes"] for row in rows if row["kind"] == "told by all"]
    assert len(told) == 2 and min(told) > 300 * large_job.RANKS


def test_a_plain_rank_pays_for_nodes_not_for_ranks() -> None:
    few, many = (
        {
            each.pattern: each.bytes
            for each in large_job.figures(large_job.simulated(PROGRAM, 16 * n, n), n)
            if each.kind == "rank"
        }
        for n in (8, 64)
    )
    for pattern, size in few.items():
        assert many[pattern] < 1.25 * size + KIB


def test_a_number_that_is_none_is_refused() -> None:
    done = mpis.run_bounded([PROGRAM, "--ranks", "many"], timeout=60)
    assert done.returncode == 2 and "whole number" in done.stderr
    with pytest.raises(mpi.Missing, match="not built"):
        large_job.simulated(Path("/nonexistent"))


def test_the_command_says_what_was_reached(tmp_path: Path) -> None:
    out = tmp_path / "large-job.json"
    words = ("large-job", "--ranks", "256", "--per-node", "16", "--out", out)
    done = mpis.haichi_command("figures", *words)
    assert done.returncode == 0, done.stderr
    document = json.loads(out.read_text())
    assert document["schema"] == large_job.SCHEMA
    assert all(("reached" in claim) for claim in document["claims"])
    assert "opening a file" in done.stdout and "reached" in done.stdout
