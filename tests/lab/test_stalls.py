"""No call of an exchange may take far longer than the library's slowest ("Stalls of ranks that
poll" in docs/notes.md): ranks share cores here, and waits that differ let one of them starve."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import mpis
import pytest
from haichi import lab, mpi
from haichi.lab import Lab

NAME = f"stalls-{os.getpid()}"
RANKS = 16
MOST = 3.0  # times the slowest call of the library's
pytestmark = pytest.mark.skipif(lab.why_not() is not None, reason=str(lab.why_not()))


@pytest.fixture
def four() -> Iterator[Lab]:
    """Four nodes at 100 Mbit/s."""
    made = Lab.up(4, "100mbit", NAME)
    yield made
    made.down()


def seconds(where: Lab, calls: int, size: int, timeout: float, **settings: str) -> list[float]:
    """Of each call, on its last rank; stock without settings."""
    which = mpi.find("openmpi")
    program = mpis.BUILD / "bin" / "exchange-openmpi"
    if not program.exists():
        pytest.skip(f"no {program}: ./haichi build")
    argv = [str(program), "alltoallv", str(size), str(calls)]
    if settings:
        argv = [str(mpis.BUILD / "bin" / "haichi"), "run", *argv]
    done = where.run(which, RANKS, argv, settings, timeout=timeout, mapping="RR")
    assert done.code == 0, done.err
    results = json.loads(done.out)["results"]
    return [each["seconds"] for each in results if each["op"] == "last rank"]


@pytest.mark.slow
def test_an_algorithm_of_small_messages_does_not_stall(four: Lab) -> None:
    """Ranks that polled let one starve in two of three such jobs, for up to a minute."""
    stock = seconds(four, 12, 65536, 60)
    taken = seconds(four, 15, 65536, 60, HAICHI_COLLECTIVES_ALGORITHM="ring_light_barrier")
    assert max(taken) <= MOST * max(stock)


@pytest.mark.long
@pytest.mark.parametrize(("size", "calls", "budget"), [(8192, 2000, "2"), (196608, 96, "100")])
def test_no_call_of_thousands_stalls(four: Lab, size: int, calls: int, budget: str) -> None:
    """Trials and what they find, as by default; where calls are few, trials of everything."""
    stock = seconds(four, calls, size, 500)
    taken = seconds(four, calls, size, 500, HAICHI_COLLECTIVES_BUDGET=budget)
    assert max(taken) <= MOST * max(stock)
