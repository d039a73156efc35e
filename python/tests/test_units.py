"""Sizes in words, and what is said of words that are none."""

from __future__ import annotations

import pytest
from haichi import cli
from haichi.units import NoSize, size_of
from typer.testing import CliRunner


def test_sizes_have_units() -> None:
    assert [size_of(t) for t in ("4096", "64k", "64KiB", "1M")] == [4096, 65536, 65536, 1 << 20]


@pytest.mark.parametrize("text", ["", "much", "-1", "1.5m", "1x"])
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(NoSize, match="is no size"):
        size_of(text)


@pytest.mark.parametrize("figure", ["numa-load", "numa-mixed"])
def test_a_figure_tells_it_in_one_line(figure: str) -> None:
    done = CliRunner().invoke(cli.app, ["figures", figure, "--size", "much"])
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == (
        "haichi figures: 'much' is no size: give bytes, such as 65536, 64k or 1M"
    )
