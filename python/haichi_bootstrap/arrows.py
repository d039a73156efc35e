"""Checks that includes between the folders of src/ follow the arrows of ARCHITECTURE.md, and that
the folders that decide see nothing of the machine that they run on.

What decides is a pure function of placement, machine and request, so that a plan for 100,000 ranks
runs in a unit test. That stays true only as long as nothing below the executors includes a clock, a
file or MPI.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

# Folder -> the folders it may include from. A folder may always include its own headers.
ARROWS: dict[str, frozenset[str]] = {
    "base": frozenset(),
    "trace": frozenset({"base"}),
    "placement": frozenset({"base"}),
    "topology": frozenset({"base"}),
    "report": frozenset({"trace", "placement", "base"}),
    "machine": frozenset({"base"}),
    "record": frozenset({"trace", "placement", "base"}),
    "plan": frozenset({"machine", "placement", "base"}),
    "collectives": frozenset({"plan", "machine", "topology", "placement", "base"}),
    "mpiio": frozenset({"plan", "machine", "placement", "trace", "base"}),
    "mpi": frozenset(
        {
            *("collectives", "mpiio", "plan", "machine", "topology"),
            *("placement", "report", "trace", "base"),
        }
    ),
    "preload": frozenset(
        {
            *("mpi", "collectives", "mpiio", "plan", "machine", "topology"),
            *("placement", "report", "trace", "gasfs", "numaio", "base"),
        }
    ),
    "recorder": frozenset({"mpi", "preload", "record", "machine", "placement", "base"}),
    "sim": frozenset({"plan", "machine", "topology", "placement", "base"}),
    "predict": frozenset(
        {"record", "sim", "collectives", "machine", "topology", "plan", "placement", "base"}
    ),
    "patterns": frozenset(
        {"sim", "mpiio", "collectives", "machine", "topology", "plan", "placement", "base"}
    ),
    "replay": frozenset({"record", "placement", "base"}),
    "goal": frozenset({"replay", "record", "placement", "base"}),
    "measure": frozenset({"mpi", "plan", "placement", "base"}),
    "gasfs": frozenset({"base"}),
    "numaio": frozenset({"machine", "placement", "base"}),
    "launch": frozenset({"placement", "base"}),
    "offline": frozenset(
        {
            *("launch", "goal", "patterns", "predict", "record", "report", "sim", "collectives"),
            *("plan", "machine", "topology", "placement", "trace", "base"),
        }
    ),
}
# Folder -> its rooms, each of which may include from itself and from those before it; "" is what
# lies in the folder itself.
ROOMS: dict[str, tuple[str, ...]] = {
    "mpiio": ("regions", "agreement", "twophase", "storage", "ways"),
    "mpi": (
        *("compat", "types", "job", "communicators", "requests", "node", "log", "tuning"),
        *("files", "access", "collectives", "topologies", "life"),
    ),
    "measure": ("", "case", "suite", "run"),
    "gasfs": (
        *("files", "plan", "arena", "client", "wire", "store", "server", "dispatcher", "fuse"),
        "run",
    ),
}
WITH_MPI = frozenset({"mpi", "preload", "measure", "recorder", "replay"})
# No clock, no environment, no file, no thread. Unit tests may, and the part of placement that asks
# a host about itself.
PURE = frozenset({"plan", "placement", "machine", "topology", "collectives", "sim", "predict"})
ASKS_THE_HOST = ("placement/host.", "placement/hwloc/")
IMPURE_HEADERS = frozenset(
    {
        *("chrono", "cstdio", "ctime", "filesystem", "fstream", "iostream", "mutex", "thread"),
        *("dlfcn.h", "fcntl.h", "pthread.h", "stdio.h", "time.h", "unistd.h"),
        *("sys/mman.h", "sys/stat.h", "sys/time.h", "sys/types.h"),
        *("hwloc.h", "base/clock.h", "base/os.h"),
    }
)
IMPURE_CALLS = re.compile(r"\b(?:getenv|secure_getenv|clock_gettime|gettimeofday|fopen|environ)\b")
CLAIM = re.compile(r"^// PURE", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)


def violations(src: Path, files: Iterable[Path]) -> Iterator[str]:
    """Yields one line for each include or call in `files` (under `src`) that breaks a rule."""
    for file in files:
        folder = file.relative_to(src).parts[0]
        pure = ""  # who is, in words
        if _is_pure(file.relative_to(src).as_posix()):
            pure = f"{folder}/ is pure"
        elif _claims_to_be(file):
            pure = "this module is pure by the words of its header"
        if folder not in ARROWS:
            yield f"{file}: '{folder}' is not in ARROWS of {Path(__file__).name}; add its line"
            continue
        room = _room(file.relative_to(src).as_posix())
        if room not in ROOMS.get(folder, (room,)):
            yield f"{file}: '{room}' is not in ROOMS of {Path(__file__).name}; add it in its place"
            continue
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            problem = _problem(folder, pure, line) or _against_rooms(folder, room, line)
            if problem:
                yield f"{file}:{number}: {problem}"


def _claims_to_be(file: Path) -> bool:
    """Whether the header of a module says that it is pure, in a folder that is not as a whole."""
    header = file.with_suffix(".h")
    return header.exists() and bool(CLAIM.search(header.read_text(errors="replace")))


def _is_pure(name: str) -> bool:
    by_folder = name.split("/")[0] in PURE and not name.startswith(ASKS_THE_HOST)
    return by_folder and not re.search(r"_test\.\w+$", name)


def _problem(folder: str, pure: str, line: str) -> str | None:
    match = INCLUDE.match(line)
    if not match:
        code = line.split("//")[0]
        call = IMPURE_CALLS.search(code) if pure else None
        return f"{pure} and may not use {call[0]}" if call else None
    quote, header = match.groups()
    if header == "mpi.h" and folder not in WITH_MPI:
        return f"{folder}/ may not include <mpi.h>; only {', '.join(sorted(WITH_MPI))} may"
    if pure and header in IMPURE_HEADERS:
        return f"{pure} and may not include {header}"
    target = header.split("/")[0] if "/" in header else folder
    if quote == '"' and target in ARROWS and target != folder and target not in ARROWS[folder]:
        allowed = ", ".join(sorted(ARROWS[folder])) or "nothing"
        return f"{folder}/ may not include {header}; it may include from: {allowed}"
    return None


def _room(name: str) -> str:
    """The folder in a folder that a file lies in; empty if it lies in none."""
    parts = name.split("/")
    return parts[1] if len(parts) > 2 else ""


def _against_rooms(folder: str, room: str, line: str) -> str | None:
    match = INCLUDE.match(line)
    order = ROOMS.get(folder)
    if not match or not order or not match[2].startswith(folder + "/"):
        return None
    target = _room(match[2])
    if target in order[: order.index(room) + 1]:
        return None
    before = ", ".join(filter(None, order[: order.index(room)])) or "no other"
    return (
        f"{folder}/{room}/ may not include {match[2]}; of {folder}/ it may include from: {before}"
    )
