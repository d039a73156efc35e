"""PnetCDF's test programs compiled from its source, and its library for an MPI over which Debian
has not built it.

Its own build wants autoconf, automake and libtool; of all that they find out the C part needs the
few words of CONFIG.
"""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest
from library_programs import Program
from test_clients import library_flags

CONFIG = """
#pragma once
#define ENABLE_REQ_AGGREGATION 1
#define RELAX_COORD_BOUND 1
#define HAVE_ACCESS 1
#define HAVE_INTTYPES_H 1
#define HAVE_SEARCH_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRCASECMP 1
#define HAVE_STRDUP 1
#define HAVE_STRERROR 1
#define HAVE_TRUNCATE 1
#define HAVE_UINT 1
#define HAVE_UNLINK 1
#define HAVE_USHORT 1
#define SIZEOF_CHAR 1
#define SIZEOF_UNSIGNED_CHAR 1
#define SIZEOF_SHORT 2
#define SIZEOF_UNSIGNED_SHORT 2
#define SIZEOF_UNSIGNED_SHORT_INT 2
#define SIZEOF_INT 4
#define SIZEOF_UNSIGNED_INT 4
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
#define SIZEOF_LONG 8
#define SIZEOF_LONG_LONG 8
#define SIZEOF_UNSIGNED_LONG_LONG 8
#define SIZEOF_MPI_AINT 8
#define SIZEOF_MPI_OFFSET 8
#define SIZEOF_OFF_T 8
#define SIZEOF_PTRDIFF_T 8
#define SIZEOF_SIZE_T 8
#include <nctypes.h>
"""
PARTS_OF_LIBRARY = ("dispatchers", "drivers/common", "drivers/ncmpio")
# Of features that Debian does not build in either.
LEFT_OUT = ("error_adios2nc.c", "ncmpio_subfile.c")


def build(mpi: mpis.Mpi, source: Path, program: Program) -> Path:
    """Compiles a program against PnetCDF, once per test run."""
    folder = _configured(mpi)
    target = folder / program.name
    if not target.exists():
        files = [_in_c(source / "test" / part, source, folder) for part in program.parts]
        files.append(source / "test" / "common" / "testutils.c")
        places = [folder, source / "src" / "include", source / "test" / "common"]
        flags = ["-O0", "-w", "-DHAVE_CONFIG_H", *(f"-I{place}" for place in places)]
        library = _library(mpi, source, folder)
        words = [mpi.mpicc, *flags, *files, "-o", target, *library, "-lm"]
        mpis.run_bounded([str(word) for word in words], timeout=120, check=True)
    return target


def _configured(mpi: mpis.Mpi) -> Path:
    """The folder for what is built, with the header that PnetCDF's configure writes."""
    folder = mpis.scratch() / mpi.name / "pnetcdf"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.h").write_text(CONFIG)
    return folder


def _in_c(file: Path, source: Path, folder: Path) -> Path:
    """The file itself, or what m4 makes of it in `folder`."""
    if file.suffix != ".m4":
        return file
    name = "ncx.h" if file.stem == "ncx_h" else f"{file.stem}.c"
    words = ["m4", f"-I{source}/m4", "-DPNETCDF", "-DERANGE_FILL", str(file)]
    try:
        made = mpis.run_bounded(words, check=True)
    except FileNotFoundError:
        pytest.skip("m4 is not installed: apt install m4")
    (folder / name).write_text(made.stdout)
    return folder / name


def _library(mpi: mpis.Mpi, source: Path, folder: Path) -> list[str | Path]:
    """What the linker needs: Debian's library, or the one that is made here."""
    debian = library_flags("pnetcdf", "libpnetcdf-dev")
    if mpi.abi == "openmpi":
        return [*debian]
    archive = folder / "libpnetcdf.a"
    if not archive.exists():
        # The header of the package is the same whatever the MPI.
        sources = source / "src"
        _in_c(sources / "drivers" / "include" / "ncx_h.m4", source, folder)
        files = [
            _in_c(file, source, folder)
            for part in PARTS_OF_LIBRARY
            for pattern in ("*.c", "*.m4")
            for file in sorted((sources / part).glob(pattern))
            if file.name not in LEFT_OUT
        ]
        places = [folder, *(sources / name for name in ("include", "drivers/include"))]
        places += [sources / part for part in PARTS_OF_LIBRARY]
        flags = ["-O0", "-w", "-DHAVE_CONFIG_H", *(f"-I{place}" for place in places)]
        words = [mpi.mpicc, *flags, "-c", *files]
        mpis.run_bounded([str(word) for word in words], timeout=280, cwd=folder, check=True)
        objects = sorted(folder.glob("*.o"))
        mpis.run_bounded(["ar", "rcs", str(archive), *map(str, objects)], timeout=60, check=True)
    return [archive]
