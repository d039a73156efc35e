#!/usr/bin/env python3
"""What `haichi run` adds to the start of one rank.

Starts a tiny program that is linked with an MPI library, interleaved in three ways: directly, with
LD_PRELOAD of an empty shim, and by `haichi run` with that shim. The library is a stand-in with
nothing in it, since the start of a real one costs milliseconds that hide what is measured here;
`--program` takes a real program instead. Times are milliseconds: `wall` from posix_spawn to the end
of the process, seen by its parent, and `cpu` what the process used itself. On a machine that does
other things at the same time `wall` holds their time slices too; `cpu` then says more. Ratios and
differences within one run are what counts.
"""

from __future__ import annotations

import argparse
import json
import operator
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

ROOT = Path(__file__).resolve().parent.parent.parent


class Result(TypedDict):
    """Milliseconds by way and statistic, of a clock on the wall and of the processor."""

    program: str
    starts: int
    cores: int | None
    wall: dict[str, dict[str, float]]
    wall_added_ms: float  # median of the differences
    cpu: dict[str, dict[str, float]]
    cpu_added_ms: float


def compile_stand_ins(directory: Path) -> Path:
    """A program linked with an empty MPI library of MPICH's ABI, and an empty shim for it."""
    (directory / "mpi.c").write_text("int MPI_Send_c(void) { return 0; }\n")
    (directory / "program.c").write_text("int main(void) { return 0; }\n")
    (directory / "shim.c").write_text("typedef int nothing;\n")
    library = directory / "libmpi.so.12"
    shared = ["cc", "-shared", "-fPIC"]
    link = ["-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{directory}"]
    for words in (
        [*shared, "-Wl,-soname,libmpi.so.12", "mpi.c", "-o", str(library)],
        [*shared, "shim.c", "-o", "shim.so"],
        ["cc", "program.c", *link, "-o", "program"],
    ):
        subprocess.run(words, cwd=directory, check=True)
    return directory / "program"


def install(haichi: Path, directory: Path) -> Path:
    """Puts the launcher into a prefix of its own, whose shims are empty."""
    installed = directory / "bin" / "haichi"
    (directory / "bin").mkdir()
    (directory / "lib").mkdir()
    shutil.copy2(haichi, installed)
    for abi in ("mpich", "openmpi", "mpiabi"):
        shutil.copy(directory / "shim.so", directory / "lib" / f"libhaichi-{abi}.so")
    return installed


def start_ms(words: Sequence[str], env: dict[str, str]) -> tuple[float, float]:
    """Milliseconds from the start of a process to its end, and of processor time in it."""
    begin = time.perf_counter_ns()
    process = os.posix_spawn(words[0], list(words), env)
    _, status, usage = os.wait4(process, 0)
    wall = (time.perf_counter_ns() - begin) / 1e6
    if status != 0:
        raise SystemExit(f"{' '.join(words)} failed with status {status}")
    return wall, (usage.ru_utime + usage.ru_stime) * 1e3


def summary(samples: Sequence[float]) -> dict[str, float]:
    """Median and quartiles in milliseconds."""
    low, median, high = statistics.quantiles(samples, n=4)
    return {"median_ms": median, "quartile1_ms": low, "quartile3_ms": high}


def measure(haichi: Path, program: Path | None, starts: int) -> Result:
    """Interleaved starts of all three ways, summarised."""
    with tempfile.TemporaryDirectory(prefix="haichi-start-") as name:
        directory = Path(name)
        stand_in = compile_stand_ins(directory)
        installed = str(install(haichi, directory))
        target = str(program.resolve() if program else stand_in)
        env = {key: value for key, value in os.environ.items() if not key.startswith("HAICHI_")}
        env.pop("LD_PRELOAD", None)
        ways = {
            "plain": ([target], env),
            "preload": ([target], {**env, "LD_PRELOAD": str(directory / "shim.so")}),
            "haichi": ([installed, "run", target], env),
        }
        samples: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
        for words, variables in ways.values():  # the first start reads the files
            start_ms(words, variables)
        for _ in range(starts):
            for way, (words, variables) in ways.items():
                samples[way].append(start_ms(words, variables))
    wall, wall_added = compared({way: [pair[0] for pair in of] for way, of in samples.items()})
    cpu, cpu_added = compared({way: [pair[1] for pair in of] for way, of in samples.items()})
    return {
        "program": target,
        "starts": starts,
        "cores": os.cpu_count(),
        "wall": wall,
        "wall_added_ms": wall_added,
        "cpu": cpu,
        "cpu_added_ms": cpu_added,
    }


def compared(times: Mapping[str, Sequence[float]]) -> tuple[dict[str, dict[str, float]], float]:
    """Each way summarised, and what haichi adds."""
    added = statistics.median(map(operator.sub, times["haichi"], times["plain"]))
    return {way: summary(values) for way, values in times.items()}, added


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--haichi", type=Path, default=ROOT / "build/current/bin/haichi")
    parser.add_argument("--program", type=Path, help="an MPI program (default: a stand-in)")
    parser.add_argument("--starts", type=int, default=300, help="of each way (default 300)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    if not options.haichi.exists():
        raise SystemExit(f"no {options.haichi}: ./haichi build makes it")
    result = measure(options.haichi, options.program, options.starts)
    if options.json:
        print(json.dumps(result))
        return
    print(f"{options.starts} interleaved starts each, {result['cores']} cores, milliseconds")
    for name, ways, added in (
        ("wall", result["wall"], result["wall_added_ms"]),
        ("cpu", result["cpu"], result["cpu_added_ms"]),
    ):
        for way, row in ways.items():
            spread = f"({row['quartile1_ms']:.3f} to {row['quartile3_ms']:.3f})"
            print(f"  {name:4} {way:8} {row['median_ms']:7.3f}  {spread}")
        print(f"  {name:4} haichi run adds {added:.3f} (median of the differences)")


if __name__ == "__main__":
    main()
