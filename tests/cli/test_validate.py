"""`haichi figures validate` and `paper-004`: the simulator beside what others say."""

from __future__ import annotations

import csv
import shutil

import mpis
import pytest
from haichi.figures import paper_004, validate

if not mpis.HAICHI.exists():
    pytest.skip(f"no {mpis.HAICHI}: ./haichi build", allow_module_level=True)


def quiet(text: str) -> None:
    del text


def test_ratios_of_the_lab_are_right_within_the_bar_in_most_cases() -> None:
    rows = validate.measure(["lab"], [], quiet)
    with validate.RECORDED.open() as lines:
        recorded = [row for row in csv.DictReader(lines) if row["part"] == "lab"]
    assert [row.theirs for row in rows] == [float(row["measured"]) for row in recorded]
    assert sum(row.near for row in rows) >= 26
    assert max(row.error for row in rows) < 0.25
    said = validate.summary("lab", rows)
    assert said.startswith(f"lab: {sum(row.near for row in rows)} of 30 within 15 %")


def test_an_error_is_as_large_both_ways() -> None:
    twice = validate.Compared("lab", "a", "b", 1.0, 2.0)
    half = validate.Compared("lab", "a", "b", 2.0, 1.0)
    assert twice.error == pytest.approx(1)
    assert half.error == pytest.approx(1)
    assert not twice.near
    assert validate.Compared("smpi", "a", "b", 1.0, 1.04).near
    assert not validate.Compared("smpi", "a", "b", 1.0, 1.06).near


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("smpirun") is None or not (mpis.BUILD / "bin" / "exchange-smpi").exists(),
    reason="no smpirun or no exchange-smpi: apt install libsimgrid-dev, then ./haichi build",
)
def test_smpi_agrees_where_messages_meet_at_ports_alone() -> None:
    rows = validate.measure(["smpi"], ["ring_mpi_barrier", "bruck(2)"], quiet)
    assert len(rows) == 2 * 2 * 2 * len(validate.BYTES)
    ports = [row for row in rows if row.source.startswith("crossbar")]
    assert [row.case for row in ports if not row.near] == []
    # On a torus messages meet on links, which one of the two shares among them.
    assert max(row.error for row in rows) > 0.05


def test_the_shapes_of_paper_004() -> None:
    """Bruck is best where messages are small, and least where they are large, on all three."""
    found = paper_004.measure(30, [8, 262144], quiet)
    assert list(found) == list(paper_004.SHAPES)
    for times in found.values():
        small, large = times["8"], times["262144"]
        assert min(small, key=small.__getitem__) == "Bruck"
        assert small["Simple"] > 1.5 * small["Bruck"]
        assert max(large, key=large.__getitem__) == "Bruck"
        assert min(large, key=large.__getitem__) == "Simple"
    assert found["8x3x1"]["262144"]["Simple"] > 1.5 * found["4x3x2"]["262144"]["Simple"]
