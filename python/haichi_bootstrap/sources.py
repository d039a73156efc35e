"""The sources of libraries that are installed as Debian packages or wheels, for test programs of
theirs that none of these has. deps.txt names the Debian ones in [sources]; they are unpacked into
.deps/sources/."""

import re
import shutil
from pathlib import Path

from haichi_bootstrap import packages, paths, shell
from haichi_bootstrap.shell import Stop

FOLDER = paths.DEBS / "sources"
ETC_APT = Path("/etc/apt")
APT_FILES = ("sources.list", "sources.list.d/*.list", "sources.list.d/*.sources")
LIMIT_S = 120.0  # for what apt, or pip, does over the network
# Of the wheels that the MPI environments pin, those whose source is wanted, and why.
PINNED_IN = "mpich5.txt"
SDISTS = {"mpi4py": "its own tests, which no wheel has"}
PATIENCE_S = 10  # with an archive that does not answer


def provide() -> None:
    """Fetches what is not there yet, in the version that is installed, and says what it goes
    without. Needs no root; the second time is offline."""
    for package in packages.of_groups(["sources"]):
        version = installed_version(package.name)
        if version is None:
            problem = "nothing of it is installed"
        elif folder_of(package.name, version).exists():
            continue
        else:
            shell.step(f"apt-get source {package.name}", package.why)
            problem = _fetch(package.name, version)
        if problem:
            shell.say(f"haichi: goes without the source of {package.name} ({problem})")
    for name, why in SDISTS.items():
        version = pinned_version(name)
        if folder_of(name, version).exists():
            continue
        shell.step(f"pip download {name}", why)
        if problem := _download(name, version):
            shell.say(f"haichi: goes without the source of {name} ({problem})")


def pinned_version(name: str) -> str:
    """The version of a wheel, as requirements/ says."""
    pins = (paths.REQUIREMENTS / PINNED_IN).read_text()
    match = re.search(rf"^{name}==(.*)$", pins, re.MULTILINE)
    if match is None:
        raise Stop(f"requirements/{PINNED_IN} does not pin {name}: add its line")
    return match[1]


def _download(name: str, version: str) -> str:
    """Downloads and unpacks one source from where pip has its wheels. Returns what went wrong, or
    ""."""
    work = FOLDER / "fetching"
    shutil.rmtree(work, ignore_errors=True)
    (work / "tree").mkdir(parents=True)
    log = paths.OUT / "setup" / f"source-{name}.log"
    command: shell.Command = [paths.PYTHON, "-m", "pip", "download", "--no-input", "--no-deps"]
    command += ["--disable-pip-version-check", f"--no-binary={name}", f"{name}=={version}"]
    if shell.run(command, log=log, cwd=work, timeout=LIMIT_S):
        return f"not to be had, see {log}"
    archive = next(work.glob("*.tar.gz"))
    if shell.run(["tar", "-C", work / "tree", "--strip-components=1", "-xf", archive], log=log):
        return f"{archive.name} can't be unpacked, see {log}"
    (work / "tree").rename(folder_of(name, version))
    shutil.rmtree(work)
    return ""


def installed_version(source: str) -> str | None:
    """Version of the source from which the installed packages were made; None if there are none."""
    form = "-f=${db:Status-Abbrev}|${source:Package}|${source:Version}\n"
    for line in (shell.output(["dpkg-query", "-W", form]) or "").splitlines():
        status, name, version = line.split("|")
        if status.startswith("ii") and name == source:
            return version
    return None


def folder_of(source: str, version: str) -> Path:
    """Where the files of a source lie, if they are here."""
    return FOLDER / f"{source}_{version}"


def _fetch(source: str, version: str) -> str:
    """Downloads and unpacks one source. Returns what went wrong, or ""."""
    work = FOLDER / "fetching"
    shutil.rmtree(work, ignore_errors=True)
    for name in ("apt/sources", "apt/lists/partial", "apt/cache/archives/partial", "tree"):
        (work / name).mkdir(parents=True)
    log = paths.OUT / "setup" / f"source-{source}.log"
    options = _own_apt(work / "apt")
    # An archive without sources fails here, beside one that has them. The next command decides.
    shell.run(["apt-get", *options, "update", "-q"], log=log, timeout=LIMIT_S)
    command = ["apt-get", *options, "source", "-q", "--download-only", f"{source}={version}"]
    if shell.run(command, log=log, cwd=work, timeout=LIMIT_S):
        return f"not to be had from the package archive, see {log}"
    # The upstream files as they are: what Debian changes is the library, which is installed.
    for archive in work.glob("*.orig.tar.[gx]z"):
        unpack: shell.Command = ["tar", "-C", work / "tree", "--strip-components=1", "-xf", archive]
        if shell.run(unpack, log=log):
            return f"{archive.name} can't be unpacked, see {log}"
    (work / "tree").rename(folder_of(source, version))
    shutil.rmtree(work)
    return ""


def _own_apt(folder: Path) -> list[str]:
    """Options with which apt knows the sources of the archives that this machine has, and nothing
    else, and writes into `folder` alone."""
    for pattern in APT_FILES:
        for file in ETC_APT.glob(pattern):
            lines = re.sub(r"^deb(?=\s)", "deb-src", file.read_text(), flags=re.MULTILINE)
            lines = re.sub(r"^Types:.*$", "Types: deb-src", lines, flags=re.MULTILINE)
            (folder / "sources" / file.name).write_text(lines)
    where = {
        "Etc::SourceList": "/dev/null",
        "Etc::SourceParts": folder / "sources",
        "State::Lists": folder / "lists",
        "Cache": folder / "cache",
    }
    options = [word for key, value in where.items() for word in ("-o", f"Dir::{key}={value}")]
    return [*options, "-o", "Acquire::Retries=0", "-o", f"Acquire::http::Timeout={PATIENCE_S}"]
