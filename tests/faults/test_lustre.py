"""Striping as Lustre's library tells it, with a stand-in for the library (fakelustre.c)."""

from __future__ import annotations

import json
from pathlib import Path

import mpis
import pytest
from test_faults import HERE, RANKS, mpi, whole_file

__all__ = ["mpi"]
UNIT = 20000


@pytest.fixture(scope="session")
def lustre(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in, under the name that haichi loads."""
    library = tmp_path_factory.mktemp("lustre") / "liblustreapi.so.1"
    name = "-Wl,-soname,liblustreapi.so.1"
    command = ["cc", "-O2", "-fPIC", "-shared", name, "-o", library, HERE / "fakelustre.c", "-ldl"]
    mpis.run_bounded(command, check=True)
    return library


def run(mpi: mpis.Mpi, lustre: Path, folder: Path, stripes: str, **env: str) -> dict:
    """Writes the probe's file with three pretended nodes; returns the file's part of the report."""
    placement = folder / "placement.json"
    placement.write_text('{"version": 1, "map": [[0, 3, 1, 1]]}')
    report = folder / "report.json"
    environment = mpi.preload(
        lustre,
        HAICHI_REPORT=str(report),
        HAICHI_PLACEMENT=str(placement),
        FAKE_LUSTRE="x.lustre",
        FAKE_STRIPES=stripes,
        FAKE_UNIT=str(UNIT),
        **env,
    )
    file = folder / "x.lustre"
    program = mpi.compile(HERE / "probe.c")
    done = mpi.run(RANKS, [program, str(file), "mode=write"], environment, timeout=60)
    assert done.returncode == 0, done.stderr
    assert file.read_bytes() == whole_file()
    return json.loads(report.read_text())["files"][0]


def test_aggregators_follow_the_stripes(mpi: mpis.Mpi, lustre: Path, tmp_path: Path) -> None:
    """Two stripes on three nodes: two aggregators, so that each server talks to one of them."""
    file = run(mpi, lustre, tmp_path, "2")
    assert (file["hints"]["striping_unit"], file["hints"]["striping_factor"]) == (str(UNIT), "2")
    call = file["calls"][0]
    assert len(call["aggregators"]) == 2
    assert any("in stripes" in why for why in call["why"])


def test_the_environment_overrides_the_file_system(
    mpi: mpis.Mpi, lustre: Path, tmp_path: Path
) -> None:
    file = run(mpi, lustre, tmp_path, "2", HAICHI_IO_STRIPE_UNIT="8000")
    assert (file["hints"]["striping_unit"], file["hints"]["striping_factor"]) == ("8000", "2")


def test_a_layout_without_a_number_of_stripes_is_not_taken(
    mpi: mpis.Mpi, lustre: Path, tmp_path: Path
) -> None:
    file = run(mpi, lustre, tmp_path, str((1 << 60) + 1))  # the library's word for "default"
    assert file["hints"]["striping_factor"] == "0"
