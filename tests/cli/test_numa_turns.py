"""Several processes that read one cold file get it from storage once."""

from __future__ import annotations

import json
from pathlib import Path

import mpis
import pytest
from split_io import NUMAIO, needs

MIB = 1 << 20


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    needs(NUMAIO)


@pytest.mark.parametrize("processes", [1, 4])
def test_storage_gives_each_byte_once(tmp_path: Path, processes: int) -> None:
    words = ["--size", "48m", "--rounds", "1", "--processes", str(processes)]
    done = mpis.run_bounded([NUMAIO, "turns", tmp_path, *words], timeout=60)
    assert done.returncode == 0, done.stderr
    rounds = {each["way"]: each for each in map(json.loads, done.stdout.splitlines())}
    assert set(rounds) == {"plain", "turns"}
    if rounds["plain"]["storage_bytes"] == 0:
        pytest.skip("the file system of the temporary folder keeps all files in memory")
    assert 40 * MIB < rounds["turns"]["storage_bytes"] < 56 * MIB


@pytest.mark.parametrize(
    ("words", "code"),
    [([], 64), (["/", "--size", "x"], 64), (["/nosuch"], 78), (["/", "--processes", "0"], 64)],
)
def test_wrong_words_are_one_line(words: list[str], code: int) -> None:
    done = mpis.run_bounded([NUMAIO, "turns", *words], timeout=20)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
