"""`haichi figures predict-smpi`: what is predicted by sequence of programs on a machine that SMPI
simulates, from a profile that was measured there."""

from __future__ import annotations

import shutil
from pathlib import Path

import mpis
import pytest
from haichi.figures import predict_smpi

if shutil.which("smpirun") is None or not (mpis.BUILD / "bin" / "smpi-programs").exists():
    pytest.skip(
        "no smpirun or no smpi-programs: apt install libsimgrid-dev, then ./haichi build",
        allow_module_level=True,
    )


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> predict_smpi.Simulated:
    return predict_smpi.Simulated(tmp_path_factory.mktemp("smpi"), cross_traffic=False)


@pytest.mark.slow
def test_programs_are_predicted(machine: predict_smpi.Simulated) -> None:
    """All but Trans7's puts, which move gigabytes of memory."""
    chosen = [name for name in predict_smpi.JOBS if name != "trans7-put"]
    cases = predict_smpi.measure(machine, chosen, 2, lambda text: None)
    assert [each.program for each in cases] == chosen
    assert {each.program: each.error for each in cases if abs(each.error) > each.most} == {}
    assert not [note for each in cases for note in each.notes]


def test_one_program(machine: predict_smpi.Simulated, tmp_path: Path) -> None:
    (case,) = predict_smpi.measure(machine, ["mg"], 1, lambda text: None)
    assert abs(case.error) < case.most
    # Computing is uneven, so that ranks wait: sums of calls would not tell it.
    assert case.waiting > 0
