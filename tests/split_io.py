"""What tests of reads and writes split by NUMA node need of the build."""

from __future__ import annotations

import shutil
from pathlib import Path

import mpis
import pytest

NUMAIO = mpis.BUILD / "bin" / "haichi-numaio"
LIBRARY = mpis.BUILD / "lib" / "libhaichi-io.so"


def needs(*built: Path) -> None:
    """Skips the test if one of these is not there."""
    for each in built:
        if not each.exists():
            pytest.skip(f"no {each.name} in this build: what it needs was not there")


def compiled(source: Path, into: Path, *flags: str) -> Path:
    """A C program that is linked to libhaichi-io, compiled as a user compiles theirs."""
    needs(LIBRARY)
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    made = into / source.stem
    words = [compiler, "-O2", "-Wall", "-Wextra", f"-I{mpis.ROOT / 'include'}", source, "-o", made]
    linked = [f"-L{LIBRARY.parent}", f"-Wl,-rpath,{LIBRARY.parent}", "-lhaichi-io", *flags]
    mpis.run_bounded([*words, *linked], timeout=60, check=True)
    return made
