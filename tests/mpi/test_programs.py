"""A program from the package archive whose collectives haichi takes: the results are stock's."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import mpis
import pytest
from haichi.report.load import load
from mpis import Mpi

EXAMPLE = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
RANKS = 4
# What the HPC Challenge checks of itself, and what depends on no clock.
RESULTS = re.compile(
    r"^(Success|HPL_RnormI|PTRANS_residual|MPIFFT_N|MPIFFT_maxErr|MPIRandomAccess_Errors)=(.*)$",
    re.MULTILINE,
)


@pytest.fixture(scope="module")
def hpcc() -> tuple[Mpi, str]:
    """The program and the MPI that the distribution linked it with."""
    program = shutil.which("hpcc")
    if program is None or not EXAMPLE.exists():
        pytest.skip("no hpcc: apt-get install hpcc")
    found = [each for each in mpis.mpis("openmpi") if "4.1" in each.name and not each.missing]
    if not found or not found[0].shim.exists():
        pytest.skip("no Open MPI 4.1, which hpcc is linked with")
    return found[0], program


def results(mpi: Mpi, program: str, folder: Path, env: Mapping[str, str]) -> dict[str, str]:
    """What a small run says of its own results."""
    folder.mkdir()
    text = EXAMPLE.read_text()
    text = re.sub(r"^1000( +Ns)$", r"100\1", text, flags=re.MULTILINE)
    (folder / "hpccinf.txt").write_text(re.sub(r"^80( +NBs)$", r"20\1", text, flags=re.MULTILINE))
    mpi.run(RANKS, ["sh", "-c", f"cd {folder} && exec {program}"], env, timeout=300, check=True)
    return dict(RESULTS.findall((folder / "hpccoutf.txt").read_text()))


@pytest.mark.slow
def test_hpc_challenge_has_stock_results(hpcc: tuple[Mpi, str], tmp_path: Path) -> None:
    """Its Fourier transform calls MPI_Alltoall."""
    mpi, program = hpcc
    stock = results(mpi, program, tmp_path / "stock", {})
    assert stock["Success"] == "1"
    placement = tmp_path / "placement.json"
    placement.write_text(json.dumps({"version": 1, "map": [[0, 2, 2, 1]]}))
    report = tmp_path / "report.json"
    env = mpi.preload(
        HAICHI_PLACEMENT=str(placement),
        HAICHI_REPORT=str(report),
        HAICHI_COLLECTIVES_ALGORITHM="node_aware(2)",
    )
    assert results(mpi, program, tmp_path / "haichi", env) == stock
    taken = load(report).collectives
    assert taken
    assert {each.chosen for each in taken} == {"node_aware(2)"}
