"""The MPI libraries that the lab and the measurements start programs on, and how each is started.

An application's binary belongs to one MPI; `Mpi.name` is also the suffix of the measurement
programs built for it (bench/io/CMakeLists.txt).
"""

from __future__ import annotations

import functools
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from haichi_processes import runner

from haichi import paths


class Missing(Exception):
    """Something that a command needs is not here. The text is one line: what, and what to type."""


@dataclass(frozen=True)
class Mpi:
    """One MPI library and its launcher."""

    name: str  # openmpi, mpich, mpich5
    family: str  # openmpi, mpich: which options its launcher takes
    mpiexec: Path

    @property
    def library(self) -> Path:
        """Where the library of a wheel lies; of no use for the distribution's."""
        return self.mpiexec.parent.parent / "lib"

    @property
    def label(self) -> str:
        """Name and version, e.g. "Open MPI 4.1.4"."""
        return f"{'Open MPI' if self.family == 'openmpi' else 'MPICH'} {_version(self.mpiexec)}"


# name: family, launchers in order of preference, what provides them
_KNOWN = {
    "openmpi": ("openmpi", ("mpiexec.openmpi", ".venv-openmpi5/bin/mpiexec"), "openmpi-bin"),
    "mpich": ("mpich", ("mpiexec.mpich",), "mpich"),
    "mpich5": ("mpich", (".venv-mpich5/bin/mpiexec.hydra",), None),
}
NAMES = tuple(_KNOWN)


def find(name: str) -> Mpi:
    """The MPI of that name.

    Raises:
        Missing: there is no such MPI, or it is not installed.
    """
    if name not in _KNOWN:
        raise Missing(f"unknown MPI {name}: use one of {', '.join(NAMES)}")
    family, launchers, package = _KNOWN[name]
    for launcher in launchers:
        found = paths.ROOT / launcher if "/" in launcher else shutil.which(launcher)
        if found and Path(found).exists():
            return Mpi(name, family, Path(found))
    provide = f"apt-get install {package}" if package else "./haichi build"
    raise Missing(f"the MPI {name} is not here: {provide}")


def available(*names: str) -> list[Mpi]:
    """Those of the named MPIs that are here."""
    found = []
    for name in names:
        try:
            found.append(find(name))
        except Missing:
            continue
    return found


@functools.cache
def _version(mpiexec: Path) -> str:
    done = runner.run([mpiexec, "--version"], env=environment({}), timeout=20)
    match = re.search(r"\d+\.\d+\.\d+", done.out)
    return match.group() if match else "of unknown version"


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of a launcher: this process's, without what only concerns our own tools."""
    base = {k: v for k, v in os.environ.items() if k not in ("HAICHI_BUILD", "PYTHONPATH")}
    return {
        **base,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_ALLOW_RUN_AS_ROOT": "1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        **extra,
    }


# How a rank that waits gives its core away. Open MPI can do it itself (the tick does not help it);
# MPICH needs a preload: see "Yielding ranks" in docs/guide/lab.md.
YIELDS = ("ucx", "tick", "none")


def yield_preload(mpi: Mpi, how: str) -> list[str]:
    """The objects to preload so that waiting ranks yield.

    Raises:
        Missing: the object is not built.
    """
    if how not in YIELDS:
        raise Missing(f"unknown way to yield {how}: use one of {', '.join(YIELDS)}")
    if mpi.family == "openmpi" or how == "none":
        return []
    file = paths.build() / "lib" / {"ucx": "libucxyield.so", "tick": "libyieldtick.so"}[how]
    if not file.exists():
        raise Missing(f"{file} is not built: ./haichi build")
    return [str(file)]


def rank_environment(mpi: Mpi, env: Mapping[str, str]) -> list[str]:
    """The options of the launcher that set `env` for the ranks and for nothing else.

    Neither launcher gets it in its own environment, where an LD_PRELOAD would load into the
    launcher and its daemons too. Open MPI passes nothing on by itself but OMPI_*: what the user
    exported for haichi is named here.
    """
    if mpi.family == "openmpi":
        inherited = [n for n in sorted(os.environ) if n.startswith("HAICHI_") and n not in env]
        words = []
        for name in inherited:
            if name != "HAICHI_BUILD":
                words += ["-x", name]
        for name, value in env.items():
            words += ["-x", f"{name}={value}"]
        return words
    words = []
    for name, value in env.items():
        words += ["-genv", name, value]
    return words


def local_command(
    mpi: Mpi, ranks: int, argv: Sequence[str], env: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """The words and the environment that start `argv` on this machine, however many cores it has.

    Between ranks only shared memory is used: nothing leaves the machine.
    """
    words = [str(mpi.mpiexec)]
    if mpi.family == "openmpi":
        words += ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
        extra = {}
    else:
        words += ["-launcher", "fork", "-bind-to", "none"]
        extra = {"UCX_TLS": "posix,sysv,cma,self", "UCX_WARN_UNUSED_ENV_VARS": "n"}
    words += [*rank_environment(mpi, env), "-n", str(ranks), *argv]
    return words, environment(extra)
