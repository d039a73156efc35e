"""An installed haichi for tests of the launcher: the real program, shims that do nothing.

What `haichi run` promises (which shim, which environment, which exit code) shows in what the
program sees, so an empty shared object in the shim's place keeps these tests apart from what the
shims do.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mpis

ABIS = ("mpich", "openmpi", "mpiabi")
HERE = Path(__file__).resolve().parent
SHOW = HERE / "launch_show.c"
SHOW_PYTHON = HERE / "launch_show.py"


@dataclass(frozen=True)
class Prefix:
    """A directory with bin/haichi and lib/libhaichi-<abi>.so."""

    path: Path

    @property
    def haichi(self) -> Path:
        return self.path / "bin" / "haichi"

    def shim(self, abi: str) -> Path:
        return self.path / "lib" / f"libhaichi-{abi}.so"

    def call(
        self,
        *words: str | Path,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        stdin: str | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Runs `haichi words...` outside of any launcher, without the caller's HAICHI_*."""
        command = [str(word) for word in (self.haichi, *words)]
        return mpis.run_bounded(command, env=clean_environment(env), cwd=cwd, stdin=stdin)


def clean_environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """The environment without settings, launchers' traces or the user's haichi.toml."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("HAICHI_", "OMPI_COMM", "PMI", "HYDI", "MPI_LOCAL", "SLURM_"))
    }
    return {**kept, "HAICHI_CONFIG": "", **(extra or {})}


@functools.cache
def empty_library(name: str) -> Path:
    """A shared object with nothing in it, to preload."""
    source = mpis.scratch() / f"{name}.c"
    source.write_text("typedef int nothing;\n")
    target = source.with_suffix(".so")
    mpis.run_bounded(["cc", "-shared", "-fPIC", str(source), "-o", str(target)], check=True)
    return target


def make_prefix(where: Path, abis: Sequence[str] = ABIS) -> Prefix:
    """Installs the launcher under test and shims for `abis` in `where`."""
    prefix = Prefix(where)
    prefix.haichi.parent.mkdir(parents=True)
    (where / "lib").mkdir()
    try:
        os.link(mpis.HAICHI, prefix.haichi)
    except OSError:  # another file system
        shutil.copy2(mpis.HAICHI, prefix.haichi)
    for abi in abis:
        shutil.copy(empty_library("empty"), prefix.shim(abi))
    return prefix


def lines(text: str, rank: int, word: str) -> list[str]:
    """What launch_show printed on `rank` after `word`; of a preload what is not a sanitizer's."""
    start = f"{rank} {word} "
    found = [line[len(start) :] for line in text.splitlines() if line.startswith(start)]
    return [without_sanitizers(each) for each in found] if word == "preload" else found


def without_sanitizers(preload: str) -> str:
    """A program that is built with sanitizers needs their libraries before all others."""
    files = [each for each in preload.split(":") if not re.search(r"/lib[alt]san\.so", each)]
    return ":".join(files) or "(none)"
