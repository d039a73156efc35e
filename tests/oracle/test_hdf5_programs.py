"""HDF5's own parallel tests (testpar/ of its source), as HDF5's developers wrote them.

They are compiled against the HDF5 that Debian has built for each of its MPIs and run without haichi
and with it, with collective buffers of a few KiB on pretended nodes, so that what they write and
read goes through many cycles. They check every value themselves.

`t_cache` and `t_cache_image` are not here: they test the cache of metadata, whose accesses are
independent, and the first has not ended after 150 s with four ranks on two cores, without haichi.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import mpis
import pytest
from haichi_bootstrap import sources
from oracle_support import calls_of, fast_folder, placement, preloads, yielding
from test_clients import DEBIAN, hdf5_flags, usable

RANKS = 4
PARTS_OF_TESTPHDF5 = (
    *("testphdf5", "t_dset", "t_file", "t_file_image", "t_mdset", "t_ph5basic", "t_coll_chunk"),
    *("t_span_tree", "t_chunk_alloc", "t_filter_read", "t_prop", "t_coll_md_read"),
)
# Thousands of groups, which are metadata: a third of the time.
WITHOUT_GROUPS = ("-x", "ngrpw", "-x", "ngrpr", "-x", "cngrpw-ingrpr")
# Open MPI 4.1.4 fails this now and then by itself (1 run of 25): what a rank writes in atomic mode
# is seen in part by another. haichi leaves atomic mode to the library.
WITHOUT_ATOMICITY = ("-x", "atomicity")
__all__ = ["fast_folder"]


@dataclass(frozen=True)
class Program:
    """One of them, and what haichi must have done in it."""

    name: str
    parts: tuple[str, ...]
    """Its sources."""
    collective: int
    """Least number of collective calls that haichi carries out."""
    arguments: tuple[str, ...] = ()
    buffer: str = "8KiB"
    """haichi's collective buffer, so small that many cycles run."""
    limit_s: float = 280
    """Several times what it takes on two cores that have other work too."""


PROGRAMS = [
    Program("t_mpi", ("t_mpi",), 1),
    Program("t_pread", ("t_pread",), 1),
    Program("t_filters_parallel", ("t_filters_parallel",), 50),
    Program("testphdf5", PARTS_OF_TESTPHDF5, 500, WITHOUT_GROUPS),
]
LONG_PROGRAMS = [
    Program("t_bigio", ("t_bigio",), 8, buffer="2MiB", limit_s=600),
    Program("t_shapesame", ("t_shapesame",), 1000, buffer="2MiB", limit_s=600),
]


@pytest.fixture(scope="module")
def source() -> Path:
    """The source of the HDF5 that is installed, as ./haichi test has fetched it."""
    version = sources.installed_version("hdf5")
    if version is None:
        pytest.skip("HDF5 is not installed: apt install libhdf5-mpich-dev libhdf5-openmpi-dev")
    folder = sources.folder_of("hdf5", version)
    if not folder.exists():
        pytest.skip("no source of HDF5 in .deps/sources: ./haichi test, where apt has an archive")
    return folder


def build(mpi: mpis.Mpi, source: Path, program: Program) -> Path:
    """Compiles a program against Debian's HDF5, once per test run."""
    folder = mpis.scratch() / mpi.name / "hdf5"
    target = folder / program.name
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        # HDF5's configure writes this one; it names the folder of data files for other tests.
        (folder / "H5srcdir_str.h").write_text('static const char *config_srcdir = ".";\n')
        files = [source / "testpar" / f"{part}.c" for part in program.parts]
        files += [source / "test" / f"{part}.c" for part in ("h5test", "testframe")]
        # The tests look into the library: its private headers, then those as configured.
        headers = [f"-I{folder}", f"-I{source}/src", f"-I{source}/test"]
        words = [mpi.mpicc, "-O0", "-w", *headers, *hdf5_flags(mpi), *files, "-lm", "-o", target]
        mpis.run_bounded([str(word) for word in words], timeout=280, check=True)
    return target


def run(
    mpi: mpis.Mpi, program: Program, source: Path, folder: Path, haichi: bool
) -> subprocess.CompletedProcess[str]:
    """Runs a program in a folder for its files, with haichi's report in it."""
    env = preloads(str(mpi.shim) if haichi else "", yielding(mpi))
    if haichi:
        env["HAICHI_IO_BUFFER"] = program.buffer
        env["HAICHI_REPORT"] = str(folder / "report.json")
        env["HAICHI_PLACEMENT"] = str(placement("deal2", RANKS, folder))
    words = [build(mpi, source, program), *program.arguments]
    if program.name == "testphdf5" and mpi.abi == "openmpi":
        words += WITHOUT_ATOMICITY
    return mpi.run(RANKS, words, env, timeout=program.limit_s, cwd=folder)


def passes(mpi: mpis.Mpi, program: Program, source: Path, folder: Path, haichi: bool) -> None:
    """The program says with its exit code that all is right."""
    done = run(mpi, program, source, folder, haichi)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"


def compare(name: str, program: Program, source: Path, folder: Path) -> None:
    """Passes without haichi, then with it, and haichi has carried out the collective calls."""
    mpi = usable(name)
    try:
        passes(mpi, program, source, folder, haichi=False)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"{program.name} fails on {name} without haichi: {str(error)[-300:]}")
    passes(mpi, program, source, folder, haichi=True)
    calls = calls_of(folder / "report.json")
    assert len(calls) >= program.collective
    assert all(call["handled"] for call in calls)


@pytest.mark.slow
@pytest.mark.timeout(660)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
@pytest.mark.parametrize("name", DEBIAN)
def test_program(name: str, program: Program, source: Path, fast_folder: Path) -> None:
    """Collective and independent datasets, chunked, filled, filtered, extended, irregular."""
    compare(name, program, source, fast_folder)


@pytest.mark.long
@pytest.mark.timeout(1300)
@pytest.mark.parametrize("program", LONG_PROGRAMS, ids=lambda program: program.name)
@pytest.mark.parametrize("name", DEBIAN)
def test_long_program(name: str, program: Program, source: Path, fast_folder: Path) -> None:
    """Selections of the same shape in spaces of different rank; more than a count can say."""
    compare(name, program, source, fast_folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("writer", "reader"), [("t_pflush1", "t_pflush2"), ("t_pshutdown", "t_prestart")]
)
@pytest.mark.parametrize("name", DEBIAN)
def test_pair(name: str, writer: str, reader: str, source: Path, fast_folder: Path) -> None:
    """What was flushed is in the file though the job ends without MPI_Finalize; so is what was
    still open in MPI_Finalize."""
    mpi = usable(name)
    first, second = (Program(name, (name,), 0) for name in (writer, reader))
    for haichi in (False, True):
        for old in fast_folder.glob("*.h5"):
            old.unlink()
        run(
            mpi, first, source, fast_folder, haichi
        )  # t_pflush1 always fails; what is found decides
        passes(mpi, second, source, fast_folder, haichi)
