"""`haichi map` and the figures made of it."""

from __future__ import annotations

import itertools
import json
import random

import mpis
import pytest
from haichi.figures import mapping
from haichi.record.model import Cart


def haichi_map(text: str) -> tuple[int, str, str]:
    done = mpis.run_bounded([mpis.HAICHI, "map"], stdin=text, timeout=60)
    return done.returncode, done.stdout, done.stderr


def test_seats_of_a_graph() -> None:
    placement = {"schema": "haichi.placement/1", "nodes": [{"ranks": "0-1"}, {"ranks": "2-3"}]}
    question = {"placement": placement, "edges": [[0, 2, 10], [1, 3, 10], [0, 1, 1]]}
    code, out, error = haichi_map(json.dumps(question))
    assert (code, error) == (0, "")
    answer = json.loads(out)
    assert answer["given"] == {"between_nodes": 20, "busiest_node": 20, "between_numa": 0}
    assert answer["mapped"] == {"between_nodes": 1, "busiest_node": 1, "between_numa": 0}
    assert answer["seats"][0] == 0
    assert {answer["seats"][0], answer["seats"][2]} == {0, 1}


@pytest.mark.parametrize("text", ["", "[]", '{"placement": {}}', '{"placement": 7, "edges": []}'])
def test_wrong_questions_are_one_line(text: str) -> None:
    code, out, error = haichi_map(text)
    assert (code, out, error.count("\n")) == (78, "", 1)
    assert error.startswith("haichi: error: map: ")


def test_a_dozen_ranks_are_mapped_as_well_as_can_be() -> None:
    for extents, closes, sizes in (
        ((4, 3), (False, False), (4, 4, 4)),
        ((3, 4), (True, False), (6, 4, 2)),
        ((2, 2, 2), (True, False, True), (3, 3, 2)),
    ):
        row = mapping.measure(extents, closes, sizes)
        assert row.tried
        assert row.ours == row.least <= min(row.block, row.round_robin)


@pytest.mark.slow
def test_random_grids_are_never_worse() -> None:
    drawn = mapping.draw(40, seed=3)
    assert drawn.worse == 0
    assert drawn.better > 10
    assert drawn.mean < 1


def test_no_division_goes_below_the_bound() -> None:
    """Of all divisions of small grids, and of random ones of larger grids."""
    for extents, closes in (((3, 3), (False, False)), ((2, 4), (False, False))):
        ranks = extents[0] * extents[1]
        grid = Cart(dims=list(extents), periods=list(closes))
        for first in range(1, ranks):
            sizes = (first, ranks - first)
            assert mapping.best(grid, sizes) >= mapping.bound(extents, closes, sizes) - 1e-9
    draws = random.Random(5)
    for closes in itertools.product((False, True), repeat=2):
        grid = Cart(dims=[6, 6], periods=list(closes))
        for _ in range(20):
            part = [rank // 6 // 2 * 2 + rank % 6 // 3 for rank in range(36)]  # 2 x 3 blocks
            for _ in range(draws.randrange(4)):
                a, b = draws.randrange(36), draws.randrange(36)
                part[a], part[b] = part[b], part[a]
            sizes = [part.count(p) for p in sorted(set(part))]
            cut = sum(
                part[rank] != part[other]
                for rank in range(36)
                for other in mapping.neighbours(grid, rank)
            )
            assert cut >= mapping.bound((6, 6), closes, sizes) - 1e-9
