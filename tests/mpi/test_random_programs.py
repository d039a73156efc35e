"""A few of the random programs of random_programs.py; thousands of them are run by hand."""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest
import random_programs
from mpis import Mpi
from random_programs import Broken, Program, Seen


@pytest.fixture(params=mpis.slow_but(["openmpi-4.1.4"], mpis.all_mpis()), ids=str)
def any_mpi(request: pytest.FixtureRequest) -> Mpi:
    mpi = request.param
    if mpi.missing:
        pytest.skip(mpi.missing)
    if mpi not in random_programs.usable():
        pytest.skip(f"no haichi-replay-{mpi.abi} in this build: no MPI of that ABI then")
    return mpi


def judged(program: Program, folder: Path) -> Seen:
    seen = Seen()
    random_programs.judge(program, seen, folder)
    return seen


@pytest.mark.parametrize("number", mpis.slow_but([5], [4, 5, 7]))
def test_what_is_done_with_a_random_program(any_mpi: Mpi, number: int, tmp_path: Path) -> None:
    """It comes out as without haichi, and its record is shown, predicted, advised on, exported and
    replayed."""
    seen = judged(Program(number, random_programs.SEED, any_mpi), tmp_path)
    assert seen.failed == {}
    if seen.library:
        pytest.skip(f"{any_mpi.name} alone does not do it twice alike")
    assert seen.passed == 1


def test_a_probed_message_has_its_communicator(any_mpi: Mpi, tmp_path: Path) -> None:
    """MPI_Mrecv and MPI_Imrecv are given a message alone; who sent it on which communicator is what
    the probe has found."""
    program = Program(22, random_programs.SEED, any_mpi, "any-source", alone=True)
    expected = random_programs.run(program, tmp_path)
    record = random_programs.recorded(program, tmp_path, expected, "--sequence")
    lines = random_programs.lines_of(record)
    events = [event for line in lines if line["kind"] == "sequence" for event in line["events"]]
    received = [event for event in events if event["call"] in {"MPI_Mrecv", "MPI_Imrecv"}]
    assert {event["call"] for event in received} == {"MPI_Mrecv", "MPI_Imrecv"}
    assert all(event["comm"] >= 0 for event in received)
    assert all(isinstance(event["peer"], int) for event in received)
    random_programs.replayed(program, record, tmp_path)


def test_what_breaks_is_told(any_mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that lacks a call is a failure, and the MPI library is not blamed."""

    def lossy(path: Path) -> list[random_programs.Line]:
        raise Broken(f"{path}: a call is lost")

    monkeypatch.setattr(random_programs, "lines_of", lossy)
    seen = judged(Program(8, random_programs.SEED, any_mpi, "collectives", alone=True), tmp_path)
    assert (seen.passed, seen.library) == (0, {})
    assert "a call is lost" in seen.failed[8]
    assert list(tmp_path.glob("*/record1.jsonl")) == []
    assert list(tmp_path.glob("*/record0.jsonl")) != []
