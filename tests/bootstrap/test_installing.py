"""`./haichi install`: what it puts in place, what it takes away, and what it leaves alone."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from haichi_bootstrap import building, installing
from haichi_bootstrap.shell import Stop

VERSION = {"bin/haichi": "1", "lib/haichi/bin/haichi": "1", "share/doc/haichi/LICENSE": "1"}


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What `cmake --install` would put into the tree, as name to content."""
    files = dict(VERSION)

    def stage(folder: Path, into: Path) -> None:
        for name, text in files.items():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            (into / name).write_text(text)

    monkeypatch.setattr(installing, "_stage", stage)
    monkeypatch.setattr(building, "alone", contextlib.nullcontext)
    monkeypatch.setattr(building, "set_up", lambda groups: [])
    monkeypatch.setattr(building, "build", lambda target: Path("build"))
    return files


def files(prefix: Path) -> dict[str, str]:
    return {
        str(p.relative_to(prefix)): p.read_text()
        for p in prefix.rglob("*")
        if p.is_file() and p.name != "manifest"
    }


def test_installs_and_removes_without_a_trace(built: dict[str, str], tmp_path: Path) -> None:
    prefix = tmp_path / "new" / "prefix"
    installing.install(prefix)
    assert files(prefix) == VERSION
    installing.remove(prefix)
    assert list(prefix.iterdir()) == []


def test_what_else_lies_in_the_prefix_stays(built: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "other").write_text("theirs")
    installing.install(tmp_path)
    installing.remove(tmp_path)
    assert files(tmp_path) == {"bin/other": "theirs"}


def test_a_later_version_leaves_nothing_of_an_earlier_one(
    built: dict[str, str], tmp_path: Path
) -> None:
    installing.install(tmp_path)
    running = open(tmp_path / "lib/haichi/bin/haichi")  # noqa: SIM115 (as a job has it)
    built.clear()
    built.update({"bin/haichi": "2", "lib/haichi/bin/haichi": "2 and longer", "lib/haichi/new": ""})
    installing.install(tmp_path)
    assert files(tmp_path) == built
    assert running.read() == "1"
    running.close()


def test_a_file_of_somebody_else_is_not_overwritten(built: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "haichi").write_text("a program of theirs")
    with pytest.raises(Stop, match="bin/haichi is there and was not installed by"):
        installing.install(tmp_path)
    assert files(tmp_path) == {"bin/haichi": "a program of theirs"}


def test_what_was_interrupted_can_be_removed(
    built: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moves = 0
    replace = installing.os.replace

    def interrupted(source: Path, target: Path) -> None:
        nonlocal moves
        moves += 1
        if moves == 3:  # behind the manifest and one file
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(installing.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        installing.install(tmp_path)
    assert len(files(tmp_path)) == 1
    installing.remove(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_prefix_that_cannot_be_preloaded_from_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Stop, match="no path with a blank or a colon"):
        installing.install(tmp_path / "my programs")
    assert list(tmp_path.iterdir()) == []


def test_nothing_installed_is_said(tmp_path: Path) -> None:
    with pytest.raises(Stop, match="no haichi is installed in"):
        installing.remove(tmp_path)


@pytest.mark.parametrize("line", ["/etc/passwd", "../outside"])
def test_a_manifest_that_was_changed_removes_nothing_outside(line: str, tmp_path: Path) -> None:
    manifest = tmp_path / installing.MANIFEST
    manifest.parent.mkdir(parents=True)
    manifest.write_text(f"{line}\n")
    with pytest.raises(Stop, match="which is outside"):
        installing.remove(tmp_path)
