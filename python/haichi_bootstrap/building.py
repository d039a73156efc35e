"""Set-up and compilation: from a clean clone to build/current."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from haichi_bootstrap import environments, packages, paths, progress, shell
from haichi_bootstrap.shell import Stop

GROUPS = ("python", "build", "mpi")
# What is compiled; CMakeLists.txt says what belongs to each.
DEMO, INSTALLABLE, PRODUCT, ALL = "demo", "installable", "product", "all"
_WHAT = {
    DEMO: "what the demo starts",
    INSTALLABLE: "what is installed",
    PRODUCT: "haichi and what it measures with",
    ALL: "everything",
}


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Keeps a second set-up of the same checkout waiting until this one is done."""
    try:
        paths.BUILD.mkdir(exist_ok=True)
        lock = open(paths.BUILD / ".lock", "w")  # noqa: SIM115 (held until the block ends)
    except OSError as error:
        raise Stop(
            f"cannot write to {paths.BUILD} ({error.strerror}): copy the project to a folder of "
            "yours and start it there"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            shell.step("wait", "another ./haichi sets this checkout up")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def set_up(groups: Sequence[str] = GROUPS) -> list[packages.Package]:
    """Packages and environments; returns the packages that this machine goes without."""
    without = packages.provide(groups)
    environments.provide()
    return without


def set_up_or_go_without(groups: Sequence[str]) -> None:
    """The same, and says what this machine goes without."""
    for package in set_up(groups):
        shell.say(f"haichi: goes without {package.name} (no root): {package.why}")


def set_up_python() -> None:
    """Only .venv, for commands that need nothing that is compiled."""
    packages.provide(["python"])
    environments.provide_tools()


def configure(preset: str = "release") -> Path:
    """Runs CMake if what it depends on changed (ninja watches the rest). Returns the folder."""
    folder = paths.BUILD / preset
    stamp = folder / "haichi-stamp"
    now = _stamp()
    if not (folder / "build.ninja").exists() or _text(stamp) != now:
        shell.step(f"configure build/{preset}", "first time, or the presets or the MPIs changed")
        log = paths.OUT / "setup" / f"configure-{preset}.log"
        fresh = ["--fresh"] if (folder / "CMakeCache.txt").exists() else []
        command: shell.Command = ["cmake", *fresh, "-S", paths.ROOT, "--preset", preset]
        shell.must(command, "cmake", log, packages.on_path())
        stamp.write_text(now)
    return folder


def build(target: str, preset: str = "release") -> Path:
    """Compiles what is not up to date of `target`, and points build/current at the release build.
    Returns the build folder."""
    folder = configure(preset)
    jobs = str(shell.processors())
    log = paths.OUT / "setup" / f"build-{preset}.log"
    shell.step(f"compile build/{preset}", f"{_WHAT[target]}, {jobs} jobs; {log}")
    command: shell.Command = ["ninja", "-C", folder, "-j", jobs, target]
    env = {**packages.on_path(), **progress.NINJA}
    shell.must(command, "the build", log, env, follow=progress.Progress())
    (folder / f"haichi-built-{target}").touch()
    if preset == "release":
        _point_at(folder)
    return folder


def _stamp() -> str:
    """What a configured build depends on that ninja does not watch."""
    parts = [paths.ROOT, (paths.ROOT / "CMakePresets.json").read_text()]
    for program in (
        "mpicc.mpich",
        "mpicc.openmpi",
        "mpif90.mpich",
        "mpif90.openmpi",
        "h5pcc.mpich",
    ):
        parts.append(shutil.which(program))
    for environment in environments.wanted():
        parts.append(_text(environment.folder / environments.STAMP))
    text = json.dumps([str(part) for part in parts])
    return hashlib.sha256(text.encode()).hexdigest() + "\n"


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _point_at(folder: Path) -> None:
    """Makes build/current a link to `folder`, in one step for who reads it meanwhile."""
    if paths.CURRENT.is_symlink() and os.readlink(paths.CURRENT) == folder.name:
        return
    new = paths.BUILD / f".current-{os.getpid()}"
    new.symlink_to(folder.name)
    new.replace(paths.CURRENT)


def ready() -> bool:
    """Whether the product has been built and the environments fit, so that commands may start."""
    built = any((paths.CURRENT / f"haichi-built-{target}").exists() for target in (PRODUCT, ALL))
    return built and environments.ready()
