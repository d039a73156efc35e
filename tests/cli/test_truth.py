"""`haichi figures truth`: what was measured in the lab beside what is simulated."""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest
from haichi.figures import truth
from haichi.figures.model import Case, Environment, Measurement, Samples
from haichi.mpi import Missing

if not mpis.HAICHI.exists():
    pytest.skip(f"no {mpis.HAICHI}: ./haichi build", allow_module_level=True)

# Of 16 ranks on 4 nodes at 100 Mbit/s. 12 ranks of other nodes are each sent 64 KiB by the 4 of a
# node: 0.26 s with headers.
SPREAD = 4 * 12 * 65536 / (12.5e6 * truth.PAYLOAD)
TIMES = {
    "spread(nd_rank_shift,0)": SPREAD,
    "library": SPREAD * 1.1,
    "ring": SPREAD * 1.02,
    "bruck(2) (haichi's choice)": SPREAD * 1.8,
    "node_aware(1)": SPREAD * 3,
}


def measurement(
    program: str = "alltoall, 64 KiB, 4x4 BK", what: str = "collectives"
) -> Measurement:
    cases = [
        Case(
            mpi="openmpi",
            library="Open MPI",
            program=program,
            ranks=16,
            variant=name,
            settings={},
            operations={"call": Samples(seconds=[seconds])},
        )
        for name, seconds in TIMES.items()
    ]
    place = "4 network namespaces as nodes, links of 100mbit each way, TCP; the file on a tmpfs"
    about = {"haichi": "x", "kernel": "6", "cores": 2, "load_before": 0, "started": "now"}
    environment = Environment(**about, place=place, yields="ucx")
    return Measurement(what=what, repetitions=1, environment=environment, cases=cases)


@pytest.fixture(autouse=True)
def _our_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAICHI_BUILD", str(mpis.BUILD))


def test_a_cell_is_read_from_its_title() -> None:
    (cell,) = truth.cells_of(measurement().cases)
    assert (cell.bytes, cell.nodes, cell.per_node, cell.placement) == (65536, 4, 4, "BK")
    assert cell.measured["bruck(2)"] == pytest.approx(SPREAD * 1.8)


@pytest.mark.parametrize(
    "program", ["alltoall, 4 KiB, 4x4 BK", "skewed, 64 KiB, 4x4 BK", "alltoallv, 64 KiB, 4x4 RR"]
)
def test_what_the_simulator_has_nothing_to_say_of_is_left_out(program: str) -> None:
    assert truth.cells_of(measurement(program).cases) == []


def test_ratios_stand_side_by_side() -> None:
    (cell,) = truth.cells_of(measurement().cases)
    rows = {
        row.algorithm: row
        for row in truth.compared(cell, truth.gigabytes("links of 100mbit each way"), 16)
    }
    assert rows.keys() == {"ring", "bruck(2)", "node_aware(1)"}
    # 11 of 16 ranks' blocks leave a node in Bruck's steps where 6 of 8 need to: 88 by 48.
    assert rows["bruck(2)"].simulated == pytest.approx(88 / 48, rel=0.02)
    assert rows["bruck(2)"].near
    assert rows["ring"].near
    assert not rows["node_aware(1)"].near
    # node_aware(1) with each of the three others.
    assert truth.between_any_two(list(rows.values())) == (3, 6)


def test_a_rate_is_read_in_any_unit() -> None:
    assert truth.gigabytes("links of 1gbit each way") == pytest.approx(0.125)
    with pytest.raises(Missing, match="no rate of links"):
        truth.gigabytes("this machine alone")


@pytest.mark.slow
def test_the_command_prints_and_refuses(tmp_path: Path) -> None:
    saved = tmp_path / "collectives.json"
    measurement().save(saved)
    done = mpis.haichi_command("figures", "truth", saved)
    assert done.returncode == 0, done.stderr
    assert "2 of 3 ratios within 15 %, 3 of 6 between any two algorithms" in done.stdout
    for wrong, text in (
        (measurement(what="network"), "not of collectives"),
        (measurement("alltoall, 4 KiB, 4x4 BK"), "no MPI_Alltoall of 64 KiB or more"),
        (None, "no result of"),
    ):
        saved.unlink()
        if wrong:
            wrong.save(saved)
        done = mpis.haichi_command("figures", "truth", saved)
        assert done.returncode == 2
        assert text in done.stderr
