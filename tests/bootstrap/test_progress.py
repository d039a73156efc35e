"""How far a build is, read off what ninja prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from haichi_bootstrap import progress, shell

SAYS = r"printf '[1/4] Building CXX object src/mpi/a.cpp.o\nnoise\n[4/4] Linking b.so\n'"


def test_percent_what_and_time_left() -> None:
    line = progress.describe(25, 100, "Building CXX object CMakeFiles/x.dir/src/a/b.cpp.o", 10.0)
    assert line == " 25 %, about 30 s left: b.cpp"


def test_lines_that_are_apart_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    assert shell.run(["sh", "-c", SAYS], log=log, follow=progress.Progress()) == 0
    assert capsys.readouterr().out == ""  # all within 20 seconds
    monkeypatch.setattr(progress, "APART_S", 0.0)
    assert shell.run(["sh", "-c", SAYS], log=log, follow=progress.Progress()) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("     25 %") and first.endswith("a.cpp")
    assert last.startswith("    100 %, about 0 s left")
    assert "noise" in log.read_text()
