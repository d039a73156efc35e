"""HDF5's own parallel tests (testpar/ of its source), as HDF5's developers wrote them.

They are compiled against the HDF5 that Debian has built for each of its MPIs and run without haichi
and with it, with collective buffers of a few KiB on pretended nodes, so that what they write and
read goes through many cycles. They check every value themselves.

`t_cache` and `t_cache_image` are not here: they test the cache of metadata, whose accesses are
independent, and the first has not ended after 150 s with four ranks on two cores, without haichi.
"""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest
from library_programs import Program, assert_carried_out, passes, passes_in_stock, run, source_of
from oracle_support import fast_folder
from test_clients import DEBIAN, hdf5_flags, usable

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
    return source_of("hdf5", "libhdf5-mpich-dev libhdf5-openmpi-dev")


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


def words_of(mpi: mpis.Mpi, program: Program, source: Path) -> list[str | Path]:
    """The program, built, and its arguments."""
    words: list[str | Path] = [build(mpi, source, program), *program.arguments]
    if program.name == "testphdf5" and mpi.abi == "openmpi":
        words += WITHOUT_ATOMICITY
    return words


def compare(name: str, program: Program, source: Path, folder: Path) -> None:
    """Passes without haichi, then with it, and haichi has carried out the collective calls."""
    mpi = usable(name)
    words = words_of(mpi, program, source)
    passes_in_stock(mpi, program, words, folder)
    passes(mpi, program, words, folder, haichi=True)
    assert_carried_out(program, folder)


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
        # t_pflush1 always fails; what is found decides
        run(mpi, first, words_of(mpi, first, source), fast_folder, haichi)
        passes(mpi, second, words_of(mpi, second, source), fast_folder, haichi)
