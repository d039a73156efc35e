"""Large reads that are split give what the plain call would have given, under every fault."""

from __future__ import annotations

import os
from pathlib import Path

import mpis
import numpy as np
import pytest
from split_io import linked

SIZE = 4 << 20


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(__file__).with_name("split_read.c")
    return linked(source, tmp_path_factory.mktemp("split-read"), *mpis.thread_flags())


@pytest.mark.parametrize(
    "case",
    [
        *("memory", "files", "processor", "fork", "leap", "interrupted"),
        *("forbidden", "threads", "truncated"),
    ],
)
def test_a_fault(program: Path, tmp_path: Path, case: str) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor: nothing is split")
    index = np.arange(SIZE, dtype=np.uint64)
    file = tmp_path / "data"
    (index * 7 + index // 4096).astype(np.uint8).tofile(file)
    done = mpis.run_bounded([program, case, file], timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "right\n", "")
