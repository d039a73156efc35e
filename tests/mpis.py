"""The MPI installations of this machine, as the tests see them.

Every test that needs an MPI asks here, so that names of compilers, options of launchers and
reasons for a missing one are written once. `all_mpis()` lists what the tests know of; an `Mpi`
whose `missing` is not empty is not usable, and the text says what to install.

Times are in seconds. `HAICHI_BUILD` names the build directory (default `build/current`).
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from haichi_processes import runner

ROOT = Path(__file__).resolve().parent.parent
# What programs under test get: haichi itself is tested, and not whether it stands back.
TESTED = {
    "HAICHI_IO_LIBRARY": "off",
    "HAICHI_IO_BUDGET": "0",
    "HAICHI_COLLECTIVES_BUDGET": "100",
}
BUILD = Path(os.environ.get("HAICHI_BUILD", ROOT / "build" / "current")).absolute()
HAICHI = BUILD / "bin" / "haichi"

# The MPIs that the programs in bench/ are built for, and how those end.
_BENCH_SUFFIX = {"mpich-4.0.2": "mpich", "mpich-5.0.2": "mpich5", "openmpi-4.1.4": "openmpi"}

# Open MPI refuses root and counts cores; both are for a shared cluster, not for a test.
_OPENMPI_ENV = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_btl_sm_single_copy_mechanism": "none",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    # Where a rank fails, the launcher of 4.1 gives the others two seconds before it kills them.
    "OMPI_MCA_odls_base_sigkill_timeout": "0",
}
# Shared memory only: nothing leaves the machine, and UCX does not probe its network cards.
_MPICH_ENV = {"UCX_TLS": "sm,self", "FI_PROVIDER": "tcp", "HYDRA_LAUNCHER": "fork"}
# The thread sanitizer's memory lies where PMIx wants its own, and it does not stand UCX's hooks in
# the C library: ending a thread crashes without haichi too.
_THREAD_SANITIZER_ENV = {"PMIX_MCA_gds": "hash", "UCX_MEM_MMAP_HOOK_MODE": "none"}
# Of Open MPI 5: its launcher waits two seconds for a thread, which a busy machine may not give it.
NOT_STARTED = "listener thread failed to start"


@dataclass(frozen=True)
class Mpi:
    """One MPI installation. Paths are None where it has no such program."""

    name: str
    """How tests and reports call it, e.g. "mpich-4.0.2"."""
    abi: str
    """"mpich", "openmpi" or "mpiabi": which shim fits."""
    mpiexec: Path | None = None
    mpicc: Path | None = None
    mpif90: Path | None = None
    python: Path | None = None
    """A Python whose mpi4py can use this MPI."""
    python_env: Mapping[str, str] = field(default_factory=dict)
    """What that Python needs in its environment to choose this MPI."""
    missing: str = ""
    """Why this MPI cannot be used; empty if it can."""
    python_missing: str = ""
    """Why there is no mpi4py for it; empty if there is."""

    def __str__(self) -> str:
        return self.name

    @property
    def shim(self) -> Path:
        """The preload object for this MPI's ABI in the build under test."""
        return BUILD / "lib" / f"libhaichi-{self.abi}.so"

    @property
    def launcher_env(self) -> dict[str, str]:
        """What the launcher needs in its environment: more ranks than cores, root, no network."""
        env = dict(_OPENMPI_ENV if self.abi == "openmpi" else _MPICH_ENV)
        return {**env, **(_THREAD_SANITIZER_ENV if sanitizers() == "thread" else {})}

    def bench(self, name: str) -> Path:
        """The program of that name in bench/; skips the test, with the reason, where it is not
        built for this MPI."""
        if self.name not in _BENCH_SUFFIX:
            pytest.skip(
                f"no {name} for {self.name}: bench/ is built for {', '.join(_BENCH_SUFFIX)}"
            )
        path = BUILD / "bin" / f"{name}-{_BENCH_SUFFIX[self.name]}"
        if not path.exists():
            pytest.skip(f"{path} is not built: ./haichi test builds it")
        return path

    def command(
        self, ranks: int, argv: Sequence[str | Path], env: Mapping[str, str] | None = None
    ) -> list[str]:
        """The words that start `argv` on `ranks` ranks, with `env` set for the ranks alone."""
        words = [str(self.mpiexec)]
        if self.abi == "openmpi":
            words += ["--oversubscribe", "--bind-to", "none"]
        words += ["-n", str(ranks)]
        if env:
            words += ["env", *(f"{key}={value}" for key, value in env.items())]
        return words + [str(word) for word in argv]

    def run(
        self,
        ranks: int,
        argv: Sequence[str | Path],
        env: Mapping[str, str] | None = None,
        *,
        launcher_env: Mapping[str, str] | None = None,
        timeout: float = 120,
        cwd: Path | None = None,
        stdin: str | None = None,
        check: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """Runs `argv` on `ranks` ranks and returns its exit code, output and errors as text.

        HAICHI_* variables of this process are not passed on: a test says what it sets. Only, what
        is tested is haichi, so unless a test says otherwise the MPI library's own way is no
        candidate for files nor are there trials of others, and trials of algorithms may cost
        anything: they begin with the first call. `env` reaches the ranks alone (an LD_PRELOAD there
        does not load into the launcher), `launcher_env` the launcher. Past `timeout` every process
        started is killed, and subprocess.TimeoutExpired carries what they had written. With
        `check`, an exit code other than 0 is an AssertionError that shows both outputs.
        """
        words = self.command(ranks, argv, env)
        return run_bounded(
            words,
            env={**_environment(), **self.launcher_env, **(launcher_env or {})},
            timeout=timeout,
            cwd=cwd,
            stdin=stdin,
            check=check,
        )

    def preload(self, *others: str | Path, **env: str) -> dict[str, str]:
        """The environment of the raw preload line, with further objects and variables. The user's
        own profiles of this machine are not found."""
        return self.stock(self.shim, *others, **{"XDG_DATA_HOME": "/nowhere", **env})

    def stock(self, *objects: str | Path, **env: str) -> dict[str, str]:
        """The environment without a shim: objects to load, and variables. Behind the objects comes
        what lets MPICH yield (with more ranks than cores some tests take 25 times as long without
        it) and what is preloaded already (a sanitizer's library). Before them the thread
        sanitizer's: a thread that it has not seen begin crashes."""
        library = BUILD / "lib" / "libucxyield.so"
        yielding = library if self.abi != "openmpi" and library.exists() else ""
        already = os.environ.get("LD_PRELOAD")
        named = [str(each) for each in (_thread_sanitizer(), *objects, yielding, already) if each]
        return {"LD_PRELOAD": ":".join(named), **env} if named else env

    def compile(
        self, source: Path, *flags: str, into: Path | None = None, fortran: bool = False
    ) -> Path:
        """Compiles one C or Fortran program once per test run; returns the executable."""
        compiler = self.mpif90 if fortran else self.mpicc
        assert compiler is not None, f"{self.name} has no {'Fortran' if fortran else 'C'} compiler"
        return _compile(str(compiler), source, flags, into or _scratch() / self.name)


def run_bounded(
    words: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    timeout: float = 60,
    cwd: Path | None = None,
    stdin: str | None = None,
    check: bool = False,
) -> subprocess.CompletedProcess[str]:
    """runner.run, told as subprocess.run does. With `check`, anything but exit code 0 is an
    AssertionError that shows both outputs. A launcher that gave up before it started a rank is
    called once more."""
    command = [str(word) for word in words]
    start = functools.partial(runner.run, command, env=env, timeout=timeout, cwd=cwd, stdin=stdin)
    done = start()
    if NOT_STARTED in done.out + done.err:
        done = start()
    if done.timed_out:
        raise subprocess.TimeoutExpired(command, timeout, done.out, done.err)
    if check and done.code != 0:
        raise AssertionError(f"{' '.join(command)}\n{done.how}\n{done.out}\n{done.err}")
    return subprocess.CompletedProcess(command, done.code, done.out, done.err)


def haichi_command(
    *words: str | Path, timeout: float = 200, **env: str
) -> subprocess.CompletedProcess[str]:
    """Runs a command of the package `haichi`, as ./haichi does, with this build."""
    here = {"PYTHONPATH": str(ROOT / "python"), "HAICHI_BUILD": str(BUILD)}
    command = [sys.executable, "-m", "haichi", *words]
    return run_bounded(command, env={**os.environ, **here, **env}, timeout=timeout)


def plain_environment() -> dict[str, str]:
    """That of a program that is told nothing of haichi."""
    return {key: value for key, value in os.environ.items() if not key.startswith("HAICHI_")}


def _environment() -> dict[str, str]:
    return {**plain_environment(), **TESTED}


@functools.cache
def _scratch() -> Path:
    return Path(tempfile.mkdtemp(prefix="haichi-tests-"))


@functools.cache
def _compile(compiler: str, source: Path, flags: tuple[str, ...], into: Path) -> Path:
    into.mkdir(parents=True, exist_ok=True)
    suffix = "".join(flag for flag in flags if flag.startswith("-D"))
    target = into / (source.stem + suffix.replace("-D", "-").replace("=", "_"))
    if "-shared" in flags:
        target = target.with_suffix(".so")
    words = [compiler, "-O1", "-g", *flags, str(source), "-o", str(target)]
    run_bounded(words, timeout=120, cwd=into, check=True)
    return target


@functools.cache
def sanitizers() -> str:
    """Those of the build under test, as the compiler's -fsanitize has them; empty if none."""
    cache = (BUILD / "CMakeCache.txt").read_text()
    found = re.search(r"^HAICHI_SANITIZE:\w+=(.*)$", cache, re.MULTILINE)
    return found[1] if found else ""


@functools.cache
def _thread_sanitizer() -> str:
    """Its library, where the build under test has it. The launchers crash with it, so it is
    loaded into the ranks alone."""
    if sanitizers() != "thread":
        return ""
    return run_bounded(["g++", "-print-file-name=libtsan.so"], check=True).stdout.strip()


def thread_flags() -> list[str]:
    """How a program with threads is compiled, so that its own accesses are watched too."""
    return ["-pthread", *(["-fsanitize=thread"] if sanitizers() == "thread" else [])]


def not_with_sanitizers(reason: str, which: str = "") -> None:
    """Skips the test, with the reason, if the build under test has sanitizers (that one)."""
    if sanitizers() and which in sanitizers():
        pytest.skip(reason)


def scratch() -> Path:
    """A directory for programs and files of this test run, removed by conftest at its end."""
    return _scratch()


def all_mpis() -> list[Mpi]:
    """Every MPI that the tests know of, found here or not, the distribution's first."""
    return list(_all_mpis())


def slow_but(quick: Collection[object], values: Iterable[object]) -> list[object]:
    """Parameters of a test, with the mark "slow" but for those in `quick`, by their names too."""
    return [
        pytest.param(each, marks=[] if each in quick or str(each) in quick else pytest.mark.slow)
        for each in values
    ]


def slow_after(count: int, cases: Iterable[tuple[object, ...]]) -> list[object]:
    """Cases of a test with several parameters, with the mark "slow" behind the first `count`."""
    return [
        pytest.param(*case, marks=[] if at < count else pytest.mark.slow)
        for at, case in enumerate(cases)
    ]


def mpis(abi: str | None = None) -> list[Mpi]:
    """Those that can be used, of one ABI or of all."""
    return [mpi for mpi in _all_mpis() if not mpi.missing and abi in (None, mpi.abi)]


@functools.cache
def _all_mpis() -> tuple[Mpi, ...]:
    return (
        _debian_mpich(),
        _debian_openmpi(),
        _venv("mpich-5.0.2", "mpich", ".venv-mpich5", "mpicc"),
        _venv("mpich-5.0.2-abi", "mpiabi", ".venv-mpich5", "mpicc_abi"),
        _venv("openmpi-5.0.11", "openmpi", ".venv-openmpi5", "mpicc"),
    )


def _which(name: str) -> Path | None:
    found = shutil.which(name)
    return Path(found) if found else None


def _debian_mpich() -> Mpi:
    name = "mpich-4.0.2"
    mpiexec, mpicc = _which("mpiexec.mpich"), _which("mpicc.mpich")
    if not (mpiexec and mpicc):
        return Mpi(name, "mpich", missing="Debian's MPICH is not installed: apt install mpich")
    # The mpi4py wheel asks for libmpi.so.12, which Debian calls libmpich.so.12.
    libmpich = next(Path("/usr/lib").glob("*/libmpich.so.12"), None)
    python = ROOT / ".venv-mpich5" / "bin" / "python"
    fortran = _which("mpif90.mpich")
    if libmpich is None or not _imports_mpi4py(python, {}):
        why = "no mpi4py wheel in .venv-mpich5: ./haichi build"
        return Mpi(name, "mpich", mpiexec, mpicc, fortran, None, {}, "", why)
    link = _scratch() / "libmpich-as-libmpi" / "libmpi.so.12"
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(libmpich)
    env = {"MPI4PY_LIBMPI": str(link), "LD_LIBRARY_PATH": str(link.parent)}
    return Mpi(name, "mpich", mpiexec, mpicc, fortran, python, env)


def _debian_openmpi() -> Mpi:
    name = "openmpi-4.1.4"
    mpiexec, mpicc = _which("mpiexec.openmpi"), _which("mpicc.openmpi")
    if not (mpiexec and mpicc):
        return Mpi(
            name, "openmpi", missing="Debian's Open MPI is not installed: apt install openmpi-bin"
        )
    python = Path("/usr/bin/python3")
    here = _imports_mpi4py(python, {})
    why = "" if here else "Debian's mpi4py is not installed: apt install python3-mpi4py"
    fortran = _which("mpif90.openmpi")
    return Mpi(name, "openmpi", mpiexec, mpicc, fortran, python if here else None, {}, "", why)


def _venv(name: str, abi: str, venv: str, compiler: str) -> Mpi:
    programs = ROOT / venv / "bin"
    mpiexec, mpicc, python = (programs / word for word in ("mpiexec", compiler, "python"))
    if not (mpiexec.exists() and mpicc.exists()):
        return Mpi(name, abi, missing=f"no {mpicc.relative_to(ROOT)}: ./haichi build")
    if abi == "mpiabi":
        # mpi4py's wheels have no module for the standard ABI; one can be compiled for it.
        python = ROOT / ".venv-mpiabi" / "bin" / "python"
        if not _imports_mpi4py(python, {}):
            why = "no mpi4py for the MPI ABI in .venv-mpiabi: ./haichi build"
            return Mpi(name, abi, mpiexec, mpicc, python_missing=why)
    elif not _imports_mpi4py(python, {}):
        why = f"no mpi4py in {venv}: ./haichi build"
        return Mpi(name, abi, mpiexec, mpicc, python_missing=why)
    return Mpi(name, abi, mpiexec, mpicc, None, python)


def _imports_mpi4py(python: Path, env: Mapping[str, str]) -> bool:
    if not python.exists():
        return False
    done = run_bounded([str(python), "-c", "import mpi4py"], env={**os.environ, **env}, timeout=30)
    return done.returncode == 0
