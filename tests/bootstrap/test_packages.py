"""deps.txt and how the bootstrap reads it."""

from __future__ import annotations

import pytest
from haichi_bootstrap import packages, paths
from haichi_bootstrap.packages import Package
from haichi_bootstrap.shell import Stop

THREE = """\
# a comment
[build]
g++ >= 4:12   needed   # compiles
cmake >= 3.25 wheel    # configures

[tests]
gfortran skip
"""


def test_reads_name_version_kind_reason_and_group() -> None:
    assert packages.parse(THREE) == [
        Package("g++", "4:12", "needed", "compiles", "build"),
        Package("cmake", "3.25", "wheel", "configures", "build"),
        Package("gfortran", "", "skip", "", "tests"),
    ]


@pytest.mark.parametrize(
    "line",
    ["g++", "g++ maybe", "g++ > 12 needed", "g++ >= needed", "G++ needed", "g++ needed now"],
)
def test_refuses_a_line_of_another_form_and_says_where(line: str) -> None:
    with pytest.raises(Stop, match=r"deps\.txt:2: .*write it so"):
        packages.parse(f"[build]\n{line}\n")


def test_refuses_a_package_before_the_first_group() -> None:
    with pytest.raises(Stop, match=r"deps\.txt:1: .*before the first"):
        packages.parse("g++ needed\n")


def test_our_own_deps_txt_is_well_formed_and_gives_every_reason() -> None:
    found = packages.parse(paths.DEPS_TXT.read_text())
    assert {p.group for p in found} == {
        "python",
        "build",
        "mpi",
        "demo",
        "install",
        "tests",
        "sources",
        "fresh",
        "installed",
    }
    assert [p.name for p in found if not p.why] == []
    assert len({p.name for p in found}) == len(found)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Installed packages as this test wants them: name to version."""
    have: dict[str, str] = {}
    monkeypatch.setattr(
        packages, "installed_versions", lambda names: {n: have[n] for n in names if n in have}
    )
    monkeypatch.setattr(packages, "program_version", lambda program, flag: ())
    monkeypatch.setattr(packages, "_new_enough", _plain_compare)
    return have


def _plain_compare(package: Package, version: str | None) -> bool:
    return version is not None and version >= package.version


def test_missing_is_what_is_not_installed_or_too_old(machine: dict[str, str]) -> None:
    machine.update({"g++": "4:12.2", "cmake": "3.18"})
    assert [p.name for p in packages.missing(packages.parse(THREE))] == ["cmake", "gfortran"]


def test_a_tool_of_ones_own_stands_in_for_its_package(
    machine: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "program_version", lambda program, flag: (99,))
    assert [p.name for p in packages.missing(packages.parse(THREE))] == ["gfortran"]


def test_without_root_what_is_needed_is_a_line_to_paste(
    machine: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "of_groups", lambda groups: packages.parse(THREE))
    monkeypatch.setattr(packages, "as_root", lambda: None)
    monkeypatch.setattr(packages.shutil, "which", lambda name: f"/usr/bin/{name}")
    with pytest.raises(Stop, match=r"paste: sudo apt-get update && .* g\+\+$"):
        packages.provide(["build"])


def test_without_root_what_can_be_gone_without_is_returned(
    machine: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine["g++"] = "4:12"
    monkeypatch.setattr(packages, "of_groups", lambda groups: packages.parse(THREE))
    monkeypatch.setattr(packages, "as_root", lambda: None)
    monkeypatch.setattr(packages.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert [p.name for p in packages.provide(["build"])] == ["gfortran"]


def test_nothing_missing_asks_neither_apt_nor_for_root(
    machine: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.update({"g++": "4:12", "cmake": "3.25", "gfortran": "1"})
    monkeypatch.setattr(packages, "of_groups", lambda groups: packages.parse(THREE))
    monkeypatch.setattr(packages, "as_root", lambda: pytest.fail("asked for root"))
    assert packages.provide(["build"]) == []
