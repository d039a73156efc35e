"""The machines that are recorded, as the simulator reads them."""

from __future__ import annotations

import json
from pathlib import Path

import mpis
import pytest
from haichi.paths import ROOT
from launch_prefix import clean_environment

MACHINES = sorted((ROOT / "machines").glob("*.json"))

if not mpis.HAICHI.exists():
    pytest.skip(f"no {mpis.HAICHI}: ./haichi build", allow_module_level=True)


@pytest.mark.parametrize("path", MACHINES, ids=lambda path: path.name)
def test_a_recorded_machine_can_be_simulated(path: Path) -> None:
    words = ["simulate", "alltoall", "--nodes", "4", "--ppn", "2", "--machine", str(path), "--json"]
    done = mpis.run_bounded([mpis.HAICHI, *words], env=clean_environment())
    assert done.returncode == 0, done.stderr
    used = json.loads(done.stdout)["machine"]
    profile = json.loads(path.read_text())
    for name, number in profile["numbers"].items():
        assert used[name] == pytest.approx(number["value"], rel=1e-6), name
    assert used["network"] == profile["network"]
