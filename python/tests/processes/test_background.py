"""A program beside the one that started it runs as long as the block, whatever becomes of that."""

from __future__ import annotations

from pathlib import Path

import pytest
from haichi_processes import background


def test_it_is_ended_with_the_block(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with background.running(["sh", "-c", "echo here; exec sleep 60"], log, 10) as runs:
        assert runs()
        while log.read_text() != "here\n":
            assert runs()
    assert not runs()


def test_one_that_does_not_end_is_killed(tmp_path: Path) -> None:
    words = ["sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 0.1; done"]
    log = tmp_path / "log"
    with pytest.raises(KeyError), background.running(words, log, 0.3) as runs:
        while log.read_text() != "deaf\n":
            assert runs()
        raise KeyError
    assert not runs()


def test_one_that_ends_by_itself_is_seen(tmp_path: Path) -> None:
    with background.running(["true"], tmp_path / "log", 10) as runs:
        while runs():
            pass
