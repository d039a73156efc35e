"""What tests of reads and writes split by NUMA node need of the build."""

from __future__ import annotations

import shutil
from pathlib import Path

import mpis
import pytest

NUMAIO = mpis.BUILD / "bin" / "haichi-numaio"
LIBRARY = mpis.BUILD / "lib" / "libhaichi-io.so"
POSIX = mpis.BUILD / "lib" / "libhaichi-posix.so"


def needs(*built: Path) -> None:
    """Skips the test if one of these is not there."""
    for each in built:
        if not each.exists():
            pytest.skip(f"no {each.name} in this build: what it needs was not there")


def compiled(source: Path, into: Path, *flags: str) -> Path:
    """A C program, compiled as a user compiles theirs."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    made = into / source.stem
    words = [compiler, "-O2", "-Wall", "-Wextra", source, "-o", made, *flags]
    mpis.run_bounded(words, timeout=60, check=True)
    return made


def linked(source: Path, into: Path, *flags: str) -> Path:
    """The same of one that calls libhaichi-io."""
    needs(LIBRARY)
    folder = LIBRARY.parent
    found = [f"-I{mpis.ROOT / 'include'}", f"-L{folder}", f"-Wl,-rpath,{folder}", "-lhaichi-io"]
    return compiled(source, into, *found, *flags)


def split(how: str = "always", **more: str) -> dict[str, str]:
    """The environment of a program under libhaichi-posix whose reads are split from 64 KiB on,
    whatever that gains, or as io.split says `how`; "off" is the plain program."""
    settings = {"HAICHI_IO_SPLIT": how, "HAICHI_IO_SPLIT_FROM": "64k", **more}
    return {**mpis.plain_environment(), "LD_PRELOAD": str(POSIX), **settings}
