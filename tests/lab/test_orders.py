"""The all-to-all in issue orders: the program, the lists that it takes, and what is made of it."""

from __future__ import annotations

import json
from pathlib import Path

import mpis
import pytest
from haichi.figures import issue_orders
from haichi.figures.model import Case, Samples


def lists(order: str, nodes: str) -> list[list[int]]:
    """What bin/issue-orders prints."""
    tool = mpis.BUILD / "bin" / "issue-orders"
    if not tool.exists():
        pytest.skip(f"{tool} is not built: ninja issue-orders")
    done = mpis.run_bounded([str(tool), order, nodes], check=True)
    return [[int(word) for word in line.split()] for line in done.stdout.splitlines()]


def test_the_orders_are_the_papers() -> None:
    """Rank 1 of the paper's Figs. 4 to 7, on 2 nodes of 3 ranks."""
    blocks = "0,0,0,1,1,1"
    assert lists("rank", blocks)[1] == [0, 1, 2, 3, 4, 5]
    assert lists("pairwise", blocks)[1] == [1, 2, 3, 4, 5, 0]
    assert lists("nd_shift", blocks)[1] == [3, 4, 5, 0, 1, 2]
    assert lists("nd_rank_shift", blocks)[1] == [4, 5, 3, 1, 2, 0]
    assert lists("nd_shift", "0,1,0,1")[0] == [1, 3, 0, 2]


@pytest.mark.parametrize("nodes", ["", "0,", "0,-1", "0 1"])
def test_bad_nodes_are_refused(nodes: str) -> None:
    done = mpis.run_bounded([str(mpis.BUILD / "bin" / "issue-orders"), "rank", nodes])
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("window", [0, 1, 2])
@pytest.mark.parametrize("order", ["rank", "nd_rank_shift"])
def test_every_message_arrives(mpi: mpis.Mpi, order: str, window: int, tmp_path: Path) -> None:
    file = tmp_path / "orders"
    text = "\n".join(" ".join(map(str, peers)) for peers in lists(order, "0,0,1,1"))
    file.write_text(text)
    words = [str(mpi.bench("alltoall")), str(file), "1000", str(window), "2"]
    line = json.loads(mpi.run(4, words, mpi.stock(), timeout=60, check=True).stdout)
    assert [(r["op"], r["wrong_bytes"]) for r in line["results"]] == [
        ("last rank", 0),
        ("first rank", 0),
    ] * 2
    for last, first in zip(line["results"][::2], line["results"][1::2], strict=True):
        assert last["seconds"] >= first["seconds"] > 0


@pytest.mark.parametrize("text", ["", "0 1\n0 2\n", "0 1\n1\n", "0 1\n1 1\n"])
def test_a_list_that_does_not_fit_is_refused(mpi: mpis.Mpi, text: str, tmp_path: Path) -> None:
    file = tmp_path / "orders"
    file.write_text(text)
    done = mpi.run(2, [str(mpi.bench("alltoall")), str(file), "10", "0", "1"], timeout=60)
    assert done.returncode != 0
    assert "no such list for every rank" in done.stderr


def test_claims() -> None:
    def case(title: str, variant: str, seconds: float) -> Case:
        return Case(
            mpi="m",
            library="",
            program=title,
            ranks=16,
            variant=variant,
            settings={},
            operations={"last rank": Samples(seconds=[seconds])},
        )

    made = [
        case("BK, 4 sends outstanding, 1 KiB", "rank", 1.2),
        case("BK, 4 sends outstanding, 1 KiB", "nd_rank_shift", 1.0),
        case("RR, 4 sends outstanding, 1 KiB", "rank", 1.2),
        case("RR, 4 sends outstanding, 1 KiB", "nd_rank_shift", 1.0),
    ]
    blocks, robin = issue_orders.claims(made)
    assert (blocks.ratio, blocks.reached) == (1.2, False)
    assert (robin.ratio, robin.reached) == (1.2, True)
