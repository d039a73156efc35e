"""`./haichi test --installed`: each way of installing, as a new user would, on a Debian that has
nothing but MPI and compilers.

In a root for each way: install, type tests/install/first.sh as a plain user, take haichi away, and
look whether anything is left.
"""

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from haichi_bootstrap import artifacts, containers, debian_root, installing, paths, shell, testing
from haichi_bootstrap.debian_root import LOGS, USER

SOURCES = paths.ROOT / "tests" / "install"
# What whoever compiles and runs MPI programs on such a machine has.
PRESENT = (
    *("mpich", "libmpich-dev", "openmpi-bin", "libopenmpi-dev", "gcc", "gfortran"),
    *("libhwloc15", "python3", "python3-venv", "man-db"),
)
LIMIT = 900.0  # seconds that one of the steps may take
PREFIX = f"{debian_root.home(USER)}/haichi"


@dataclass(frozen=True)
class Way:
    """A way of installing: what is put into the root from outside, what is typed then (the user and
    a line for the shell), where its `haichi` is, what it leaves out of first.sh, and what the root
    is made by."""

    name: str
    bring: Callable[[Path], None]
    install: tuple[tuple[str, str], ...]
    path: str
    remove: tuple[tuple[str, str], ...]
    without: str = ""
    unpack: Callable[[Path, Path, str], None] = debian_root.unpack


def _bring_tree(root: Path) -> None:
    """Installed at one place and moved to another."""
    made = root / "var/tmp/haichi-made-here"
    installing.install(made)
    shutil.move(made, root / PREFIX.lstrip("/"))


def _bring_deb(root: Path) -> None:
    shutil.copy(artifacts.deb(), root / "var/tmp/haichi.deb")


def _bring_wheel(root: Path) -> None:
    made = artifacts.wheel()
    shutil.copy(made, root / "var/tmp" / made.name)


WAYS = (
    Way("tree", _bring_tree, (), f"{PREFIX}/bin", (("root", f"rm -r {PREFIX}"),)),
    Way(
        "deb",
        _bring_deb,
        (("root", "apt-get install -y --no-install-recommends /var/tmp/haichi.deb"),),
        "/usr/bin",
        (("root", "apt-get purge -y haichi"),),
    ),
    Way(
        "wheel",
        _bring_wheel,
        ((USER, "python3 -m venv ~/venv && ~/venv/bin/pip install /var/tmp/haichi-*.whl"),),
        f"{debian_root.home(USER)}/venv/bin",
        ((USER, "~/venv/bin/pip uninstall -y haichi"),),
        without="where",
    ),
    Way(
        "container",
        lambda root: None,  # the image has it
        (("root", f"apt-get update && apt-get install -y {' '.join(PRESENT)}"),),
        "/opt/haichi/bin",
        (),
        without="manual",
        unpack=containers.unpack_image,
    ),
)


def test() -> int:
    """Tries all ways and prints what became of each; returns the exit status."""
    total = testing.Outcome()
    with debian_root.workshop("test --installed", ("fresh", "installed")) as home:
        archive = home / "root.tar"
        debian_root.make(archive, PRESENT)
        for way in WAYS:
            root = home / way.name
            way.unpack(archive, root, USER)
            begin = time.monotonic()
            problem = _try(way, root)
            shell.say(f"    {problem or 'right'}, after {time.monotonic() - begin:.0f} s")
            if problem:
                total.failed.append((f"installed by {way.name}", problem))
            else:
                total.passed += 1
            shutil.rmtree(root)
    return testing.conclude(total)


def _try(way: Way, root: Path) -> str:
    """What went wrong, or ""."""
    shell.step(f"install by {way.name}", "and run a C and a Fortran program as a plain user")
    shutil.copytree(SOURCES, root / "usr/src/first")
    before = _files(root)
    way.bring(root)
    use = f"PATH={way.path}:$PATH sh /usr/src/first/first.sh /usr/src/first {way.without}"
    for number, (user, line) in enumerate([*way.install, (USER, use), *way.remove]):
        log = LOGS / f"installed-{way.name}.{number}.log"
        status = debian_root.inside(root, user, ["sh", "-c", line], log, LIMIT)
        if status:
            for text in shell.tail(log, 15):
                shell.say(f"    | {text}")
            return f"`{line}` gave exit code {status}; see {log}"
    left = sorted(file for file in _files(root) - before if "haichi" in Path(file).name.lower())
    return f"left behind: {' '.join(left[:5])}" if left else ""


def _files(root: Path) -> set[str]:
    """All files below a root, but for what is the user's own, or a package manager's record. Empty
    folders don't count: pip leaves some."""
    own = (
        "tmp",
        "var",
        f"{debian_root.home(USER).lstrip('/')}/.cache",
        "proc",
        "sys",
        "dev",
        "run",
    )
    found: set[str] = set()
    for folder, folders, files in os.walk(root):
        inside = os.path.relpath(folder, root)
        folders[:] = [f for f in folders if os.path.normpath(f"{inside}/{f}") not in own]
        found.update(os.path.normpath(f"{inside}/{name}") for name in files)
    return found
