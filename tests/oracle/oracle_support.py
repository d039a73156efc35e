"""What the tests of this folder share: jobs of random cases, pretended nodes, preloads, a folder in
memory. Times are in seconds."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import mpis
import pytest

HERE = Path(__file__).parent
SEED = int(os.environ.get("ORACLE_SEED", "1"))
SUMMARY = re.compile(r"oracle: (\d+) (?:cases|programs), (\d+) failed, (\d+) collective calls")

# What a program can't have from the MPI library itself: haichi leaves these calls to it.
AVOID = {
    # MPI_Abort in set_view of a file that one rank opens alone; wrong bytes in views that show
    # bytes twice; wrong file pointers in views whose tiles run into each other.
    "mpich": "single,reread,one-tile",
    # A file that one rank opens alone is not in the report. Wrong MPI_SEEK_END; set_view of a view
    # that shows bytes twice never returns.
    "openmpi": "single,seek-end,reread",
    "mpiabi": "single,reread,one-tile",
}
# What the stock libraries get right beyond doubt, so that a difference is the model's mistake.
STOCK = {
    # Not array-memory: a rank alone that reads into a subarray at MPI_BOTTOM ends in
    # MPI_Finalize by a signal (MPICH 4.0.2 without haichi, case 4031 of seed 1).
    "mpich": ["--only", "array-view,idle,bottom,far,hints,subcomm,eof,overlap"],
    # Split and nonblocking collectives end in a signal or never. With small collective buffers some
    # cycles' bytes are missing after the call, now and then.
    "openmpi": ["--avoid", "overlap,seek-end,reread,split,nonblocking,empty-view,single,hints"],
}


# ROMIO's independent strided write reads a part of the file, fills its pieces in and writes it
# back. It locks that part, but a write of one piece takes no lock and is lost in between, nor does
# one without sieving, and aggregators sieve without a lock. What a rank that opened the file alone
# writes collectively is written so, too.
_SIEVING = ",".join(
    f"{strided}+{without}"
    for strided in ("strided", "istrided")
    for without in ("contiguous", "icontiguous", "shared", "bare")
)
# One that completes an iwrite_all waits for ranks that are in another collective call, where ROMIO
# does not go on with the first. set_view of any handle sets the shared pointer of all handles on
# the file to 0.
_ROMIO = f"icollective+waits,shared+views,ordered+views,unlocked,{_SIEVING}"
# What programs do without, by the name of an MPI: calls of the library that the library by itself
# loses or never ends. What haichi carries out is not left out beside any of them.
AVOID_PROGRAMS: dict[str, str] = {
    "mpich-4.0.2": _ROMIO,
    "mpich-5.0.2": _ROMIO,
    "mpich-5.0.2-abi": _ROMIO,
    # Records are written elsewhere after a view of another handle (program 56 of seed 1, --single).
    "openmpi-4.1.4": "shared+views,ordered+views",
    "openmpi-5.0.11": "shared+views,ordered+views",
}
# Accesses that Open MPI makes by POSIX aio where haichi leaves them to it. The C library starts the
# threads for that where the thread sanitizer does not see it, and they crash.
_THREADS_OF_THE_C_LIBRARY = "icontiguous,split"
# What stock libraries lose in calls that are haichi's under haichi, to be left out in runs without
# it: ROMIO's sieving beside its own ordered writes, and aggregators of ROMIO that read, modify and
# write while ranks that have none are through and go on.
_AGGREGATORS = ",".join(
    f"{collective}+{contiguous}"
    for collective in ("collective", "split", "icollective")
    for contiguous in ("contiguous", "icontiguous", "shared", "ordered")
)
_ROMIO_LOSES = f"strided+ordered,istrided+ordered,{_AGGREGATORS}"
STOCK_LOSES: dict[str, str] = {"mpich-4.0.2": _ROMIO_LOSES, "mpich-5.0.2": _ROMIO_LOSES}


@dataclass(frozen=True)
class Job:
    """One run of oracle_cases or oracle_programs under haichi: many cases, or programs, on some
    ranks of pretended nodes."""

    abi: str
    ranks: int
    cases: int
    nodes: str
    """How the ranks are dealt out to nodes, see node_of."""
    seed: int = SEED
    first: int = 0
    options: tuple[str, ...] = field(default=())
    """Which features the cases have, instead of all but AVOID."""
    tuned: bool = False
    """Order and window by trial, where the case names neither, and the ways from the first access
    on."""
    by_nodes: bool = False
    """Ranks agree node by node, as those of large jobs do."""
    what: str = "cases"
    """Or "programs"."""
    on: str = ""
    """Name of the MPI; empty: the distribution's of the ABI."""

    def __str__(self) -> str:
        more = "".join(self.options[:1]).replace("--", "-")
        return f"{self.abi}-{self.ranks}-{self.nodes}-{self.cases}{more}"

    def mpi(self) -> mpis.Mpi:
        """The MPI that it runs on."""
        return mpi_named(self.on) if self.on else distribution_mpi(self.abi)

    def words(self, mpi: mpis.Mpi, folder: Path) -> list[str | Path]:
        """The program and its arguments."""
        words: list[str | Path] = [program(mpi, f"oracle_{self.what}"), "--seed", str(self.seed)]
        words += ["--first", str(self.first)] if self.first else []
        words += [f"--{self.what}", str(self.cases), "--dir", folder]
        if self.what == "programs":
            avoided = [AVOID_PROGRAMS.get(mpi.name, "")]
            if mpis.sanitizers() == "thread" and mpi.abi == "openmpi" and not self.options:
                avoided.append(_THREADS_OF_THE_C_LIBRARY)
            return [*words, *self.options, "--avoid", ",".join(avoided)]
        return [*words, *(self.options or ("--avoid", AVOID[self.abi]))]

    def environment(self, mpi: mpis.Mpi, folder: Path) -> dict[str, str]:
        """What the ranks need; writes their placement into the folder."""
        return {
            **mpi.preload(),
            "HAICHI_REPORT": str(self.report(folder)),
            "HAICHI_REPORT_BYTES": "64M",  # all calls are listed
            "HAICHI_PLACEMENT": str(placement(self.nodes, self.ranks, folder)),
            "HAICHI_IO_TUNE": "on" if self.tuned else "off",
            "HAICHI_IO_BUDGET": "100" if self.tuned else "0",
            "HAICHI_SCALE_RANKS": "2" if self.by_nodes else "1025",
        }

    def report(self, folder: Path) -> Path:
        """The run report."""
        return folder / "report.json"


def calls_of(report: Path) -> list[dict]:
    """The collective calls that a run report lists."""
    return [call for file in json.loads(report.read_text())["files"] for call in file["calls"]]


def collective_calls(report: Path) -> int:
    """How many collective calls the rank with most has made; the list above is bounded."""
    ranks = json.loads(report.read_text())["ranks"]
    return max(rank["collective_access"]["calls"] for rank in ranks)


def distribution_mpi(abi: str) -> mpis.Mpi:
    """The first usable MPI of an ABI: the distribution's, if it is here."""
    known = [mpi for mpi in mpis.all_mpis() if mpi.abi == abi]
    return next((mpi for mpi in known if not mpi.missing), known[0])


def mpi_named(name: str) -> mpis.Mpi:
    """The MPI of that name, usable or not."""
    return next(mpi for mpi in mpis.all_mpis() if mpi.name == name)


def program(mpi: mpis.Mpi, name: str) -> Path:
    """`name` built for an MPI: by CMake for the one it found of each ABI, else by its compiler."""
    if mpi == distribution_mpi(mpi.abi):
        return mpis.BUILD / "bin" / f"{name}_{mpi.abi}"
    target = mpis.scratch() / mpi.name / name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        sources = [HERE / f"{name}.cpp"]
        if name == "oracle_programs":
            parts = ["plan", "model", "text", "runner"]
            sources += [HERE / f"program_{part}.cpp" for part in parts]
            sources += [HERE / "feature_set.cpp", HERE / "slow_file.cpp"]
        if name == "oracle_cases":
            model = ["type", "type_text", "byte_model", "feature_set", "type_generator"]
            plan = ["case_plan", "case_view", "case_text", "case_model", "case_runner", "mpi_type"]
            sources += [HERE / f"{part}.cpp" for part in model + plan]
        flags = [
            "-std=c++20",
            "-O1",
            "-DOMPI_SKIP_MPICXX",
            "-DMPICH_SKIP_MPICXX",
            f"-I{HERE.parent}",
        ]
        # The wheels' wrappers know C; they pass on to the compiler that they are told.
        environment = {**os.environ, "MPICH_CC": "g++", "OMPI_CC": "g++"}
        words = [
            str(mpi.mpicc),
            *flags,
            *map(str, sources),
            "-lstdc++",
            "-lm",
            "-pthread",
            "-o",
            str(target),
        ]
        mpis.run_bounded(words, env=environment, timeout=280, check=True)
    return target


def node_of(how: str, ranks: int) -> list[int]:
    """Node of each rank: "one", "each", "block<n>", "deal<n>" (round robin) or "uneven"."""
    if how == "one":
        return [0] * ranks
    if how == "each":
        return list(range(ranks))
    if how == "uneven":
        return [0 if rank < (ranks + 1) // 2 else 1 + rank % 3 for rank in range(ranks)]
    nodes = int(re.sub(r"\D", "", how))
    if how.startswith("deal"):
        return [rank % nodes for rank in range(ranks)]
    return [rank * nodes // ranks for rank in range(ranks)]


def placement(how: str, ranks: int, folder: Path) -> Path:
    """A haichi.placement/1 file for pretended nodes."""
    where = node_of(how, ranks)
    nodes = [
        {"name": f"n{node}", "ranks": ",".join(str(r) for r in range(ranks) if where[r] == node)}
        for node in sorted(set(where), key=where.index)
    ]
    path = folder / "placement.json"
    path.write_text(json.dumps({"schema": "haichi.placement/1", "nodes": nodes}))
    return path


def fast_base() -> Path:
    """Where a sync costs nothing, if there is such a place."""
    return Path("/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir())


@pytest.fixture
def fast_folder() -> Iterator[Path]:
    """A folder in memory, where a sync costs nothing."""
    folder = Path(tempfile.mkdtemp(prefix="oracle-", dir=fast_base()))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
