"""What is said of the times of two ways."""

from __future__ import annotations

import pytest
from haichi.compare.result import Runs, headline


def runs(whole: list[float], access: list[float], calls: int = 1) -> Runs:
    made = Runs(whole=whole, access=access)
    made.reports = [Counted(calls)]  # type: ignore[list-item]
    return made


class Counted:
    """As much of a report as is asked for the number of calls."""

    def __init__(self, calls: int) -> None:
        self.calls = calls

    def access_calls(self) -> int:
        return self.calls


@pytest.mark.parametrize(
    ("stock", "haichi", "said"),
    [
        (([2.6], [4.9]), ([2.0], [1.0]), "4.9× faster in collective file access, 1.30× faster as"),
        (([1.0], [1.0]), ([1.1], [2.5]), "2.5× slower in collective file access, 1.10× slower as"),
        (
            ([1.0, 1.3], [2.0, 2.1]),
            ([1.2, 1.1], [1.0, 1.1]),
            "2.0× faster in collective file access, no difference that can be told as a whole",
        ),
        (
            ([1.0] * 5, [2.0, 2.0, 2.1, 2.1, 0.5]),
            ([1.0] * 5, [1.0, 1.0, 1.0, 1.0, 9.0]),
            "2.0× faster in collective file access, no difference that can be told as a whole",
        ),
    ],
)
def test_the_first_line(stock, haichi, said: str) -> None:
    assert headline(runs(*stock), runs(*haichi)).startswith(said)


def test_without_a_collective_access_only_the_whole_is_told() -> None:
    line = headline(runs([2.0], [0.0], calls=0), runs([1.0], [0.0], calls=0))
    assert line == "2.0× faster as a whole; the program has no collective file access"
