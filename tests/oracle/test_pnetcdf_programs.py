"""PnetCDF's own tests (test/ of its source), as PnetCDF's developers wrote them.

Those in C whose accesses are collective are compiled and run without haichi and with it, with
collective buffers of some hundred bytes on pretended nodes, since their files have a few KiB. They
check what they read back; the files of both runs must be the same too. Debian builds PnetCDF over
Open MPI; the library over MPICH is compiled here from the same source.

Not here: `vectors`, `record`, `interleaved`, `last_large_var`, `large_var_cdf5`, `tst_free_comm`
and the like, which make no collective call; `large_files`, whose 4 GiB rank 0 writes alone; tests
of Fortran, C++ and of drivers that Debian does not build.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import mpis
import pytest
from library_programs import Program, assert_carried_out, passes, passes_in_stock, source_of
from oracle_support import fast_folder
from pnetcdf_build import build
from test_clients import DEBIAN, usable

__all__ = ["fast_folder"]
PAGE = 4096
FILE = "out.nc"  # some put a digit behind it
# Their files need not be the same.
OWN_BYTES = {
    "add_var": "it moves what was never written: behind the end of the file stock Open MPI reads "
    "as much as was asked for, haichi nothing",
    "check_type": "two bytes of padding are what was in memory",
}
# The same with a sanitizer, which fills fresh memory.
FILLED_BYTES = {
    "iput_all_kinds": "stock Open MPI writes a gap behind the end of the file from memory that it "
    "has not written to",
}


def of(folder: str, calls: dict[str, int]) -> list[Program]:
    """Programs of one source each in a folder of test/, with their number of collective calls."""
    return [
        Program(Path(name).stem, (f"{folder}/{name}",), least, (FILE,), "256")
        for name, least in calls.items()
    ]


# Nonblocking and blocking calls of all types, memory types, filetypes, fill values, subarrays.
PROGRAMS = [
    *of("testcases", {"iput_all_kinds.m4": 300, "test_vard.c": 40, "tst_vars_fill.m4": 150}),
    *of("testcases", {"flexible_varm.c": 4}),
    *of("nonblocking", {"column_wise.m4": 60}),
]
LONG_PROGRAMS = [
    *of("testcases", {"put_all_kinds.m4": 300, "erange_fill.m4": 300, "error_precedence.m4": 500}),
    *of("testcases", {"null_args.m4": 500, "flexible.c": 16, "flexible2.c": 4, "test_varm.c": 30}),
    *of("testcases", {"test_vard_multiple.c": 13, "test_vard_rec.c": 3, "nonblocking.c": 2}),
    *of("testcases", {"alignment_test.c": 48, "varn_int.c": 6, "varn_contig.c": 2, "ivarn.c": 7}),
    *of("testcases", {"mix_collectives.c": 6, "tst_def_var_fill.c": 15, "test_fillvalue.c": 3}),
    *of("testcases", {"test_erange.c": 30, "collective_error.c": 24, "add_var.c": 20}),
    *of("testcases", {"buftype_free.c": 5, "check_type.c": 3, "scalar.c": 78, "one_record.c": 3}),
    *of("testcases", {"ncmpi_vars_null_stride.c": 30}),
    *of("nonblocking", {"test_bput.c": 1, "i_varn_int64.c": 62, "flexible_bput.c": 4}),
    *of("nonblocking", {"wait_after_indep.c": 1, "req_all.c": 1, "i_varn_indef.c": 39}),
    *of("nonblocking", {"large_num_reqs.c": 2, "bput_varn.m4": 800, "mcoll_perf.c": 65}),
    # Sparse files of 8 to 600 GB.
    *of("largefile", {"large_coalesce.c": 2, "large_var.c": 6, "tst_cdf5_begin.c": 3}),
]


@pytest.fixture(scope="module")
def source() -> Path:
    """The source of the PnetCDF that is installed, as ./haichi test has fetched it."""
    return source_of("pnetcdf", "libpnetcdf-dev")


def digest(path: Path) -> str:
    """Of all bytes that are not in holes, with their places, and of the size: some have 600 GB."""
    sums = hashlib.sha256(str(path.stat().st_size).encode())
    with path.open("rb") as file:
        at = 0
        while (at := data_from(file.fileno(), at)) >= 0:
            end = os.lseek(file.fileno(), at, os.SEEK_HOLE)
            while at < end:
                page = os.pread(file.fileno(), min(PAGE, end - at), at)
                if page.strip(b"\0"):
                    sums.update(str(at).encode() + page)
                at += len(page)
    return sums.hexdigest()


def data_from(fd: int, at: int) -> int:
    """Where the next byte is that is not in a hole; -1 if there is none."""
    try:
        return os.lseek(fd, at, os.SEEK_DATA)
    except OSError:
        return -1


def files_in(folder: Path) -> dict[str, str]:
    """What the program wrote; taken away, or it would pass for that of the next run."""
    files = {}
    for path in sorted(folder.glob(f"{FILE}*")):
        files[path.name] = digest(path)
        path.unlink()
    return files


def compare(name: str, program: Program, source: Path, folder: Path) -> None:
    """Passes without haichi, then with it, with the same files, and haichi has carried out the
    collective calls."""
    mpi = usable(name)
    words: list[str | Path] = [build(mpi, source, program), *program.arguments]
    passes_in_stock(mpi, program, words, folder)
    stock = files_in(folder)
    done = passes(mpi, program, words, folder, haichi=True)
    assert "pass" in done.stdout
    assert_carried_out(program, folder)
    files = files_in(folder)
    assert files.keys() == stock.keys() != set()
    if program.name not in {**OWN_BYTES, **(FILLED_BYTES if mpis.sanitizers() else {})}:
        assert files == stock


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
@pytest.mark.parametrize("name", DEBIAN)
def test_program(name: str, program: Program, source: Path, fast_folder: Path) -> None:
    """A few of them, some seconds each where the library has to be compiled first."""
    compare(name, program, source, fast_folder)


@pytest.mark.long
@pytest.mark.timeout(660)
@pytest.mark.parametrize("program", LONG_PROGRAMS, ids=lambda program: program.name)
@pytest.mark.parametrize("name", DEBIAN)
def test_long_program(name: str, program: Program, source: Path, fast_folder: Path) -> None:
    """All the others."""
    compare(name, program, source, fast_folder)
