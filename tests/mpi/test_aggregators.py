"""How many aggregators a file has, and who decides: hints, settings, the machine's profile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mpis import ROOT, Mpi

RANKS = 6
# One process moves a quarter of what its node's ports do, and the servers take all of them.
STORAGE = {
    "schema": "haichi.machine/1",
    "in_gbs": 4,
    "out_gbs": 4,
    "storage_gbs": 2,
    "servers": 32,
    "server_gbs": 1,
    "request_us": 0,
    "client_gbs": 0.5,
    "latency_ns": 0,
}
NETWORK = {"schema": "haichi.machine/1", "in_gbs": 4, "out_gbs": 4}


def first_call(mpi: Mpi, folder: Path, machine: dict, *words: str, **settings: str) -> dict:
    """The probe's write by 6 ranks on 2 nodes, as the report has it, with its file's hints."""
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    (folder / "placement.json").write_text('{"version": 1, "map": [[0, 2, 3, 1]]}')
    (folder / "machine.json").write_text(json.dumps(machine))
    report = folder / "report.json"
    env = mpi.preload(
        HAICHI_PLACEMENT=str(folder / "placement.json"),
        HAICHI_MACHINE=str(folder / "machine.json"),
        HAICHI_REPORT=str(report),
        **settings,
    )
    program = mpi.compile(ROOT / "tests" / "faults" / "probe.c")
    done = mpi.run(RANKS, [program, folder / "x", *words], env, timeout=60)
    assert done.stdout.count("class SUCCESS") == 3 * RANKS, done.stdout + done.stderr  # with close
    assert done.stdout.count(" right") == RANKS
    (file,) = json.loads(report.read_text())["files"]
    call = file["calls"][0]
    assert call["handled"]
    return {**call, "hints": file["hints"]}


def test_as_many_as_storage_and_network_keep_busy(mpi: Mpi, tmp_path: Path) -> None:
    """Four a node would fill its port; there are three ranks."""
    call = first_call(mpi, tmp_path, STORAGE)
    assert call["aggregators"] == [0, 3, 1, 4, 2, 5]
    assert call["why"][1].startswith("6 aggregators: one can access 0.5 GB/s")


def test_a_profile_without_storage_decides_nothing(mpi: Mpi, tmp_path: Path) -> None:
    call = first_call(mpi, tmp_path, NETWORK)
    assert call["aggregators"] == [0, 3]
    assert "one per node (2 nodes)" in call["why"][1]


@pytest.mark.parametrize(
    ("words", "settings", "aggregators", "config_list"),
    [
        (["hint=cb_nodes=3"], {}, [0, 3, 1], None),
        (["hint=cb_config_list=*:2"], {}, [0, 3, 1, 4], "*:2"),
        (["hint=cb_config_list=*:1"], {}, [0, 3, 1, 4, 2, 5], None),
        ([], {"HAICHI_IO_AGGREGATORS": "1"}, [0], None),
        ([], {"HAICHI_IO_PER_NODE": "1"}, [0, 3], "*:1"),
    ],
    ids=["cb_nodes", "two_a_node", "default_list", "aggregators", "per_node"],
)
def test_what_was_asked_for_wins(
    mpi: Mpi,
    tmp_path: Path,
    words: list[str],
    settings: dict[str, str],
    aggregators: list[int],
    config_list: str | None,
) -> None:
    call = first_call(mpi, tmp_path, STORAGE, *words, **settings)
    assert call["aggregators"] == aggregators
    assert call["hints"].get("cb_config_list") == config_list
