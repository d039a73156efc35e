"""bench/agreement/run.py: that it measures, under an MPI that yields."""

from __future__ import annotations

import os
import sys

import mpis
import pytest
from mpis import BUILD, ROOT

SCRIPT = ROOT / "bench" / "agreement" / "run.py"


def test_the_loops_refuse_what_they_do_not_know() -> None:
    found = next(each for each in mpis.all_mpis() if each.abi == "openmpi")
    program = BUILD / "bin" / "loops-openmpi"
    if found.missing or not program.exists():
        pytest.skip(found.missing or f"no {program.name} in this build")
    done = found.run(2, [program, "pong", "8", "1"])
    assert done.returncode != 0
    assert "loops: KERNEL BYTES BLOCKS" in done.stderr
    done = found.run(2, [program, "pingpong", "8", "50"], check=True)
    assert 1e-9 < float(done.stdout) < 1


@pytest.mark.long
def test_medians_are_near_those_of_others() -> None:
    """By a factor that no other work on the machine explains; the figures are in the guide."""
    if (
        not (BUILD / "bin" / "loops-mpich").exists()
        or not (BUILD / "bin" / "loops-openmpi").exists()
    ):
        pytest.skip("not all of the programs are built: ./haichi build")
    command = [sys.executable, str(SCRIPT), "--repetitions", "2"]
    done = mpis.run_bounded(command, env={**os.environ, "HAICHI_BUILD": str(BUILD)}, timeout=400)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("  ping-pong")]
    assert len(rows) == 12
    for row in rows[:6]:  # MPICH, whose ranks do not give their cores away
        assert 0.5 < float(row[3]) < 2, done.stdout
