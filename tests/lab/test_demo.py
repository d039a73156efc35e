"""`haichi demo` from end to end, one machine playing the nodes, and when haichi does not act."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import mpis
import pytest
from haichi import mpi

pytestmark = pytest.mark.slow


def demo(out: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs the demo once through; skips, with the reason, where nothing is built or no MPI is."""
    if not mpis.HAICHI.exists():
        pytest.skip(f"{mpis.HAICHI} is not built: ./haichi build")
    if not mpi.available("openmpi", "mpich5"):
        pytest.skip("neither Open MPI nor MPICH 5 is here: ./haichi build")
    words = ("demo", "--one-machine", "--repetitions", "1", "--out", out)
    return mpis.haichi_command(*words, timeout=280, **env)


def test_demo_on_one_machine(tmp_path: Path) -> None:
    mpis.not_with_sanitizers("`haichi run` does not load the sanitizer into ranks", "thread")
    done = demo(tmp_path / "demo")
    assert done.returncode == 0, done.stdout + done.stderr
    saved = json.loads((tmp_path / "demo" / "report.json").read_text())
    variants = {case["variant"] for case in saved["cases"] if case["program"].startswith("HPIO")}
    wanted = ("packed/rank", "roundrobin/rank", "roundrobin/nd_rank_shift")
    assert variants == {"stock", *wanted}
    assert not [problem for case in saved["cases"] for problem in case["problems"]]
    for name in (file for file in saved["reports"] if "hpio" in file):
        report = json.loads(Path(name).read_text())
        assert [node["ranks"] for node in report["placement"]["nodes"]] == [
            "0-3",
            "4-7",
            "8-11",
            "12-15",
        ]
        packed = "packed" in name
        calls = report["files"][0]["calls"]
        assert [call["aggregators"] for call in calls] == [
            [0, 1, 2, 3] if packed else [0, 4, 8, 12]
        ] * 2
    assert Path(saved["page"]).read_text().startswith("<!DOCTYPE html>")
    assert "On one machine the ranks share its memory" in done.stdout


def test_demo_fails_when_haichi_does_not_act(tmp_path: Path) -> None:
    done = demo(tmp_path / "demo", HAICHI_DISABLE="1")
    assert done.returncode == 1
    assert "haichi did not act under the program" in done.stderr


def test_demo_without_a_build_says_what_to_type(tmp_path: Path) -> None:
    done = mpis.haichi_command(
        "demo", "--one-machine", "--out", tmp_path / "demo", HAICHI_BUILD=str(tmp_path)
    )
    assert done.returncode == 2
    assert done.stderr == f"haichi demo: {tmp_path}/bin/haichi is not built: ./haichi build\n"
    assert not (tmp_path / "demo").exists()
