"""The rule for commit messages."""

from __future__ import annotations

import pytest
from haichi_bootstrap import commits

BODY = "Problem: jobs hung when the last rank came late."


def test_a_message_as_it_should_be() -> None:
    assert list(commits.of_message("Wait for the last rank of a roll call", BODY)) == []


@pytest.mark.parametrize(
    ("subject", "body", "problem"),
    [
        ("Jobs hung when a rank came late", BODY, "imperative"),
        ("Waiting for the last rank", BODY, "imperative"),
        ("Wait for the last rank.", BODY, "full stop"),
        ("Wait " + "long " * 20, BODY, "characters"),
        ("Wait for the last rank", "They hung.", "'Problem: '"),
    ],
)
def test_what_is_said_of_others(subject: str, body: str, problem: str) -> None:
    (said,) = commits.of_message(subject, body)
    assert problem in said
