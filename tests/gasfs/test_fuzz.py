"""Frames and ring entries that are random or almost right do no harm (fuzz/), nor does what
libFuzzer has found so far (docs/guide/testing.md); AddressSanitizer watches in
`./haichi test --sanitize address,undefined`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from mpis import BUILD, run_bounded


@pytest.mark.parametrize("target", ["frames", "ring"])
def test_inputs_that_are_almost_right(target: str, tmp_path: Path) -> None:
    program = BUILD / f"bin/gasfs-fuzz-{target}"
    if not program.exists():
        pytest.skip("this build has no gather file system: ./haichi doctor says what it needs")
    corpus = tmp_path / "corpus"
    shutil.unpack_archive(Path(__file__).parent / f"fuzz/corpus-{target}.tar.xz", corpus)
    words: list[str | Path] = [program, "--runs", "20000", "--seconds", "20", "--seed", "1", corpus]
    done = run_bounded(words, timeout=100, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "inputs of seed 1" in done.stdout
