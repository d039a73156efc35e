"""Programs from the package archive whose collectives haichi takes: the results are stock's."""

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

HERE = Path(__file__).parent
EXAMPLE = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
RANKS = 4
# What the HPC Challenge checks of itself, and what depends on no clock.
RESULTS = re.compile(
    r"^(Success|HPL_RnormI|PTRANS_residual|MPIFFT_N|MPIFFT_maxErr|MPIRandomAccess_Errors)=(.*)$",
    re.MULTILINE,
)


@pytest.fixture(scope="module")
def mpi() -> Mpi:
    """The one that the distribution links its programs with."""
    found = [each for each in mpis.mpis("openmpi") if "4.1" in each.name and not each.missing]
    if not found or not found[0].shim.exists():
        pytest.skip("no Open MPI 4.1, which the distribution's programs are linked with")
    return found[0]


def under_haichi(mpi: Mpi, folder: Path, **settings: str) -> dict[str, str]:
    """The environment of four ranks on two nodes, with a report in the folder."""
    (folder / "placement.json").write_text(json.dumps({"version": 1, "map": [[0, 2, 2, 1]]}))
    return mpi.preload(
        HAICHI_COLLECTIVES_AFTER="1",
        HAICHI_PLACEMENT=str(folder / "placement.json"),
        HAICHI_REPORT=str(folder / "report.json"),
        **settings,
    )


def taken(folder: Path) -> dict[str, set[str]]:
    """Collective -> what was chosen for it, as the report says."""
    chosen: dict[str, set[str]] = {}
    for each in load(folder / "report.json").collectives:
        chosen.setdefault(each.collective, set()).add(each.chosen)
    return chosen


def hpcc(mpi: Mpi, program: str, folder: Path, env: Mapping[str, str]) -> dict[str, str]:
    """What a small run says of its own results."""
    folder.mkdir()
    text = EXAMPLE.read_text()
    text = re.sub(r"^1000( +Ns)$", r"100\1", text, flags=re.MULTILINE)
    (folder / "hpccinf.txt").write_text(re.sub(r"^80( +NBs)$", r"20\1", text, flags=re.MULTILINE))
    mpi.run(RANKS, ["sh", "-c", f"cd {folder} && exec {program}"], env, timeout=300, check=True)
    return dict(RESULTS.findall((folder / "hpccoutf.txt").read_text()))


@pytest.mark.slow
def test_hpc_challenge(mpi: Mpi, tmp_path: Path) -> None:
    """Its Fourier transform calls MPI_Alltoall."""
    program = shutil.which("hpcc")
    if program is None or not EXAMPLE.exists():
        pytest.skip("no hpcc: apt-get install hpcc")
    stock = hpcc(mpi, program, tmp_path / "stock", {})
    assert stock["Success"] == "1"
    env = under_haichi(mpi, tmp_path, HAICHI_COLLECTIVES_ALGORITHM="node_aware(2)")
    assert hpcc(mpi, program, tmp_path / "haichi", env) == stock
    assert set.union(*taken(tmp_path).values()) == {"node_aware(2)"}


@pytest.mark.parametrize("how", mpis.slow_but(["auto"], ["auto", "bruck(2)", "ring"]))
def test_fftw(mpi: Mpi, tmp_path: Path, how: str) -> None:
    """By all algorithms in turn, or by one."""
    if not all(Path("/usr/include", each).exists() for each in ("fftw3.h", "fftw3-mpi.h")):
        pytest.skip("no FFTW with MPI: apt-get install libfftw3-dev libfftw3-mpi-dev")
    flags = ["-Wl,--no-as-needed", "-lfftw3_mpi", "-lfftw3", "-lm"]
    program = mpi.compile(HERE.parents[1] / "bench" / "patterns" / "fourier.c", *flags)
    stock = mpi.run(RANKS, [program, "16", "20"], mpi.stock(), check=True).stdout
    assert stock.endswith("error small\n")
    env = under_haichi(mpi, tmp_path, HAICHI_COLLECTIVES_ALGORITHM=how)
    assert mpi.run(RANKS, [program, "16", "20"], env, check=True).stdout == stock
    chosen = taken(tmp_path)["MPI_Alltoall"]
    assert how == "auto" or chosen == {how}


@pytest.mark.parametrize("how", mpis.slow_but(["auto"], ["auto", "pair"]))
def test_lammps(mpi: Mpi, tmp_path: Path, how: str) -> None:
    """Its particle mesh calls MPI_Alltoallv, on communicators of its own too."""
    program = shutil.which("lmp")
    if program is None:
        pytest.skip("no lmp: apt-get install lammps")
    argv = [program, "-in", HERE / "rock_salt.lammps", "-log", "none"]

    def steps(env: Mapping[str, str] | None) -> list[str]:
        out = mpi.run(RANKS, argv, env, check=True, cwd=tmp_path).stdout
        table = re.search(r"^Step Temp .*?^Loop time", out, re.MULTILINE | re.DOTALL)
        assert table, out
        return table[0].splitlines()[1:-1]

    stock = steps(None)
    assert len(stock) == 5
    assert steps(under_haichi(mpi, tmp_path, HAICHI_COLLECTIVES_ALGORITHM=how)) == stock
    chosen = taken(tmp_path)["MPI_Alltoallv"]
    assert how == "auto" or chosen == {how}
