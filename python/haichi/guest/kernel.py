"""The kernel and the small tools that a guest runs: fetched once from the Debian archive."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from haichi_processes import runner

from haichi.lab import LabError

PACKAGE = "linux-image-cloud-amd64"
NEEDED = {"qemu-system-x86_64": "qemu-system-x86", "cpio": "cpio"}  # program: package
READY = "ready"


@dataclass(frozen=True)
class Kernel:
    """Files of the cache."""

    image: Path
    busybox: Path
    modules: Path  # its folder of modules, lib/modules/<version>


def missing() -> str:
    """What is not here that a guest needs, in one line; "" if nothing is. What can be fetched does
    not count."""
    for program, package in NEEDED.items():
        if shutil.which(program) is None:
            return f"no {program} here: sudo apt-get install -y {package}"
    if not (cache() / READY).exists() and shutil.which("apt-get") is None:
        return f"no {PACKAGE} in {cache()}, and no apt-get to fetch it"
    return ""


def cache() -> Path:
    """Where they lie: HAICHI_GUEST_CACHE, or in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("HAICHI_GUEST_CACHE") or Path(base) / "haichi" / "numa-guest")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def kernel() -> Kernel:
    """Fetches it if it isn't there; 26 MB, then 110 MB of disk.

    Raises:
        LabError: it can't be fetched, or something else is missing.
    """
    if absent := missing():
        raise LabError(absent)
    folder = cache()
    with _locked(folder):
        if not (folder / READY).exists():
            _fetch(folder)
    (modules,) = (folder / "lib" / "modules").iterdir()
    return Kernel(folder / "vmlinuz", folder / "busybox", modules)


def _run(words: list[str | Path], cwd: Path) -> str:
    done = runner.run(words, cwd=cwd, timeout=300)
    if done.code != 0:
        raise LabError(f"{words[0]} {words[1]}: {done.how}: {done.last_error}")
    return done.out


def _fetch(folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as name:
        work = Path(name)
        said = _run(["apt-cache", "depends", PACKAGE], work)
        found = re.search(r"Depends: (linux-image-\S+)", said)
        if not found:
            raise LabError(f"the package lists have no {PACKAGE}: apt-get update")
        _run(["apt-get", "-q", "download", found[1], "busybox-static"], work)
        for package in work.glob("*.deb"):
            _run(["dpkg", "-x", package, work / "all"], work)
        (image,) = (work / "all" / "boot").glob("vmlinuz-*")
        shutil.copy(image, folder / "vmlinuz")
        shutil.copy(work / "all" / "bin" / "busybox", folder / "busybox")
        shutil.rmtree(folder / "lib", ignore_errors=True)
        shutil.move(work / "all" / "lib", folder / "lib")
        (modules,) = (folder / "lib" / "modules").iterdir()
        _run([folder / "busybox", "depmod", "-b", folder, modules.name], work)
        (folder / READY).touch()
