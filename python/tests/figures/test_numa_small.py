"""`haichi figures numa-small`: both functions of a pair are what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from haichi import paths
from haichi.figures import numa_small
from haichi.figures.numa_small import WAYS


def test_each_way_gives_pairs_of_all_functions() -> None:
    for needed in ("bin/small-calls", "lib/libhaichi-posix.so"):
        if not (paths.build() / needed).exists():
            pytest.skip(f"no {needed} in this build")
    rows = numa_small.measure(2, 10)
    functions = {row["function"] for row in rows}
    assert functions == {"read", "pread", "readv", "fread", "write"}
    assert {(row["function"], row["way"]) for row in rows} == {
        (function, way) for function in functions for way in WAYS
    }
    for row in rows:
        assert row["stock_ns"] > 0
        assert len(row["more_ns"]) == 2


def test_what_is_not_built_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(paths, "program", lambda name: tmp_path / name)
    with pytest.raises(numa_small.Missing, match=r"small-calls: \./haichi build"):
        numa_small.blocks(tmp_path / "file", 10, None)
