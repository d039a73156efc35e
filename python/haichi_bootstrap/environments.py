"""The virtual environments: .venv with the tools, and one for each MPI that comes as a wheel.

Each carries a stamp of what it was made from. An environment whose stamp fits is left alone, which
is what makes the second time silent, fast and offline.
"""

import hashlib
import json
import os
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from haichi_bootstrap import packages, paths, shell

STAMP = "haichi-stamp"
COMPARE_FILE, COMPARE_STAMP = "compare.txt", "haichi-stamp-compare"


@dataclass(frozen=True)
class Environment:
    folder: Path
    requirements: tuple[str, ...]  # files of requirements/
    why: str
    env: tuple[tuple[str, str], ...] = ()  # for pip


MPI_ABI = Environment(
    paths.ROOT / ".venv-mpiabi",
    ("mpiabi.txt",),
    "mpi4py on the MPI-5 ABI, compiled here (half a minute)",
    # A module that is only tested needs no optimiser, which would take four times as long.
    (("MPICC", str(paths.ROOT / ".venv-mpich5/bin/mpicc_abi")), ("CFLAGS", "-O0 -g0")),
)


def _tools() -> Environment:
    """.venv, with cmake and ninja where the system has none."""
    tools = ["runtime.txt", "tools.txt"]
    names = {p.name for p in packages.missing(packages.of_groups(["build"]))}
    stamped = _read_stamp(paths.TOOLS).get("requirements")
    taken = isinstance(stamped, list) and "without-root.txt" in stamped
    # Once taken from the wheels they count as present, so the stamp remembers that they are.
    if names & {"cmake", "ninja-build"} or taken:
        tools.append("without-root.txt")
    return Environment(paths.TOOLS, tuple(tools), "pinned tools and what the command line imports")


def wanted() -> list[Environment]:
    """The environments that every build has."""
    return [
        _tools(),
        Environment(paths.ROOT / ".venv-mpich5", ("mpich5.txt",), "MPICH 5 and the MPI-5 ABI"),
        Environment(paths.ROOT / ".venv-openmpi5", ("openmpi5.txt",), "Open MPI 5"),
    ]


def for_tests() -> list[Environment]:
    """What the tests have beyond them, as far as it can be made here; their summary names the
    tests that are skipped without it."""
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if header.exists():
        return [MPI_ABI]
    shell.say(
        f"haichi: goes without {MPI_ABI.why.split(',')[0]}: {header} is not here (python3-dev)"
    )
    return []


def provide(more: Sequence[Environment] = ()) -> None:
    """Makes or refreshes what is not as requirements/ says; does nothing, quickly, if all is."""
    for environment in [*wanted(), *more]:
        _provide(environment)


def provide_tools() -> None:
    """The same for .venv alone."""
    _provide(_tools())


def provide_comparing() -> None:
    """What comparing samples needs, into .venv, which is there. With a stamp of its own: nothing
    that is built depends on it."""
    if comparing_ready():
        return
    file = paths.REQUIREMENTS / COMPARE_FILE
    _refuse_a_link(paths.TOOLS)
    shell.step("pip install into .venv", f"what comparing samples needs, as pinned in {file.name}")
    _pip_install(paths.TOOLS, [file])
    (paths.TOOLS / COMPARE_STAMP).write_text(file.read_text())


def _provide(environment: Environment) -> None:
    folder = environment.folder
    stamp = _read_stamp(folder)
    now = _stamp_of(environment)
    if stamp == now:
        return
    _refuse_a_link(folder)
    where = folder.name
    log = paths.OUT / "setup" / f"{where.lstrip('.')}.log"
    if any(stamp.get(key) != now[key] for key in ("folder", "python")):
        shell.step(f"make {where}", environment.why)
        shell.must([_python(), "-m", "venv", "--clear", folder], f"making {where}", log)
    files = [paths.REQUIREMENTS / name for name in environment.requirements]
    shell.step(f"pip install into {where}", f"as pinned in {' '.join(f.name for f in files)}")
    _pip_install(folder, files, dict(environment.env))
    if folder == paths.TOOLS:
        _add_to_path(folder)
    (folder / STAMP).write_text(json.dumps(now) + "\n")


def _pip_install(folder: Path, files: Sequence[Path], env: Mapping[str, str] | None = None) -> None:
    command: shell.Command = [folder / "bin" / "python", "-m", "pip", "install", "--no-input"]
    command.append("--disable-pip-version-check")
    for file in files:
        command += ["-r", file]
    log = paths.OUT / "setup" / f"{folder.name.lstrip('.')}.log"
    shell.must(command, f"pip install into {folder.name}", log, dict(env or {}))


def _refuse_a_link(folder: Path) -> None:
    """What a link leads to is another checkout's, which must not be cleared or installed into."""
    if folder.is_symlink():
        raise shell.Stop(
            f"{folder} is a link to {os.readlink(folder)}, which is not this checkout's to change: "
            "remove the link, and ./haichi makes a folder of its own"
        )


def _add_to_path(folder: Path) -> None:
    """Lets .venv's Python import haichi from this checkout, with no copy of it anywhere."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    (folder / "lib" / version / "site-packages" / "haichi.pth").write_text(
        f"{paths.ROOT / 'python'}\n"
    )


def _python() -> str:
    """The Python that runs this, and not through an environment that we may be about to remake."""
    return os.path.realpath(sys.executable)


def _stamp_of(environment: Environment) -> dict[str, object]:
    content = hashlib.sha256()
    for name in environment.requirements:
        content.update((paths.REQUIREMENTS / name).read_bytes())
    return {
        "folder": str(environment.folder),  # scripts in bin/ name it
        "python": f"{_python()} {sys.version.split()[0]}",
        "requirements": list(environment.requirements),
        "content": content.hexdigest(),
    }


def _read_stamp(folder: Path) -> dict[str, object]:
    try:
        stamp = json.loads((folder / STAMP).read_text())
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def fits(environment: Environment) -> bool:
    """Whether an environment is as requirements/ says."""
    return _read_stamp(environment.folder) == _stamp_of(environment)


def ready() -> bool:
    """Whether the environments that every build has are."""
    return all(fits(environment) for environment in wanted())


def tools_ready() -> bool:
    """Whether .venv is."""
    return fits(_tools())


def comparing_ready() -> bool:
    """Whether .venv has what comparing samples needs."""
    stamp = paths.TOOLS / COMPARE_STAMP
    return stamp.exists() and stamp.read_text() == (paths.REQUIREMENTS / COMPARE_FILE).read_text()
