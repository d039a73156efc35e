"""Which profile of the machine a job is planned by: named, found or none; what is said of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from haichi.report.load import load
from mpis import ROOT, Mpi

RANKS = 4


def signature(mpi: Mpi, folder: Path, **settings: str) -> dict:
    """Of this machine under this MPI, by what a first run reports and the kernel says."""
    report = run(mpi, folder, HAICHI_MACHINES_FIND="off", **settings)
    names = [node["name"] for node in report["placement"]["nodes"]]
    models = [
        line.partition(": ")[2]
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return {
        "library": report["mpi"]["library"],
        "processor": models[0] if models else None,
        "cores": os.sysconf("SC_NPROCESSORS_ONLN"),
        "node_names": names,
        "network": len(names) > 1,
    }


def profile(mark: dict, name: str = "mine", when: str = "2026-01-01T00:00:00Z") -> str:
    """One by which each node has as many aggregators as it has ranks of the probe."""
    numbers = {
        "in_gbs": 4,
        "out_gbs": 4,
        "storage_gbs": 2,
        "servers": 32,
        "server_gbs": 1,
        "request_us": 0,
        "client_gbs": 0.5,
        "latency_ns": 0,
    }
    return json.dumps(
        {
            "schema": "haichi.machine/2",
            "name": name,
            "made": {"by": "a test", "when": when, "from": [], "launches": 1},
            "signature": mark,
            "source": "measured",
            "numbers": {key: {"value": value, "from": "a test"} for key, value in numbers.items()},
        }
    )


def run(mpi: Mpi, folder: Path, says: str | None = None, **settings: str) -> dict:
    """The report of the probe, which says whether every byte is right; `says`: on standard error,
    nothing of a machine if None."""
    if not mpi.shim.exists():
        pytest.skip(f"no {mpi.shim.name} in this build")
    report = folder / "report.json"
    env = mpi.preload(HAICHI_REPORT=str(report), XDG_DATA_HOME=str(folder / "data"), **settings)
    program = mpi.compile(ROOT / "tests" / "faults" / "probe.c")
    done = mpi.run(RANKS, [program, folder / "x"], env, timeout=60)
    assert done.stdout.count(" right") == RANKS, done.stdout + done.stderr
    if says is None:
        assert "profile" not in done.stderr, done.stderr
    else:
        assert done.stderr.count(says) == 1, done.stderr
    load(report)
    return json.loads(report.read_text())


@pytest.fixture
def machines(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "haichi" / "machines"
    folder.mkdir(parents=True, mode=0o755)
    return folder


def test_the_profile_of_this_machine_is_found_and_used(
    mpi: Mpi, tmp_path: Path, machines: Path
) -> None:
    (tmp_path / "placement.json").write_text('{"version": 1, "map": [[0, 2, 2, 1]]}')
    nodes = {"HAICHI_PLACEMENT": str(tmp_path / "placement.json")}
    mark = signature(mpi, tmp_path, **nodes)
    (machines / "0.json").write_text(profile({**mark, "network": False}, "of one node"))
    (machines / "a.json").write_text(profile({**mark, "library": "another MPI"}, "other"))
    (machines / "b.json").write_text(profile(mark, "old", "2025-01-01T00:00:00Z"))
    (machines / "c.json").write_text(profile(mark))
    (machines / "d.json").write_text(profile({}, "of no machine"))
    report = run(mpi, tmp_path, **nodes)
    assert report["machine"] == {
        "use": "found",
        "file": str(machines / "c.json"),
        "name": "mine",
        "made": "2026-01-01T00:00:00Z",
        "why": "it was measured on these nodes",
    }
    call = report["files"][0]["calls"][0]
    assert call["aggregators"] == [0, 2, 1, 3]
    assert any("by the machine's profile" in why for why in call["why"])


def test_none_is_looked_for_if_nobody_wants_it(mpi: Mpi, tmp_path: Path, machines: Path) -> None:
    (machines / "c.json").write_text(profile(signature(mpi, tmp_path)))
    report = run(mpi, tmp_path, HAICHI_MACHINES_FIND="off")
    assert report["machine"] == {"use": "defaults", "why": "machines.find is off"}


def test_without_a_profile_the_report_says_so(mpi: Mpi, tmp_path: Path) -> None:
    assert run(mpi, tmp_path)["machine"] == {"use": "defaults", "why": "none was found"}


def test_of_another_machine_it_is_not_taken(mpi: Mpi, tmp_path: Path, machines: Path) -> None:
    mark = signature(mpi, tmp_path)
    (machines / "a.json").write_text(profile({**mark, "cores": mark["cores"] + 1}))
    found = run(mpi, tmp_path)["machine"]
    assert found["use"] == "defaults"
    assert f"a.json: cores of a node “{mark['cores'] + 1}”" in found["why"]


@pytest.mark.parametrize("how", ["writable", "link", "damaged", "fifo"])
def test_what_may_not_be_obeyed_is_passed_over_in_a_line(
    mpi: Mpi, tmp_path: Path, machines: Path, how: str
) -> None:
    file = machines / "a.json"
    text = profile(signature(mpi, tmp_path))
    if how == "link":
        (tmp_path / "real.json").write_text(text)
        file.symlink_to(tmp_path / "real.json")
    elif how == "fifo":
        os.mkfifo(file)
    else:
        file.write_text(text[:-20] if how == "damaged" else text)
    if how == "writable":
        file.chmod(0o666)
    report = run(mpi, tmp_path, says="a profile of a machine is ignored")
    assert report["machine"]["use"] == "defaults"


def test_a_named_one_of_another_machine_is_used_and_told_of(mpi: Mpi, tmp_path: Path) -> None:
    mark = signature(mpi, tmp_path)
    named = tmp_path / "named.json"
    named.write_text(profile({**mark, "library": "MPICH Version:\t1.0"}))
    says = f"{named} is the profile of another machine: MPI library"
    report = run(mpi, tmp_path, says, HAICHI_MACHINE=str(named))
    assert report["machine"]["use"] == "named"
    assert "though it is of another machine" in report["machine"]["why"]
    assert any("used all the same" in note for note in report["notes"])


def test_a_named_one_that_is_damaged_is_told_of(mpi: Mpi, tmp_path: Path) -> None:
    named = tmp_path / "named.json"
    named.write_text('{"schema": "haichi.machine/2", "numbers": {"send_ns": {"value": -1}}}')
    says = f"the machine's profile is not used, defaults count: {named}: numbers: send_ns"
    report = run(mpi, tmp_path, says, HAICHI_MACHINE=str(named))
    assert report["machine"]["use"] == "defaults"
    assert "send_ns" in report["machine"]["why"]
