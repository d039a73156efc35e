"""What `haichi measure` does where it cannot: full disks, damaged files, no locks. One clear line,
an exit code that is not 0, and what was measured is kept."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import mpis
import pytest
from measure_support import (
    CANT_WRITE,
    INCOMPLETE,
    complaints,
    lines,
    measurable_openmpi,
    measure,
    points,
    program,
)
from mpis import Mpi

NOLOCKS = Path(__file__).parents[1] / "faults" / "nolocks.c"


@pytest.fixture
def openmpi() -> Mpi:
    return measurable_openmpi()


def on_small_disk(mpi: Mpi, folder: Path, kib: int, words: list[str], keep: Path):
    """Runs haichi-measure in a name space of its own, in which `folder` is a file system of so many
    KiB; what is in it at the end is copied to `keep`."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    keep.mkdir()
    job = shlex.join(mpi.command(2, [program(mpi), *words]))
    script = (
        f"mount -t tmpfs -o size={kib}k small {folder} || exit 99\n"
        f"{job}\ncode=$?\ncp -r {folder}/. {keep}\nexit $code"
    )
    done = mpis.run_bounded(
        ["unshare", "-m", "sh", "-c", script],
        env={**os.environ, **mpi.launcher_env},
        timeout=120,
    )
    if done.returncode == 99 or "unshare failed" in done.stderr:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    return done


@pytest.mark.slow
def test_a_full_disk_keeps_whole_lines(openmpi: Mpi, tmp_path: Path) -> None:
    folder, kept = tmp_path / "small", tmp_path / "kept"
    folder.mkdir()
    words = ["bcast", "allreduce", "alltoall", "allgather", "--budget", "4"]
    done = on_small_disk(openmpi, folder, 12, [*words, "--out", f"{folder}/s.jsonl"], kept)
    assert done.returncode == CANT_WRITE, done.stderr
    (line,) = complaints(done)
    assert "No space left on device; what is in it is kept" in line
    assert points(kept / "s.jsonl")
    assert (kept / "s.jsonl").read_text().endswith("}\n")


@pytest.mark.slow
def test_files_that_do_not_fit_fail_their_points_alone(openmpi: Mpi, tmp_path: Path) -> None:
    folder, kept = tmp_path / "small", tmp_path / "kept"
    folder.mkdir()
    out = tmp_path / "s.jsonl"
    words = ["file-write-at", "file-preallocate", "barrier", "--size", "4k", "--size", "1m"]
    words += ["--budget", "1", "--directory", str(folder), "--out", str(out)]
    done = on_small_disk(openmpi, folder, 256, words, kept)
    assert done.returncode == INCOMPLETE, done.stderr
    found = points(out)
    assert ("barrier", "all", 0) in found
    assert ("file-write-at", "all", 4096) in found
    assert ("file-write-at", "all", 1 << 20) not in found
    says = r"of 1048576 bytes \(all\) can't be measured: of 1048576 bytes \d+ were written"
    assert re.search(says, done.stderr)
    assert list(kept.iterdir()) == []


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (b"\x00\xff no JSON\n", "s.jsonl:2: no record of a samples file"),
        (b"[1, 2]\n", "s.jsonl:2: no record of a samples file"),
    ],
)
def test_a_damaged_file_is_not_gone_on_with(
    openmpi: Mpi, tmp_path: Path, damage: bytes, says: str
) -> None:
    out = tmp_path / "s.jsonl"
    measure(openmpi, 2, "barrier", "wtime", "--budget", "0.1", "--out", out, check=True)
    head, _, rest = out.read_bytes().partition(b"\n")
    out.write_bytes(head + b"\n" + damage + rest)
    before = out.read_bytes()
    done = measure(openmpi, 2, "barrier", "--resume", "--out", out)
    assert done.returncode == CANT_WRITE
    (line,) = complaints(done)
    assert says in line
    assert out.read_bytes() == before


@pytest.mark.parametrize("name", ["mpich-4.0.2", "openmpi-4.1.4"])
def test_a_file_system_without_locks(name: str, tmp_path: Path) -> None:
    """MPICH ends a job that can't lock a file: what it would lock is left out, the rest kept."""
    found = next(each for each in mpis.all_mpis() if each.name == name)
    if found.missing:
        pytest.skip(found.missing)
    library = found.compile(NOLOCKS, "-shared", "-fPIC", "-ldl")
    locked = ["file-write-shared", "file-write-at-atomic", "file-strided-write"]
    names = ["file-write-at", *locked, "barrier"]
    out = tmp_path / "s.jsonl"
    words = [program(found), *names, "--size", "4k", "--budget", "1", "--out", out]
    env = {"LD_PRELOAD": str(library)}
    done = found.run(2, [*words, "--directory", tmp_path], env=env)
    left = {each["name"]: each["reason"] for each in lines(out) if each["kind"] == "left"}
    assert {each for each, _, _ in points(out)} == set(names) - set(left), done.stderr
    assert set(left) == (set(locked) if found.abi == "mpich" else set())
    assert done.returncode == (INCOMPLETE if left else 0), done.stderr
    for each, reason in left.items():
        assert "the file system has no locks (No locks available)" in reason
        assert f"{each} of 4096 bytes (all) can't be measured: {reason}" in done.stderr
