"""What must cross the links, against counting byte by byte and trying every assignment."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from haichi.figures import links
from haichi.figures.network import PATTERNS
from haichi.figures.patterns import Block3d, Contiguous, Hpio, Pattern, cells

UNEVEN = [0, 0, 1, 1, 1, 2]
SHAPES: list[Pattern] = [
    Hpio(6, 7, 24, 9),
    Hpio(6, 7, 24, 9, layout="contiguous"),
    Block3d((4, 6, 5), (2, 3, 1)),
    cells(6, (2, 4, 6)),
    Contiguous(6, 500),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("piece", [1, 100, 64 << 10])
def test_held_counts_byte_by_byte(shape: Pattern, piece: int) -> None:
    expected = np.zeros((-(-shape.file_bytes // piece), 3), dtype=np.int64)
    for rank, node in enumerate(UNEVEN):
        for begin in shape.begins(rank):
            for x in range(begin, begin + shape.piece):
                expected[x // piece, node] += 1
    assert np.array_equal(links.held(shape, UNEVEN, piece), expected)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("chosen", [[0], [0, 2], [0, 1], [1, 3, 5], [5, 0, 3, 1]])
def test_crossing_counts_byte_by_byte(shape: Pattern, chosen: list[int]) -> None:
    expected = np.zeros((3, 3), dtype=np.int64)
    domain = -(-shape.file_bytes // len(chosen))
    for rank, node in enumerate(UNEVEN):
        for begin in shape.begins(rank):
            for x in range(begin, begin + shape.piece):
                expected[node, UNEVEN[chosen[x // domain]]] += 1
    assert np.array_equal(links.even_cut(shape, UNEVEN, chosen), expected)


def test_busiest_counts_both_directions_and_not_what_stays() -> None:
    assert links.busiest(np.array([[9, 1, 2], [3, 9, 0], [4, 0, 9]])) == 7  # into node 0
    assert links.busiest(np.array([[9, 3, 4], [1, 9, 0], [2, 0, 9]])) == 7  # out of node 0


# The least busiest link


def least_of_all(pieces: np.ndarray) -> int:
    """The best of all assignments of whole pieces."""
    nodes = range(pieces.shape[1])
    owners = itertools.product(nodes, repeat=len(pieces))
    return min(links.busiest(links.crossing(pieces, owner)) for owner in owners)


def test_bound_is_never_above_the_best_assignment() -> None:
    rng = np.random.default_rng(7)
    for _ in range(60):
        pieces = rng.integers(0, 100, (rng.integers(1, 7), rng.integers(2, 4)))
        pieces[rng.random(pieces.shape) < 0.3] = 0
        assert links.least_busiest(pieces) <= least_of_all(pieces) + 1e-6


def test_bound_is_near_where_pieces_are_many() -> None:
    """Each piece many times, so that whole pieces are as good as fractions of them."""
    rng = np.random.default_rng(8)
    for _ in range(6):
        kinds = rng.integers(0, 100, (2, 2))
        pieces = np.repeat(kinds, 6, axis=0)
        best = least_of_all(pieces)
        assert 0.9 * best - 5 <= links.least_busiest(pieces) <= best + 1e-6


def test_bound_of_one_node_that_has_everything_is_nothing() -> None:
    assert links.least_busiest(np.array([[10, 0], [20, 0]])) == 0


def test_bound_sees_the_link_that_is_the_bottleneck() -> None:
    """Node 0 has half of every piece: what it does not take leaves it, and of what it takes the
    other half enters it. Best is to take half of the pieces; the mean over all links is less."""
    pieces = np.array([[3, 1, 1, 1]] * 40)
    assert links.least_busiest(pieces) == pytest.approx(pieces.sum() / 4, rel=0.02)


# The cases that are measured


def test_limit_of_the_standard_case() -> None:
    nodes = [rank // 4 for rank in range(16)]
    rate = links.bytes_per_second("100mbit")
    spread, packed = (links.aggregators(nodes, layout, 4) for layout in ("roundrobin", "packed"))
    assert (spread, packed) == ([0, 4, 8, 12], [0, 1, 2, 3])
    # A node holds a quarter of the bytes and needs a quarter of the file: 3/4 of what it has goes.
    for chosen, seconds in ((spread, 1.348), (packed, 4 * 1.348)):
        moved = links.busiest(links.even_cut(Hpio(16), nodes, chosen))
        assert moved / rate == pytest.approx(seconds, rel=0.002)


@pytest.mark.parametrize(("nodes", "quarter"), [(4, 3 / 16), (8, 7 / 64)])
@pytest.mark.parametrize("mapping", ["BK", "RR"])
def test_interleaved_regions_must_cross_wherever_they_go(
    nodes: int, quarter: float, mapping: str
) -> None:
    shape = PATTERNS["hpio"]
    where = [r % nodes if mapping == "RR" else r * nodes // 16 for r in range(16)]
    payload = 16 * 1500 * 3744
    # A piece of 64 KiB begins and ends within a turn of the ranks, so that some have a little more.
    assert links.least_busiest(links.held(shape, where)) == pytest.approx(
        payload * quarter, rel=0.1
    )


def test_cuts_follow_the_pattern() -> None:
    assert links.cuts(Hpio(16)) == [65536, 2 * 16 * 4000]
    assert links.cuts(PATTERNS["ghost"]) == [65536, 192 * 192 * 8 // 4]
    assert links.cuts(Contiguous(6, 500)) == [65536, 132 * 500]


def test_half_planes_of_one_node_need_not_cross() -> None:
    """Two ranks of a node have half of a plane, which is not a whole number of 64 KiB."""
    where = [rank // 2 for rank in range(16)]
    coarse, own = (links.held(PATTERNS["ghost"], where, n) for n in links.cuts(PATTERNS["ghost"]))
    assert links.least_busiest(coarse) > 0
    assert links.least_busiest(own) == 0


@pytest.mark.parametrize("nodes", [4, 8])
@pytest.mark.parametrize("mapping", ["BK", "RR"])
def test_contiguous_bytes_need_not_cross(nodes: int, mapping: str) -> None:
    where = [r % nodes if mapping == "RR" else r * nodes // 16 for r in range(16)]
    assert links.least_busiest(links.held(PATTERNS["contiguous"], where)) == 0


def test_aggregators_of_unequal_nodes() -> None:
    nodes = [0, 1, 1, 2, 0]
    assert links.aggregators(nodes, "roundrobin", 5) == [0, 1, 3, 4, 2]
    assert links.aggregators(nodes, "packed", 5) == [0, 4, 1, 2, 3]
    assert links.aggregators(nodes, "roundrobin", 0) == [0, 1, 3]
