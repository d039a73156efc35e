"""Real clients of MPI-IO, byte by byte: h5py, HDF5 in C, mpi4py and Fortran programs.

Each is run without haichi and with it. Both files must be the same, and so must what the programs
print of what they read back. What they do is right in the stock libraries; where those are wrong,
test_oracle.py judges.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import mpis
import pytest
from oracle_support import fast_folder, placement, preloads, yielding

HERE = Path(__file__).parent
FORTRAN = HERE.parent / "fortran"
__all__ = ["fast_folder"]


def compare(
    mpi: mpis.Mpi,
    ranks: int,
    words: list[str | Path],
    folder: Path,
    stock: mpis.Mpi | None = None,
    yields: bool = True,
) -> None:
    """Runs `words` + [file] on `stock` (else `mpi`) as it is and on `mpi` under haichi, and
    compares files and outputs."""
    outputs, files = [], []
    report = folder / "report.json"
    for library, name in ((stock or mpi, "stock"), (mpi, "haichi")):
        env = dict(library.python_env)
        shim = str(library.shim) if name == "haichi" else ""
        env.update(preloads(shim, yielding(library) if yields else ""))
        if name == "haichi":
            env["HAICHI_REPORT"] = str(report)
            env["HAICHI_PLACEMENT"] = str(placement("deal2", ranks, folder))
        path = folder / f"{name}.dat"
        done = library.run(ranks, [*words, path], env, timeout=120, check=True)
        outputs.append(done.stdout)
        files.append(path.read_bytes())
    assert len(files[0]) == len(files[1])
    differ = [i for i, (a, b) in enumerate(zip(*files, strict=True)) if a != b]
    assert not differ, f"{len(differ)} bytes differ, the first at {differ[0]}"
    assert outputs[0] == outputs[1]
    calls = [call for file in json.loads(report.read_text())["files"] for call in file["calls"]]
    assert calls and all(call["handled"] for call in calls), "haichi passed calls through"


def usable(name: str) -> mpis.Mpi:
    """The MPI of that name, or a skip that says what is missing."""
    mpi = next(mpi for mpi in mpis.all_mpis() if mpi.name == name)
    if mpi.missing:
        pytest.skip(mpi.missing)
    return mpi


def hdf5_flags(package: str) -> list[str]:
    """What the compiler needs to build against a parallel HDF5."""
    if not shutil.which("pkg-config"):
        pytest.skip("pkg-config is not installed")
    asked = subprocess.run(
        ["pkg-config", "--cflags", "--libs", package], capture_output=True, text=True
    )
    if asked.returncode != 0:
        pytest.skip(f"lib{package}-dev is not installed")
    # The flags come before the source.
    return ["-Wl,--no-as-needed", *asked.stdout.split()]


@pytest.mark.parametrize("ranks", [2, 4])
def test_h5py(ranks: int, fast_folder: Path) -> None:
    """Debian's h5py, which is built on Open MPI."""
    mpi = usable("openmpi-4.1.4")
    python = "/usr/bin/python3"
    # Debian has a serial build beside it, and chooses by what started the program.
    probe = [python, "-c", "import h5py._debian_h5py_mpi, mpi4py"]
    if subprocess.run(probe, capture_output=True).returncode != 0:
        pytest.skip("no h5py with MPI for /usr/bin/python3: apt install python3-h5py-mpi")
    compare(mpi, ranks, [python, HERE / "client_h5py.py"], fast_folder)


@pytest.mark.parametrize("name", ["mpich-4.0.2", "openmpi-4.1.4"])
def test_hdf5_in_c(name: str, fast_folder: Path) -> None:
    """The mpio driver of Debian's HDF5."""
    mpi = usable(name)
    program = mpi.compile(HERE / "client_hdf5.c", *hdf5_flags(f"hdf5-{mpi.abi}"))
    compare(mpi, 3, [program], fast_folder)


def test_mpi4py(mpi: mpis.Mpi, fast_folder: Path) -> None:
    """Every MPI that has an mpi4py."""
    if mpi.python_missing or mpi.python is None:
        pytest.skip(mpi.python_missing or "no Python for this MPI")
    # Stock MPICH 4.0.2 aborts on views of large-count types, which mpi4py 4 makes; under haichi it
    # must do what the next MPICH does.
    stock = usable("mpich-5.0.2") if mpi.name == "mpich-4.0.2" else mpi
    words: list[str | Path] = [mpi.python, HERE / "client_mpi4py.py"]
    # Python opens its libmpi for itself alone, where a preload that steps between does not reach.
    compare(mpi, 3, words, fast_folder, stock=stock, yields=False)


@pytest.mark.parametrize(
    "source",
    [HERE / "client_fortran.f90", *sorted(FORTRAN.glob("*.f90"))],
    ids=lambda path: path.stem,
)
@pytest.mark.parametrize("name", ["mpich-4.0.2", "openmpi-4.1.4"])
def test_fortran(name: str, source: Path, fast_folder: Path) -> None:
    """mpif.h, use mpi and mpi_f08."""
    mpi = usable(name)
    if mpi.mpif90 is None:
        pytest.skip(f"{name} has no Fortran compiler")
    compare(mpi, 3, [mpi.compile(source, fortran=True)], fast_folder)
