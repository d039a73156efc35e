"""The Debian packages of deps.txt: which are missing, and how to get them with and without root."""

import contextlib
import importlib.util
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from haichi_bootstrap import paths, shell
from haichi_bootstrap.shell import Stop

WITHOUT_ROOT = ("needed", "wheel", "unpack", "skip")
LINE = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9+.-]+)(?:\s+>=\s*(?P<version>\S+))?\s+(?P<without>[a-z]+)$"
)


@dataclass(frozen=True)
class Package:
    """A line of deps.txt."""

    name: str
    version: str  # least Debian version, or ""
    without_root: str  # one of WITHOUT_ROOT
    why: str
    group: str


def parse(text: str, where: str = "deps.txt") -> list[Package]:
    """Reads deps.txt; the form is in its head. Stops at the first line that is not of that form."""
    found: list[Package] = []
    group = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line, _, why = raw.partition("#")
        line = line.strip()
        if not line:
            continue
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1]
            continue
        match = LINE.match(line)
        if not match or match["without"] not in WITHOUT_ROOT:
            raise Stop(
                f"{where}:{number}: '{line}' is not 'package [>= version] "
                f"{'|'.join(WITHOUT_ROOT)}'; write it so"
            )
        if not group:
            raise Stop(f"{where}:{number}: '{match['name']}' stands before the first [group]")
        found.append(
            Package(match["name"], match["version"] or "", match["without"], why.strip(), group)
        )
    return found


def of_groups(groups: Iterable[str]) -> list[Package]:
    """The packages of some groups of deps.txt."""
    wanted = set(groups)
    return [p for p in parse(paths.DEPS_TXT.read_text()) if p.group in wanted]


def installed_versions(names: Sequence[str]) -> dict[str, str]:
    """Version of each package of `names` that is installed, by one call of dpkg-query."""
    form = "-f=${db:Status-Abbrev}|${Package}|${Version}\n"
    # dpkg-query fails when it does not know one of the names, and still prints the others.
    text = shell.output(["sh", "-c", 'dpkg-query -W "$@" 2>/dev/null || true', "sh", form, *names])
    versions = {}
    for line in (text or "").splitlines():
        status, name, version = line.split("|")
        if status.startswith("ii"):
            versions[name] = version
    return versions


def missing(packages: Sequence[Package]) -> list[Package]:
    """The packages that are not installed, or too old, and that nothing else here stands in for."""
    have = installed_versions([p.name for p in packages])
    return [p for p in packages if not _new_enough(p, have.get(p.name)) and not _otherwise(p.name)]


def _new_enough(package: Package, version: str | None) -> bool:
    if version is None:
        return False
    if not package.version:
        return True
    relation = ["dpkg", "--compare-versions", version, "ge", package.version]
    return shell.output(relation) is not None


def _otherwise(name: str) -> bool:
    """Whether a tool is here though its Debian package is not: a module, a build of one's own."""
    if name == "g++":
        return program_version("g++", "-dumpfullversion") >= (12,)
    if name == "cmake":
        return program_version("cmake", "--version") >= (3, 25)
    if name == "ninja-build":
        return program_version("ninja", "--version") >= (1, 10)
    if name == "python3-venv":
        return bool(importlib.util.find_spec("ensurepip") and importlib.util.find_spec("venv"))
    return name in ("git", "mmdebstrap") and shutil.which(name) is not None


def program_version(program: str, flag: str) -> tuple[int, ...]:
    """Version of a program as a tuple, () if it is not here. .venv counts: see on_path."""
    path = shutil.which(program, path=on_path()["PATH"])
    text = shell.output([path, flag]) if path else None
    match = re.search(r"\d+(\.\d+)*", text or "")
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def on_path() -> dict[str, str]:
    """PATH under which cmake and ninja are found, those of .venv where the system has none."""
    return {"PATH": f"{os.environ.get('PATH', os.defpath)}:{paths.TOOLS / 'bin'}"}


def as_root() -> list[str] | None:
    """The words that run a command as root without asking: [], ["sudo", "-n"], or None."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and shell.output(["sudo", "-n", "true"]) is not None:
        return ["sudo", "-n"]
    return None


def paste_line(names: Iterable[str]) -> str:
    """The command to type as someone who may install packages."""
    packages = " ".join(names)
    return f"sudo apt-get update && sudo apt-get install -y --no-install-recommends {packages}"


def provide(groups: Sequence[str]) -> list[Package]:
    """Gets the packages of `groups` that are missing, and returns those that this machine goes
    without (kind `skip`). Without root: see the head of deps.txt; the kind `wheel` is left to
    environments.provide."""
    absent = missing(of_groups(groups))
    if not absent:
        return []
    if not shutil.which("apt-get"):
        shell.say(
            f"haichi: no apt here, so these are taken from where CMake finds them: {_names(absent)}"
        )
        return [p for p in absent if p.without_root == "skip"]
    root = as_root()
    if root is not None:
        _install(root, absent)
        return []
    needed = [p.name for p in absent if p.without_root == "needed"]
    if needed:
        raise Stop(f"missing, and only root can install it, paste: {paste_line(needed)}")
    unpack = [p for p in absent if p.without_root == "unpack"]
    if unpack:
        _unpack(unpack)
    return [p for p in absent if p.without_root == "skip"]


def _names(packages: Iterable[Package]) -> str:
    return " ".join(p.name for p in packages)


def _install(root: list[str], packages: Sequence[Package]) -> None:
    shell.step(f"apt-get install {_names(packages)}", "named in deps.txt and not installed")
    log = paths.OUT / "setup" / "apt.log"
    env = [*root, "env", "DEBIAN_FRONTEND=noninteractive"]
    names = [p.name for p in packages]
    install = [*env, "apt-get", "install", "-y", "-q", "--no-install-recommends", *names]
    if shell.run(install, log=log) == 0:
        return
    shell.step("apt-get update", "the package lists are missing or out of date")
    shell.must([*env, "apt-get", "update", "-q"], "apt-get update", log)
    shell.must(install, "apt-get install", log)


def unpacked_headers() -> Path:
    """A prefix with the libraries of [build] and nothing else, whether they are installed or not:
    for a compiler that must not see the system's other headers."""
    names = [p.name for p in of_groups(["build"]) if p.without_root == "unpack"]
    folder = paths.DEBS / "headers"
    if not _unpacked(names, folder):
        shell.step(f"unpack {' '.join(names)} into .deps/headers", "apart from the system's")
        log = paths.OUT / "setup" / "unpack.log"
        # CMake's files of a library look whether all of it is there, of which some is in another.
        text = shell.output(["apt-cache", "depends", "--important", *names]) or ""
        _fetch([*names, *re.findall(r"^ +Depends: (\S+)$", text, re.MULTILINE)], folder, [], log)
    return folder / "usr"


def _unpack(packages: Sequence[Package]) -> None:
    """Downloads packages with all that they need and unpacks them into .deps/, as a plain user."""
    names = [p.name for p in packages]
    if _unpacked(names, paths.DEBS):
        return
    shell.step(f"unpack {' '.join(names)} into .deps/", "not installed, and we are not root")
    log = paths.OUT / "setup" / "unpack.log"
    options: list[str] = []
    closure = _simulated(options, names)
    if closure is None:
        options = _own_lists(log)
        closure = _simulated(options, names)
    if not closure:
        raise Stop(f"apt finds no {' '.join(names)} here, paste: {paste_line(names)}")
    _fetch(closure, paths.DEBS, options, log)


def _unpacked(names: Sequence[str], folder: Path) -> bool:
    stamp = folder / "unpacked"
    return stamp.exists() and set(names) <= set(stamp.read_text().split())


def _fetch(names: Sequence[str], folder: Path, options: Sequence[str], log: Path) -> None:
    """Downloads these very packages and unpacks them into `folder`."""
    archives = folder / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    command = ["apt-get", *options, "download", "-q", *names]
    if shell.run(command, log=log, cwd=archives):
        raise Stop(f"apt-get download failed (see {log}), paste: {paste_line(names)}")
    for archive in sorted(archives.glob("*.deb")):
        shell.must(["dpkg", "-x", archive, folder], f"unpacking {archive.name}", log)
    (folder / "unpacked").write_text(" ".join(names) + "\n")
    shutil.rmtree(archives)


def _simulated(options: Sequence[str], names: Sequence[str]) -> list[str] | None:
    """What apt would install for `names`: themselves and what is missing of what they need."""
    text = shell.output(
        ["apt-get", *options, "install", "--simulate", "--no-install-recommends", *names]
    )
    return None if text is None else re.findall(r"^Inst (\S+)", text, re.MULTILINE)


def _own_lists(log: Path) -> list[str]:
    """Fetches package lists into .deps/apt, for a user who may not write the system's."""
    state = paths.DEBS / "apt"
    for folder in ("lists/partial", "cache/archives/partial"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    options = ["-o", f"Dir::State::lists={state}/lists", "-o", f"Dir::Cache={state}/cache"]
    shell.step("apt-get update into .deps/apt", "the system's package lists are not there")
    with contextlib.suppress(Stop):
        shell.must(["apt-get", *options, "update", "-q"], "apt-get update", log)
    return options
