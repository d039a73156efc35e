"""`haichi figures predict-ports`: calls of sub-communicators that share the ports of nodes."""

from __future__ import annotations

import shutil
from pathlib import Path

import mpis
import pytest
from haichi.figures import predict_ports

if shutil.which("smpirun") is None or not (mpis.BUILD / "bin" / "smpi-programs").exists():
    pytest.skip(
        "no smpirun or no smpi-programs: apt install libsimgrid-dev, then ./haichi build",
        allow_module_level=True,
    )


def test_what_a_call_takes_beyond_its_ports_is_taken_once(tmp_path: Path) -> None:
    """SMPI puts a barrier before every step, so that a call alone takes several times what its
    bytes do. Were all that port's time, four at once would be a third longer than they are."""
    (case,) = predict_ports.measure(tmp_path, "pair_mpi_barrier", [8192])
    assert case.column_alone > 10 * 3 * 8192 / 12.3e9
    assert abs(case.error) < 0.05
