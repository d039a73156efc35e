"""A job in which a rank was started without haichi: the others don't wait for it for ever, say who
it is, and the program goes on as without haichi."""

from __future__ import annotations

import re
from pathlib import Path

import mpis
import pytest
from mpis import Mpi

HERE = Path(__file__).parent
RANKS = 4
# Takes the shim from one rank, as an environment that the launcher does not pass on would.
START = """
rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}
if [ "$rank" = "$1" ]; then export LD_PRELOAD="$2"; fi
shift 2
exec "$@"
"""


def without_haichi(mpi: Mpi, lone: int, argv: list[str | Path]) -> list[str | Path]:
    others = mpi.stock().get("LD_PRELOAD", "")
    return ["sh", "-c", START, "start", str(lone), others, *argv]


@pytest.mark.parametrize("lone", mpis.slow_but([0], range(RANKS - 1)))
def test_one_rank_without_haichi(mpi: Mpi, lone: int, tmp_path: Path) -> None:
    argv = [mpi.compile(HERE / "lone_rank.c"), tmp_path / "data"]
    env = mpi.preload(HAICHI_START_WAIT="1", HAICHI_REPORT=str(tmp_path / "report.json"))
    done = mpi.run(RANKS, without_haichi(mpi, lone, argv), env, timeout=60, check=True)
    assert done.stdout.count("right") == RANKS
    first, last = re.findall(rf"no answer in (\S+) s from rank {lone} of the job", done.stderr)
    assert 0.1 < float(first) < 1 and last == "1"
    assert not (tmp_path / "report.json").exists()


def test_last_rank_without_haichi(mpi: Mpi, tmp_path: Path) -> None:
    """It has been sent messages by all others: the job ends before they do harm."""
    argv = [mpi.compile(HERE / "lone_rank.c"), tmp_path / "data"]
    env = mpi.preload(HAICHI_START_WAIT="1")
    done = mpi.run(RANKS, without_haichi(mpi, RANKS - 1, argv), env, timeout=60)
    assert done.returncode not in (0, 124)
    assert "right" not in done.stdout
    assert f"no answer in 2 s from rank {RANKS - 1} of the job" in done.stderr


def test_one_rank_with_haichi_switched_off(mpi: Mpi, tmp_path: Path) -> None:
    start = START.replace('LD_PRELOAD="$2"', "HAICHI_DISABLE=1")
    argv = ["sh", "-c", start, "start", "1", "", mpi.compile(HERE / "lone_rank.c")]
    env = mpi.preload(HAICHI_START_WAIT="1")
    done = mpi.run(RANKS, [*argv, tmp_path / "data"], env, timeout=60, check=True)
    assert done.stdout.count("right") == RANKS
    assert "no answer in 1 s from rank 1 of the job" in done.stderr


@pytest.mark.parametrize("other", mpis.slow_but([RANKS - 1], [0]))
def test_one_rank_with_another_version(mpi: Mpi, other: int, tmp_path: Path) -> None:
    """A site that puts a new version in place while a job starts: nobody takes part in what the
    other one means by it."""
    env = mpi.preload(HAICHI_START_WAIT="1", HAICHI_REPORT=str(tmp_path / "report.json"))
    own = [word for word in env["LD_PRELOAD"].split(":") if "libhaichi" in word]
    later = tmp_path / Path(own[0]).name
    text = Path(own[0]).read_bytes()
    # Where it begins, another text may end without a zero between.
    assert text.count(b"0.1.0\0") == 1
    later.write_bytes(text.replace(b"0.1.0\0", b"0.9.9\0"))
    preload = env["LD_PRELOAD"].replace(own[0], str(later))
    argv = [mpi.compile(HERE / "lone_rank.c"), tmp_path / "data"]
    started = ["sh", "-c", START, "start", str(other), preload, *argv]
    done = mpi.run(RANKS, started, env, timeout=60, check=True)
    assert done.stdout.count("right") == RANKS
    assert "has another version of haichi than this one" in done.stderr
    assert not (tmp_path / "report.json").exists()


@pytest.mark.slow
def test_nobody_gives_up_on_one_that_has_answered(mpi: Mpi, tmp_path: Path) -> None:
    """Ranks that waited for the last word of the roll call went on without haichi, and the others
    with it: they waited for each other for ever."""
    late = mpi.compile(HERE / "late_word.c", "-shared", "-fPIC", "-ldl")
    argv = [mpi.compile(HERE / "lone_rank.c"), tmp_path / "data"]
    report = tmp_path / "report.json"
    env = mpi.preload(late, HAICHI_START_WAIT="1", HAICHI_REPORT=str(report))
    done = mpi.run(RANKS, argv, env, timeout=60, check=True)
    assert done.stdout.count("right") == RANKS
    assert "no answer" not in done.stderr and report.exists()


def test_all_with_haichi(mpi: Mpi, tmp_path: Path) -> None:
    """That nobody is missed who is there; as many as have a tree of more than one branch."""
    ranks = 6 if mpi.abi != "openmpi" else 40
    argv = [mpi.compile(HERE / "lone_rank.c"), tmp_path / "data"]
    env = mpi.preload(HAICHI_REPORT=str(tmp_path / "report.json"))
    done = mpi.run(ranks, argv, env, timeout=100, check=True)
    assert done.stdout.count("right") == ranks
    assert "no answer" not in done.stderr
    assert (tmp_path / "report.json").exists()
