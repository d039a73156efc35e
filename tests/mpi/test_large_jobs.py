"""What ranks of a large job do, on a few ranks that are told to be many (scale.ranks)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from haichi.report.load import load
from mpis import Mpi

HERE = Path(__file__).parent


def placement_of(groups: list[str], folder: Path) -> str:
    """The name of a file with so many nodes; `groups` are their ranks."""
    nodes = [{"name": f"n{i}", "ranks": ranks} for i, ranks in enumerate(groups)]
    path = folder / "placement.json"
    path.write_text(json.dumps({"schema": "haichi.placement/1", "nodes": nodes}))
    return str(path)


@pytest.mark.parametrize(
    "groups",
    [["0-5"], ["0-2", "3-5"], ["0", "1,3,5", "2,4"], ["0", "1", "2", "3", "4", "5"]],
    ids=len,
)
def test_ranks_agree_node_by_node(mpi: Mpi, groups: list[str], tmp_path: Path) -> None:
    """Descriptions that fit into announcements and that do not, and reads across the end."""
    program = mpi.compile(HERE / "by_nodes.c")
    report = tmp_path / "report.json"
    env = mpi.preload(
        HAICHI_SCALE_RANKS="2",
        HAICHI_IO_LIBRARY="off",
        HAICHI_PLACEMENT=placement_of(groups, tmp_path),
        HAICHI_REPORT=str(report),
    )
    done = mpi.run(6, [program, tmp_path], env, timeout=100, check=True)
    assert done.stdout.count("right") == 6, done.stdout
    calls = [c for file in json.loads(report.read_text())["files"] for c in file["calls"]]
    assert len(calls) == 2 * 2 * 6 and all(call["handled"] for call in calls)
    by_nodes = [any("node by node" in why for why in call["why"]) for call in calls]
    assert sum(by_nodes) >= 12, "the writes, at least, are in two phases"


def test_a_report_has_bounds(mpi: Mpi, tmp_path: Path) -> None:
    """What is beyond them is counted, and the report says so."""
    program = mpi.compile(HERE / "by_nodes.c")
    reports, sizes = {}, {"16M": 0, "32k": 0}
    for size in sizes:
        path = tmp_path / f"report-{size}.json"
        env = mpi.preload(
            HAICHI_IO_LIBRARY="off",
            HAICHI_PLACEMENT=placement_of(["0,1", "2,3"], tmp_path),
            HAICHI_REPORT=str(path),
            HAICHI_REPORT_BYTES=size,
        )
        mpi.run(4, [program, tmp_path], env, timeout=100, check=True)
        sizes[size] = path.stat().st_size
        reports[size] = load(path)
    whole, cut = reports["16M"], reports["32k"]
    assert sizes["32k"] <= 32 << 10 < sizes["16M"]
    assert all(rank.events and not rank.events_dropped for rank in whole.ranks)
    assert all(rank.events_dropped > 0 for rank in cut.ranks)
    assert not any("report.bytes" in note for note in whole.notes)
    assert any("events of a rank (4 times)" in note for note in cut.notes), cut.notes
    assert 0 < len(cut.calls()) < len(whole.calls())
    assert cut.access_calls() == whole.access_calls()
    # Of calls that are listed sums are over all ranks, whatever else has no room.
    for file in cut.files:
        same = next(each for each in whole.files if each.path == file.path)
        for call, entire in zip(file.calls, same.calls, strict=False):
            assert call.bytes_inside + call.bytes_between == (
                entire.bytes_inside + entire.bytes_between
            )
