#!/usr/bin/env python3
"""Holds `haichi measure` against what others measure with, in turns on the same two cores.

Ping-pong, barrier, all-to-all and put with flush: by haichi, by loops with the timed sequences of
OSU's benchmarks and IMB (loops.c), by the same through mpi4py (Debian's, which is for Open MPI;
what Python takes for a call is in it), and the ping-pong by NetPIPE too, where it is installed
(netpipe-openmpi, netpipe-mpich2). NetPIPE prints the fastest of a few means, so it is told of only
with --fifo: then all run with a real-time priority (chrt, root) and nothing gets in between; that
takes both cores of the machine for some seconds at a time. Exit code 0 if measured, whatever the
ratios are; 1 if a program failed.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from haichi import jobs, mpi, paths
from haichi.figures import script

RANKS = 2
BLOCKS = 1000
NAMES = {
    "pingpong": "ping-pong",
    "barrier": "barrier",
    "alltoall": "alltoall",
    "putflush": "put-flush",
}
SIZES = (8, 64, 1024, 4096, 65536, 1 << 20)
NETPIPE = {"openmpi": "NPopenmpi", "mpich": "NPmpich2"}
PYTHON = "/usr/bin/python3"  # the distribution's, whose mpi4py is for Open MPI
PYTHON_LOOPS = Path(__file__).with_name("mpi4py_loops.py")
PYTHON_BLOCKS = 300
# As the ranks of the others, each on a core of its own.
ON_OWN_CORE = 'exec taskset -c "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" "$@"'
FIFO = ("chrt", "-f", "1")

# What is measured and its bytes.
Key = tuple[str, int]


def start(found: mpi.Mpi, fifo: bool, words: list[str]) -> str:
    """Runs a program on two ranks; what it printed."""
    argv, env = mpi.local_command(found, RANKS, [*(FIFO if fifo else ()), *words], {})
    done = jobs.run(argv, env, timeout=script.RUN_TIMEOUT_S)
    if done.timed_out or done.code != 0:
        raise script.Failed(f"{found.label}, {words[0]}: {done.how}: {done.last_error}")
    return done.out


def by_haichi(found: mpi.Mpi, fifo: bool, folder: Path) -> dict[Key, float]:
    """Medians of one run of the suite."""
    out = folder / "samples.jsonl"
    out.unlink(missing_ok=True)
    sizes = [word for size in SIZES for word in ("--size", str(size))]
    program = str(paths.program(f"haichi-measure-{found.family}"))
    # The others begin behind barriers.
    words = [program, *NAMES.values(), *sizes, "--start", "barrier", "--budget", "6"]
    words += ["--out", str(out)]
    start(found, fifo, words)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    return {
        (each["name"], each["bytes"]): each["median"] for each in records if each["kind"] == "point"
    }


def by_loops(found: mpi.Mpi, fifo: bool) -> dict[Key, float]:
    """Medians of the loops."""
    program = str(paths.program(f"loops-{found.name}"))
    taken = {}
    for kernel, name in NAMES.items():
        for size in SIZES if kernel != "barrier" else (0,):
            words = [program, kernel, str(size), str(BLOCKS)]
            taken[name, size] = float(start(found, fifo, words))
    return taken


def by_netpipe(found: mpi.Mpi, fifo: bool, folder: Path) -> dict[Key, float]:
    """NetPIPE's ping-pong; nothing where it is not installed or would measure other work."""
    program = shutil.which(NETPIPE[found.family])
    if program is None or not fifo:
        return {}
    out = folder / "np.out"
    words = [
        "sh",
        "-c",
        ON_OWN_CORE,
        "sh",
        program,
        "-p",
        "0",
        "-u",
        str(SIZES[-1]),
        "-o",
        str(out),
    ]
    start(found, fifo, words)
    rows = [line.split() for line in out.read_text().splitlines()]
    return {("ping-pong", int(row[0])): float(row[2]) for row in rows if int(row[0]) in SIZES}


def by_mpi4py(found: mpi.Mpi, fifo: bool) -> dict[Key, float]:
    """Medians of the loops through mpi4py; nothing where there is none for this MPI."""
    imports = [PYTHON, "-c", "import mpi4py"]
    if found.family != "openmpi" or subprocess.run(imports, capture_output=True).returncode != 0:
        return {}
    taken = {}
    for kernel, name in NAMES.items():
        for size in SIZES if kernel != "barrier" else (0,):
            words = [PYTHON, str(PYTHON_LOOPS), kernel, str(size), str(PYTHON_BLOCKS)]
            taken[name, size] = float(start(found, fifo, words))
    return taken


def ratio(samples: list[dict[Key, float]], ours: list[dict[Key, float]], key: Key) -> str:
    """Ours by theirs in the median of the rounds, and the smallest and the largest."""
    found = [
        mine[key] / theirs[key] for mine, theirs in zip(ours, samples, strict=True) if key in theirs
    ]
    if not found:
        return ""
    return f"{statistics.median(found):.3f} [{min(found):.2f}-{max(found):.2f}]"


def compare(found: mpi.Mpi, repetitions: int, fifo: bool, folder: Path) -> None:
    """All in turns, and a line for each quantity and size."""
    ours, loops, netpipe, python = [], [], [], []
    for _ in range(repetitions):
        ours.append(by_haichi(found, fifo, folder))
        loops.append(by_loops(found, fifo))
        netpipe.append(by_netpipe(found, fifo, folder))
        python.append(by_mpi4py(found, fifo))
    print(f"{found.label}: haichi's median, and by how much it is that of others [all rounds]")
    print(f"  {'':<10} {'bytes':>8} {'us':>10}  {'÷ loops':<20} {'÷ NetPIPE':<20} {'÷ mpi4py':<20}")
    for name, size in sorted(ours[0]):
        middle = statistics.median(mine[name, size] for mine in ours) * 1e6
        print(
            f"  {name:<10} {size:>8} {middle:>10.3f}  {ratio(loops, ours, (name, size)):<20} "
            f"{ratio(netpipe, ours, (name, size)):<20} "
            f"{ratio(python, ours, (name, size)):<20}".rstrip()
        )


def main() -> int:
    """Command line."""
    parser = script.parser(__doc__, repetitions=3)
    parser.add_argument(
        "--fifo", action="store_true", help="with a real-time priority, and NetPIPE too (root)"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return script.for_each_mpi(
            "agreement",
            options.repetitions,
            lambda found: compare(found, options.repetitions, options.fifo, Path(folder)),
        )


if __name__ == "__main__":
    sys.exit(main())
