"""Real clients of MPI-IO, byte by byte: HDF5, h5py, PnetCDF, netCDF-4, mpi4py, Fortran programs,
and the output of applications and benchmarks: BTIO, FLASH, S3D, IOR.

Each is run without haichi and with it. Both files must be the same, and so must what the programs
print of what they read back. What they do is right in the stock libraries; where those are wrong,
test_oracle.py judges.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import mpis
import pytest
from oracle_support import calls_of, fast_folder, placement

HERE = Path(__file__).parent
FORTRAN = HERE.parent / "fortran"
# What the distribution builds libraries for.
DEBIAN = mpis.slow_but(["mpich-4.0.2"], ["mpich-4.0.2", "openmpi-4.1.4"])
__all__ = ["fast_folder"]


def compare(
    mpi: mpis.Mpi,
    ranks: int,
    words: list[str | Path],
    folder: Path,
    stock: mpis.Mpi | None = None,
    collective: bool = True,
) -> bytes:
    """Runs `words` + [file] on `stock` (else `mpi`) as it is and on `mpi` under haichi, and
    compares outputs and files, those with a suffix of their own included. If `collective`, haichi
    must have carried out every collective call, and there must be some. Returns the file."""
    outputs, files = [], []
    report = folder / "report.json"
    for library, name in ((stock or mpi, "stock"), (mpi, "haichi")):
        env = dict(library.python_env)
        env.update(library.preload() if name == "haichi" else library.stock())
        if name == "haichi":
            env["HAICHI_REPORT"] = str(report)
            env["HAICHI_PLACEMENT"] = str(placement("deal2", ranks, folder))
        path = folder / f"{name}.dat"
        for old in folder.glob(f"{path.name}*"):
            old.unlink()  # or its bytes would pass for those of this run
        done = library.run(ranks, [*words, path], env, timeout=120, check=True)
        outputs.append(done.stdout)
        written = sorted(folder.glob(f"{path.name}*"))
        files.append({file.name.removeprefix(path.name): file.read_bytes() for file in written})
    assert files[0].keys() == files[1].keys() != set()
    for suffix, expected in files[0].items():
        assert_same(expected, files[1][suffix])
    assert outputs[0] == outputs[1]
    if collective:
        assert_handled(report)
    return files[1].get("", b"")


def assert_same(expected: bytes, found: bytes) -> None:
    """Both files have the same bytes."""
    assert len(expected) == len(found)
    differ = [i for i, (a, b) in enumerate(zip(expected, found, strict=True)) if a != b]
    assert not differ, f"{len(differ)} bytes differ, the first at {differ[0]}"


def assert_handled(report: Path) -> None:
    """haichi saw collective calls and carried out each of them."""
    calls = calls_of(report)
    assert calls and all(call["handled"] for call in calls), "haichi passed calls through"


def usable(name: str) -> mpis.Mpi:
    """The MPI of that name, or a skip that says what is missing."""
    mpi = next(mpi for mpi in mpis.all_mpis() if mpi.name == name)
    if mpi.missing:
        pytest.skip(mpi.missing)
    return mpi


def library_flags(package: str, debian: str) -> list[str]:
    """What the compiler needs to build against a library of the Debian package `debian`."""
    if not shutil.which("pkg-config"):
        pytest.skip("pkg-config is not installed")
    asked = mpis.run_bounded(["pkg-config", "--cflags", "--libs", package])
    if asked.returncode != 0:
        pytest.skip(f"{debian} is not installed")
    # The flags come before the source.
    return ["-Wl,--no-as-needed", *asked.stdout.split()]


def hdf5_flags(mpi: mpis.Mpi) -> list[str]:
    """Those of the parallel HDF5 for that MPI."""
    if mpi.abi == "mpich" and mpis.sanitizers():
        pytest.skip("with HDF5 and a sanitizer MPI_Init of MPICH never ends, without haichi too")
    return library_flags(f"hdf5-{mpi.abi}", f"libhdf5-{mpi.abi}-dev")


def h5py() -> tuple[mpis.Mpi, str]:
    """Debian's h5py, which is built on Open MPI: that MPI and its Python."""
    mpi = usable("openmpi-4.1.4")
    python = "/usr/bin/python3"
    # Debian has a serial build beside it, and chooses by what started the program.
    probe = [python, "-c", "import h5py._debian_h5py_mpi, mpi4py"]
    if mpis.run_bounded(probe).returncode != 0:
        pytest.skip("no h5py with MPI for /usr/bin/python3: apt install python3-h5py-mpi")
    return mpi, python


@pytest.mark.parametrize("ranks", mpis.slow_but([2], [2, 4]))
def test_h5py(ranks: int, fast_folder: Path) -> None:
    """Nine datasets, each read collectively four times."""
    mpi, python = h5py()
    compare(mpi, ranks, [python, HERE / "client_h5py.py"], fast_folder)
    calls = calls_of(fast_folder / "report.json")
    assert sum(call["call"].startswith("MPI_File_read") for call in calls) >= 4 * 9


def test_h5write_is_collective(fast_folder: Path) -> None:
    """The demo's h5py program writes and reads collectively, as it says."""
    mpi, python = h5py()
    report = fast_folder / "report.json"
    words = [python, mpis.ROOT / "bench" / "io" / "h5write.py", fast_folder / "x.h5", "columns"]
    env = mpi.preload(HAICHI_REPORT=str(report))
    mpi.run(2, [*words, "64"], env, timeout=60, check=True)
    assert_handled(report)
    kinds = {call["call"].split("_")[2] for call in calls_of(report) if call["bytes"] == 8 * 64**2}
    assert kinds == {"write", "read"}


@pytest.mark.parametrize("name", DEBIAN)
def test_hdf5_in_c(name: str, fast_folder: Path) -> None:
    """The mpio driver of Debian's HDF5."""
    mpi = usable(name)
    program = mpi.compile(HERE / "client_hdf5.c", *hdf5_flags(mpi))
    compare(mpi, 3, [program], fast_folder)


def test_mpi4py(mpi: mpis.Mpi, fast_folder: Path) -> None:
    """Every MPI that has an mpi4py."""
    if mpi.python_missing or mpi.python is None:
        pytest.skip(mpi.python_missing or "no Python for this MPI")
    # Stock MPICH 4.0.2 aborts on views of large-count types, which mpi4py 4 makes; under haichi it
    # must do what the next MPICH does.
    stock = usable("mpich-5.0.2") if mpi.name == "mpich-4.0.2" else mpi
    words: list[str | Path] = [mpi.python, HERE / "client_mpi4py.py"]
    compare(mpi, 3, words, fast_folder, stock=stock)


@pytest.mark.parametrize(
    "source",
    mpis.slow_but(
        [HERE / "client_fortran.f90", FORTRAN / "interpose_f08.f90"],
        [HERE / "client_fortran.f90", *sorted(FORTRAN.glob("*.f90"))],
    ),
    ids=lambda path: path.stem,
)
@pytest.mark.parametrize("name", DEBIAN)
def test_fortran(name: str, source: Path, fast_folder: Path) -> None:
    """mpif.h, use mpi and mpi_f08."""
    mpi = usable(name)
    if mpi.mpif90 is None:
        pytest.skip(f"{name} has no Fortran compiler")
    compare(mpi, 3, [mpi.compile(source, fortran=True)], fast_folder)


@pytest.mark.parametrize("ranks", mpis.slow_but([2], [2, 4]))
def test_pnetcdf(ranks: int, fast_folder: Path) -> None:
    """Debian's PnetCDF, which is built on Open MPI."""
    mpi = usable("openmpi-4.1.4")
    program = mpi.compile(HERE / "client_pnetcdf.c", *library_flags("pnetcdf", "libpnetcdf-dev"))
    compare(mpi, ranks, [program, "5", "4", "3"], fast_folder)


@pytest.mark.slow
def test_netcdf4(fast_folder: Path) -> None:
    """Debian's parallel netCDF-4, which is built on Open MPI."""
    mpi = usable("openmpi-4.1.4")
    flags = library_flags("netcdf-mpi", "libnetcdf-mpi-dev")
    # The include folder that it names has no netcdf.h; the right one is below its prefix.
    asked = ["pkg-config", "--variable=prefix", "netcdf-mpi"]
    prefix = mpis.run_bounded(asked, check=True).stdout.strip()
    program = mpi.compile(HERE / "client_netcdf4.c", f"-I{prefix}/include", *flags)
    compare(mpi, 4, [program, "7", "5", "3"], fast_folder)


@pytest.mark.parametrize("name", DEBIAN)
def test_flash(name: str, fast_folder: Path) -> None:
    """FLASH's checkpoint: 24 datasets out of blocks with guard cells."""
    mpi = usable(name)
    program = mpi.compile(HERE / "client_flash.c", *hdf5_flags(mpi))
    compare(mpi, 3, [program, "2", "8", "4"], fast_folder)


def test_s3d(mpi: mpis.Mpi, fast_folder: Path) -> None:
    """S3D's checkpoint: 3-D and 4-D arrays as darrays, cut unevenly."""
    program = mpi.compile(HERE / "client_s3d.c")
    compare(mpi, 4, [program, "13", "7", "6"], fast_folder)


@pytest.mark.parametrize("how", ["offset", "view"])
def test_ior(mpi: mpis.Mpi, how: str, fast_folder: Path) -> None:
    """IOR's segments, blocks and transfers."""
    program = mpi.compile(HERE / "client_ior.c")
    compare(mpi, 3, [program, how, "4", "6000", "1500"], fast_folder)


def btio(name: str) -> tuple[mpis.Mpi, Path]:
    """BTIO for that MPI."""
    mpi = usable(name)
    if mpi.mpif90 is None:
        pytest.skip(f"{name} has no Fortran compiler")
    return mpi, mpi.compile(HERE / "client_btio.f90", fortran=True)


@pytest.mark.parametrize("name", DEBIAN)
def test_btio(name: str, fast_folder: Path) -> None:
    """Collective, independent and Fortran's own output leave the same file."""
    mpi, program = btio(name)
    files = [
        compare(mpi, 4, [program, variant, "11", "2"], fast_folder, collective=variant == "full")
        for variant in ("full", "simple", "fortran")
    ]
    assert len(files[0]) == 40 * 11**3 * 2
    assert_same(files[0], files[1])
    assert_same(files[0], files[2])


@pytest.mark.slow
@pytest.mark.parametrize("name", DEBIAN)
def test_btio_on_nine_ranks(name: str, fast_folder: Path) -> None:
    """Three blocks a rank, of unequal size."""
    mpi, program = btio(name)
    compare(mpi, 9, [program, "full", "10", "2"], fast_folder)


@pytest.mark.parametrize("name", DEBIAN)
def test_btio_with_a_file_for_each_process(name: str, fast_folder: Path) -> None:
    """Output that is not MPI-IO's is left alone."""
    mpi, program = btio(name)
    compare(mpi, 4, [program, "epio", "7", "2"], fast_folder, collective=False)
    assert len(list(fast_folder.glob("haichi.dat.*"))) == 4
