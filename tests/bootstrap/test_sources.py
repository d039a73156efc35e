"""How the sources of installed libraries are fetched."""

from __future__ import annotations

from pathlib import Path

import pytest
from haichi_bootstrap import packages, shell, sources


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with libraries of hdf5 1.2-3, and deps.txt that asks for their source."""
    wanted = packages.parse("[sources]\nhdf5 skip # tests\n")
    monkeypatch.setattr(packages, "of_groups", lambda groups: wanted)
    printed = "rc |hdf5|0.9-1\nii |zlib|1:1.2\nii |hdf5|1.2-3\n"
    monkeypatch.setattr(shell, "output", lambda command: printed)
    monkeypatch.setattr(sources, "FOLDER", tmp_path / "sources")
    monkeypatch.setattr(sources, "ETC_APT", tmp_path / "apt")
    monkeypatch.setattr(sources, "SDISTS", {})
    return tmp_path


def test_the_version_is_that_of_what_is_installed(machine: Path) -> None:
    assert sources.installed_version("hdf5") == "1.2-3"
    assert sources.installed_version("pnetcdf") is None


def test_what_is_there_is_not_fetched_again(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources.folder_of("hdf5", "1.2-3").mkdir(parents=True)
    monkeypatch.setattr(shell, "run", lambda *_, **__: pytest.fail("ran a program"))
    sources.provide()


def test_no_archive_is_said_and_leaves_no_folder(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shell, "run", lambda *_, **__: 100)
    sources.provide()
    assert "goes without the source of hdf5" in capsys.readouterr().out
    assert not sources.folder_of("hdf5", "1.2-3").exists()


def test_apt_is_told_of_the_sources_of_the_same_archives(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists = machine / "apt" / "sources.list.d"
    lists.mkdir(parents=True)
    (machine / "apt" / "sources.list").write_text("# deb\ndeb [signed-by=/k] http://one x main\n")
    (lists / "two.sources").write_text("Types: deb\nURIs: http://two\nSigned-By: /k\n")
    found = {}

    def run(command, **_):
        parts = next(str(w) for w in command if str(w).startswith("Dir::Etc::SourceParts="))
        for file in Path(parts.partition("=")[2]).iterdir():
            found[file.name] = file.read_text()
        return 100

    monkeypatch.setattr(shell, "run", run)
    sources.provide()
    assert found == {
        "sources.list": "# deb\ndeb-src [signed-by=/k] http://one x main\n",
        "two.sources": "Types: deb-src\nURIs: http://two\nSigned-By: /k\n",
    }


def test_the_source_of_a_wheel_is_unpacked_once(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "of_groups", lambda groups: [])
    monkeypatch.setattr(sources, "SDISTS", {"mpi4py": "tests"})
    version = sources.pinned_version("mpi4py")
    begun: list[list[str]] = []

    def run(command, *, cwd=None, **_):
        words = list(map(str, command))
        begun.append(words)
        if words[0] == "tar":
            (Path(words[words.index("-C") + 1]) / "test").mkdir()
        else:
            (cwd / f"mpi4py-{version}.tar.gz").touch()
        return 0

    monkeypatch.setattr(shell, "run", run)
    sources.provide()
    sources.provide()
    assert [words[-1].partition("==")[0] for words in begun[:1]] == ["mpi4py"]
    assert len(begun) == 2
    assert (sources.folder_of("mpi4py", version) / "test").is_dir()
