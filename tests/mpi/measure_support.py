"""What the tests of `haichi measure` have in common: its program under an MPI, and its file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import mpis
import pytest
from mpis import BUILD, Mpi

NTH_CALL = Path(__file__).parents[1] / "faults" / "nth_call.c"

INCOMPLETE, USAGE, CANT_WRITE = 1, 64, 73  # its exit codes


def program(mpi: Mpi) -> Path:
    """The build's program for an MPI; a skip where this build has none."""
    path = BUILD / "bin" / f"haichi-measure-{mpi.abi}"
    if not path.exists():
        pytest.skip(f"no {path.name} in this build: no MPI of that ABI when it was made")
    return path


def measurable(mpi: Mpi) -> Mpi:
    """An MPI that is here, and that this build has a program for; else a skip."""
    if mpi.missing:
        pytest.skip(mpi.missing)
    program(mpi)
    return mpi


def measurable_openmpi() -> Mpi:
    """For more ranks than cores: its ranks yield."""
    return measurable(next(each for each in mpis.all_mpis() if each.abi == "openmpi"))


def measure(mpi: Mpi, ranks: int, *words: str | Path, **more: object):
    """Runs haichi-measure; what mpiexec ended with."""
    return mpi.run(ranks, [program(mpi), *words], **more)  # type: ignore[arg-type]


def measure_with_fault(
    mpi: Mpi,
    folder: Path,
    words: list[str],
    function: str,
    *,
    rank: int,
    made: str,
    call: int,
    **more: str,
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """The suite on two ranks, on one of which the call of a function fails (tests/faults/nth_call.c
    has what `made` means); what it ended with, and its file. It leaves no file behind."""
    library = mpi.compile(NTH_CALL, "-shared", "-fPIC")
    out = folder / "s.jsonl"
    files = folder / "files"
    files.mkdir()
    env = {
        "LD_PRELOAD": str(library),
        "NTH_CALL_FUNCTION": function,
        "NTH_CALL": str(call),
        "NTH_CALL_RANK": str(rank),
        "NTH_CALL_MADE": made,
        **more,
    }
    command = [program(mpi), *words, "--out", out, "--directory", files]
    done = mpi.run(2, command, env=env, timeout=50)
    assert list(files.iterdir()) == [], done.stderr
    return done, out


def lines(file: Path) -> list[dict]:
    """The records of a samples file."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def points(file: Path) -> dict[tuple[str, str, int], dict]:
    """The points of a samples file by name, place and bytes; each once."""
    found: dict[tuple[str, str, int], dict] = {}
    for record in lines(file):
        if record["kind"] == "point":
            key = (record["name"], record["place"], record["bytes"])
            assert key not in found
            found[key] = record
    return found


def reason_left_out(done: subprocess.CompletedProcess[str], file: Path, name: str) -> str:
    """Why a measurement can't be made, which alone is left out: the other one, `barrier`, is
    measured."""
    assert done.returncode == INCOMPLETE, done.stderr
    assert complaints(done) == []
    assert [each for each, _, _ in points(file)] == ["barrier"]
    (left,) = (each for each in lines(file) if each["kind"] == "left")
    assert left["name"] == name
    (end,) = (each for each in lines(file) if each["kind"] == "end")
    assert (end["points"], end["failed"]) == (2, 1)
    return left["reason"]


def complaints(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The errors of our own program; launchers add lines of theirs."""
    return [line for line in done.stderr.splitlines() if "haichi measure: error" in line]
