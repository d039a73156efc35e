"""A call that fails on one rank while `haichi measure` sets up a measurement: all ranks leave the
set-up together, with one line, what was made is given back, and the others are measured."""

from __future__ import annotations

import re
from pathlib import Path

import mpis
import pytest
from measure_support import measurable, measure_with_fault, reason_left_out
from mpis import Mpi

# Of a collective call that reports a failure at its end, and of one that a rank makes by itself.
AT_ITS_END, NOT_MADE = "1", "0"


@pytest.fixture(params=mpis.all_mpis()[:2], ids=str)
def stock(request: pytest.FixtureRequest) -> Mpi:
    """The distribution's MPIs."""
    return measurable(request.param)


def left_over(stem: Path) -> list[dict[str, int]]:
    """What each rank made and did not give back, by kind."""
    ranks = [Path(f"{stem}.{rank}").read_text().split() for rank in (0, 1)]
    return [dict(zip(words[::2], map(int, words[1::2]), strict=True)) for words in ranks]


def measure(mpi: Mpi, folder: Path, name: str, function: str, rank: int, made: str):
    words = [name, "barrier", "--size", "16k", "--budget", "0.5", "--patience", "20"]
    left = folder / "left"
    done, out = measure_with_fault(
        mpi, folder, words, function, rank=rank, made=made, call=1, NTH_CALL_LEFT=str(left)
    )
    return done, out, left_over(left)


def check_left_out(done, out: Path, name: str, function: str, rank: int) -> None:
    """That one measurement alone is left out, for one reason that is told once."""
    reason = reason_left_out(done, out, name)
    assert re.fullmatch(rf"MPI_{function}: .*(?i:space).* \(rank {rank}\)", reason)
    says = rf"{name} of \d+ bytes .* can't be measured: MPI_{function}: .* \(rank {rank}\)$"
    assert len(re.findall(says, done.stderr, re.MULTILINE)) == 1


# What is measured, the call that fails, how, and the kind of what was made.
Fault = tuple[str, str, str, str]
ONE_OF_EACH_KIND: list[Fault] = [
    ("put-fence", "Win_fence", AT_ITS_END, "window"),
    ("file-strided-write", "Type_vector", NOT_MADE, "file"),
    ("neighbor-alltoall", "Cart_create", AT_ITS_END, "communicator"),
    ("ping-pong-vector", "Type_commit", NOT_MADE, "datatype"),
]
OTHERS: list[Fault] = [
    ("put-fence", "Win_allocate", AT_ITS_END, "window"),
    ("put-flush", "Win_lock_all", NOT_MADE, "window"),
    ("pscw", "Group_incl", NOT_MADE, "window"),
    ("file-seek", "File_open", AT_ITS_END, "file"),
    ("file-write-at", "File_write_at", NOT_MADE, "file"),
    ("file-strided-write", "File_set_view", AT_ITS_END, "datatype"),
    ("intercomm-merge", "Intercomm_create", AT_ITS_END, "communicator"),
    ("ping-pong-vector", "Type_vector", NOT_MADE, "datatype"),
    ("ping-pong-persistent", "Recv_init", NOT_MADE, "request"),
]


@pytest.mark.parametrize(
    "fault",
    mpis.slow_but(ONE_OF_EACH_KIND, ONE_OF_EACH_KIND + OTHERS),
    ids=lambda fault: "-".join(fault[:2]),
)
@pytest.mark.parametrize("rank", mpis.slow_but([1], [0, 1]))
def test_what_was_made_is_given_back(stock: Mpi, tmp_path: Path, fault: Fault, rank: int) -> None:
    name, function, made, kind = fault
    done, out, left = measure(stock, tmp_path, name, function, rank, made)
    check_left_out(done, out, name, function, rank)
    assert any(kind in each for each in left)  # or nothing was looked at
    assert [{what for what, count in each.items() if count != 0} for each in left] == [set(), set()]


@pytest.mark.slow  # how it is given back is a quick test's
@pytest.mark.parametrize(
    ("name", "function", "kind"),
    [
        ("file-seek", "File_open", "file"),
        ("neighbor-alltoall", "Cart_create", "communicator"),
    ],
)
def test_what_a_rank_did_not_get_is_not_waited_for(
    stock: Mpi, tmp_path: Path, name: str, function: str, kind: str
) -> None:
    """Others can't give back alone what all made together: it is left, and nobody hangs in that."""
    done, out, left = measure(stock, tmp_path, name, function, 1, "lost")
    check_left_out(done, out, name, function, 1)
    assert left[0][kind] == 1


def test_all_is_given_back_where_nothing_fails(stock: Mpi, tmp_path: Path) -> None:
    """What the tests above count is not there anyway."""
    words = ["put-fence", "put-flush", "pscw", "file-seek", "file-strided-write"]
    words += ["neighbor-alltoall", "intercomm-merge", "ping-pong-vector", "ping-pong-persistent"]
    words += ["--size", "16k", "--budget", "2"]
    left = tmp_path / "left"
    done, _ = measure_with_fault(
        stock, tmp_path, words, "none", rank=0, made="1", call=1, NTH_CALL_LEFT=str(left)
    )
    assert done.returncode == 0, done.stderr
    for each in left_over(left):
        assert set(each) > {"window", "file", "communicator", "datatype", "group", "request"}
        assert set(each.values()) == {0}
