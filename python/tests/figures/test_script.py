"""What measurements with a command line of their own say of their samples."""

from __future__ import annotations

import pytest
from haichi.figures.script import Quartiles


def test_shows_where_the_middle_half_lies() -> None:
    found = Quartiles.of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    assert (found.low, found.middle, found.high) == (2.0, 4.0, 6.0)
    assert found.spread(".1f") == "[2.0-6.0]"
    assert found.spread("+.0f", " to ") == "[+2 to +6]"


@pytest.mark.parametrize(
    ("limit", "verdict"),
    [
        (1.9, "NOT reached"),
        (2.0, "not decided: the quartiles lie on both sides of it"),
        (5.9, "not decided: the quartiles lie on both sides of it"),
        (6.0, "reached"),
    ],
)
def test_claims_nothing_where_the_samples_do_not_tell(limit: float, verdict: str) -> None:
    assert Quartiles(2.0, 4.0, 6.0).verdict(limit) == verdict
