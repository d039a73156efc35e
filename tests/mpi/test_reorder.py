"""Topologies with reorder true: neighbours come onto a node, and nothing else changes."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from pathlib import Path

import mpis
import pytest
from haichi.report.model import Report
from mpis import Mpi

HERE = Path(__file__).parent
RANKS = 8
CASES = 320  # of which 200 are grids


def on_nodes(mpi: Mpi, folder: Path, nodes: Sequence[int], **settings: str) -> dict[str, str]:
    """The environment under haichi with the ranks on these nodes, and a report."""
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    lists = [[r for r, n in enumerate(nodes) if n == node] for node in dict.fromkeys(nodes)]
    placement = folder / "placement.json"
    placement.write_text(
        json.dumps(
            {
                "schema": "haichi.placement/1",
                "nodes": [{"ranks": ",".join(map(str, ranks))} for ranks in lists],
            }
        )
    )
    report = str(folder / "report.json")
    return mpi.preload(HAICHI_PLACEMENT=str(placement), HAICHI_REPORT=report, **settings)


def notes(folder: Path) -> list[str]:
    report = Report.model_validate_json((folder / "report.json").read_text())
    return [note for note in report.notes if "ranks on" in note]


def cases_of(out: str) -> list[tuple[str, int, bool]]:
    """What each case is, what goes between its nodes, and whether ranks moved."""
    found = re.findall(r"^(\d+ .* reorder [01]) cut (\d+) moved ([01])$", out, re.MULTILINE)
    assert out.endswith("wrong 0\n"), out
    return [(what, int(cut), moved == "1") for what, cut, moved in found]


@pytest.mark.slow
@pytest.mark.parametrize("seed", mpis.slow_but([1], range(1, 4)))
def test_never_more_between_nodes_than_stock(mpi: Mpi, tmp_path: Path, seed: int) -> None:
    """Grids and graphs of random communicators, whose ranks are dealt out to nodes at random."""
    draws = random.Random(seed)
    count = draws.randint(2, 4)
    nodes = sorted(draws.randrange(count) for _ in range(RANKS)) if seed % 2 else None
    nodes = nodes or [draws.randrange(count) for _ in range(RANKS)]
    program = mpi.compile(HERE / "reorder_cases.c")
    argv = [program, str(seed), str(CASES), *map(str, nodes)]
    stock = cases_of(mpi.run(RANKS, argv, mpi.stock(), timeout=200, check=True).stdout)
    env = on_nodes(mpi, tmp_path, nodes)
    ours = cases_of(mpi.run(RANKS, argv, env, timeout=200, check=True).stdout)
    assert [what for what, _, _ in ours] == [what for what, _, _ in stock]
    assert len(ours) == CASES
    assert sum("grid" in what for what, _, _ in ours) > 180
    less = 0
    for (what, cut, moved), (_, before, _) in zip(ours, stock, strict=True):
        assert cut <= before, what
        less += cut < before
        assert cut < before or not moved, what
        assert cut == before or what.endswith("reorder 1"), what
    assert less > CASES // 20
    assert any(": reordered, " in note for note in notes(tmp_path))


@pytest.mark.parametrize("setting", ["auto", "off"])
def test_a_halo_program_says_the_same(mpi: Mpi, tmp_path: Path, setting: str) -> None:
    """2 x 4 ranks round robin over two nodes: all neighbours in a row are on the other one."""
    program = mpi.compile(HERE / "reorder_halo.c")
    argv = [program, "2", "4", "50"]
    env = on_nodes(mpi, tmp_path, [0, 1] * 4, HAICHI_PLACEMENT_REORDER=setting)
    stock = mpi.run(RANKS, argv, mpi.stock(), check=True).stdout
    assert len(stock.splitlines()) == RANKS
    assert mpi.run(RANKS, argv, env, check=True).stdout == stock
    assert notes(tmp_path) == (
        []
        if setting == "off"
        else [
            "MPI_Cart_create of 2 x 4 ranks on 2 nodes: reordered, 8 messages go between nodes when"
            " neighbours exchange in place of 16; of the busiest node 8 in place of 16"
        ]
    )


def _without_attributes(log: str) -> str:
    return re.sub(r", attribute .*|^deletes .*\n", "", log, flags=re.MULTILINE)


def test_what_a_topology_inherits_and_wrong_calls(mpi: Mpi, tmp_path: Path) -> None:
    """Error handler, attributes, name and hints; errors of one rank alone and of all."""
    program = mpi.compile(HERE / "reorder_semantics.c")
    logs = {}
    for name, env in (
        ("stock", mpi.stock()),
        ("haichi", on_nodes(mpi, tmp_path, [0, 0, 1, 1, 2, 2, 3, 3])),
    ):
        (tmp_path / name).mkdir()
        mpi.run(RANKS, [program, tmp_path / name], env, check=True)
        logs[name] = [(tmp_path / name / f"log.{rank}").read_text() for rank in range(RANKS)]
        assert all(log.endswith("done\n") for log in logs[name])
    if any("attribute 1" in log for log in logs["stock"]):
        # Open MPI 5 copies attributes to adjacent graphs, which the standard says do not propagate.
        logs = {name: [_without_attributes(log) for log in each] for name, each in logs.items()}
    assert logs["haichi"] == logs["stock"]
    assert sum(": reordered, " in note for note in notes(tmp_path)) >= 3


def test_numa_nodes_count_where_asked_for(mpi: Mpi, tmp_path: Path) -> None:
    """All ranks on one node, dealt out to two NUMA nodes."""
    program = mpi.compile(HERE / "reorder_halo.c")
    argv = [program, "2", "4", "5"]
    env = on_nodes(mpi, tmp_path, [0] * RANKS, HAICHI_PLACEMENT_REORDER="on")
    placement = tmp_path / "placement.json"
    told = json.loads(placement.read_text())
    told["places"] = [{"core": r, "cores": 1, "numa": r % 2} for r in range(RANKS)]
    placement.write_text(json.dumps(told))
    stock = mpi.run(RANKS, argv, mpi.stock(), check=True).stdout
    assert mpi.run(RANKS, argv, env, check=True).stdout == stock
    assert [note.partition("; ")[2] for note in notes(tmp_path)] == [
        "of the busiest node 0 in place of 0; between NUMA nodes 8 in place of 16"
    ]


@pytest.mark.slow
def test_from_mpi4py(mpi: Mpi, tmp_path: Path) -> None:
    if mpi.python_missing:
        pytest.skip(mpi.python_missing)
    argv = [mpi.python, HERE / "reorder_mpi4py.py"]
    env = on_nodes(mpi, tmp_path, [0, 1] * 4, **mpi.python_env)
    stock = mpi.run(RANKS, argv, mpi.stock(**mpi.python_env), check=True).stdout
    assert stock == "neighbours are right\n"
    assert mpi.run(RANKS, argv, env, check=True).stdout == stock
    assert len([note for note in notes(tmp_path) if ": reordered, " in note]) == 2


def test_from_fortran(mpi: Mpi, tmp_path: Path) -> None:
    if mpi.mpif90 is None:
        pytest.skip(f"{mpi.name} has no Fortran compiler here: apt install gfortran")
    program = mpi.compile(HERE / "reorder.f90", fortran=True)
    env = on_nodes(mpi, tmp_path, [0, 1] * 4)
    stock = mpi.run(RANKS, [program], mpi.stock(), check=True).stdout
    assert stock.split() == ["neighbours", "are", "right"]
    assert mpi.run(RANKS, [program], env, check=True).stdout == stock
    assert len([note for note in notes(tmp_path) if ": reordered, " in note]) == 2
