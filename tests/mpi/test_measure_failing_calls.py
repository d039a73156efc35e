"""A call that fails on one rank in the middle of `haichi measure`: its point alone is lost, all
ranks go on together, and nothing is left behind."""

from __future__ import annotations

import re
from pathlib import Path

import mpis
import pytest
from measure_support import (
    INCOMPLETE,
    complaints,
    lines,
    measurable,
    measure_with_fault,
    points,
    reason_left_out,
)
from mpis import Mpi

LATER = 12  # calls into it: behind the first one, which stands for whether it can be done at all
MANY = 1000  # which a busy machine needs its time for


@pytest.fixture(params=mpis.all_mpis()[:2], ids=str)
def stock(request: pytest.FixtureRequest) -> Mpi:
    """The distribution's MPIs."""
    return measurable(request.param)


# What is measured, the call that fails, whether it is made, how many were before, more words.
Fault = tuple[str, str, bool, int, tuple[str, ...]]
ONE_OF_EACH_KIND: list[Fault] = [
    # Of a collective call.
    ("allgather", "Allgather", True, LATER, ("--start", "barrier")),
    # What a rank does, or does not do, by itself, among calls that all make.
    ("get-fence", "Win_fence", True, LATER, ()),
    ("file-write-at", "File_write_at", False, LATER, ()),
]
OTHERS: list[Fault] = [
    # Behind a common clock.
    ("allgather", "Allgather", True, LATER, ("--start", "window")),
    # Of calls whose time is the first rank's, many in a sample. The harness sends, too.
    ("ping-pong", "Send", True, MANY, ()),
    # Before a sample's call, and behind it.
    ("file-sync", "File_write_at", False, LATER, ()),
    ("file-open", "File_close", True, LATER, ()),
    # With names in the folder that the others don't know.
    ("files-create", "File_open", False, LATER, ()),
]


@pytest.mark.parametrize(
    "fault",
    mpis.slow_but(ONE_OF_EACH_KIND, ONE_OF_EACH_KIND + OTHERS),
    ids=lambda fault: "-".join((*fault[:2], *fault[4][1:])),
)
@pytest.mark.parametrize("rank", mpis.slow_but([1], [0, 1]))
def test_a_later_call_fails_its_point_alone(
    stock: Mpi, tmp_path: Path, fault: Fault, rank: int
) -> None:
    name, function, made, call, more = fault
    words = [name, "barrier", "--size", "4k", *more]
    words += ["--budget", "3" if call == MANY else "0.5"]
    made_text = str(int(made))
    done, out = measure_with_fault(
        stock, tmp_path, words, function, rank=rank, made=made_text, call=call
    )
    reason = reason_left_out(done, out, name)
    assert re.search(rf"(?i)space.* \(rank {rank}\)$", reason)
    assert re.search(rf"{name} of \d+ bytes .* can't be measured: .* \(rank {rank}\)", done.stderr)


def test_giving_back_what_was_made_may_fail(stock: Mpi, tmp_path: Path) -> None:
    words = ["file-seek", "--budget", "0.5"]
    done, out = measure_with_fault(stock, tmp_path, words, "File_close", rank=1, made="1", call=1)
    assert done.returncode == INCOMPLETE, done.stderr
    assert points(out) == {}
    assert [each["name"] for each in lines(out) if each["kind"] == "left"] == ["file-seek"]


def test_a_rank_that_others_wait_for_says_why(stock: Mpi, tmp_path: Path) -> None:
    """A collective call that one rank never made can't be ended by any: the job is, in good time,
    with what failed; what was measured before is kept."""
    words = ["allgather", "--size", "8", "--patience", "3", "--budget", "0.5"]
    done, out = measure_with_fault(
        stock, tmp_path, words, "Allgather", rank=1, made="0", call=LATER
    )
    assert done.returncode not in (0, None)
    says = r"allgather failed on a rank \(.*\), and others waited for it for 3 s \(--patience\)"
    assert any(re.search(says, line) for line in complaints(done)), done.stderr
    assert [each["kind"] for each in lines(out)] == ["launch"]
