"""The virtual environments and how the bootstrap makes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from haichi_bootstrap import environments, paths, shell
from haichi_bootstrap.environments import Environment


def test_a_folder_that_is_a_link_is_not_cleared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is another checkout's environment, seen from here."""
    theirs, link = tmp_path / "theirs", tmp_path / ".venv-other"
    theirs.mkdir()
    (theirs / "kept").write_text("theirs")
    link.symlink_to(theirs)
    monkeypatch.setattr(environments, "wanted", lambda: [Environment(link, (), "a test")])
    monkeypatch.setattr(paths, "OUT", tmp_path / "out")
    begun: list[object] = []
    monkeypatch.setattr(shell, "must", lambda command, *_: begun.append(command))
    with pytest.raises(shell.Stop, match=rf"{link} is a link to {theirs}, .*remove the link"):
        environments.provide()
    assert begun == []
    assert (theirs / "kept").read_text() == "theirs"
