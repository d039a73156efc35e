"""What programs do to the process, the file or the machine, which nobody thought of when haichi was
written: attacks.c, one attack a run. What a library stands without haichi it must stand with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import mpis
import pytest

HERE = Path(__file__).parent
RANKS = 3
ATTACKS = [
    "storm",
    "forks",
    "no more descriptors",
    "files end early",
    "another file of the name",
    "no name any more",
    "elsewhere",
    "without rights",
    "traps",
    "no environment",
    "processors",
    "nothing",
    "far end",
    "at exit",
    "closed",
    "odd name",
    "nothing told",
]
# Only root may give its rights up and take them back, or hide a file system.
OF_ROOT = ("without rights", "nothing told")
# Several nodes: windows of 4 KiB go through aggregators and their threads. One: through memory.
NODES = {"one node": [[0, 1, RANKS, 1]], "nodes": [[0, RANKS, 1, 1]]}
SETTINGS = {
    "HAICHI_COLLECTIVES_AFTER": "1",
    "HAICHI_COLLECTIVES_ENABLE": "on",
    "HAICHI_IO_BUFFER": "8k",
    "HAICHI_IO_AGGREGATORS": "2",
}


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory, where a file may have all bytes that an offset can say."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="attacks-", dir=base))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def run(
    mpi: mpis.Mpi, attack: str, folder: Path, env: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """One attack, with its files in a new folder."""
    folder.mkdir()
    program = mpi.compile(HERE / "attacks.c", "-Wl,--no-as-needed", "-lm")
    done = mpi.run(RANKS, [program, folder, attack], env, timeout=120)
    verdict = folder / "verdict"
    if verdict.exists():
        done.stdout += verdict.read_text()
    return done


def stands(done: subprocess.CompletedProcess[str], attack: str) -> bool:
    return done.returncode == 0 and f"ok {attack}" in done.stdout


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("attack", ATTACKS)
def test_what_stock_stands(mpi: mpis.Mpi, attack: str, nodes: str, place: Path) -> None:
    if attack in OF_ROOT and os.geteuid() != 0:
        pytest.skip("the attack needs root")
    if attack == "no more descriptors" and "undefined" in mpis.sanitizers():
        pytest.skip("the sanitizer looks whether memory can be read by a pipe of its own")
    placement, report = place / "placement.json", place / "report.json"
    placement.write_text(json.dumps({"version": 1, "map": NODES[nodes]}))
    env = mpi.preload(HAICHI_PLACEMENT=str(placement), HAICHI_REPORT=str(report), **SETTINGS)
    if attack == "closed":
        env["HAICHI_LOG"] = "debug"  # a word into the file that has descriptor 2 would be seen
    done = run(mpi, attack, place / "haichi", env)
    if not stands(done, attack):
        stock = run(mpi, attack, place / "stock", mpi.stock())
        if not stands(stock, attack):
            said = (stock.stdout + stock.stderr).strip()[-200:]
            pytest.skip(f"{mpi.name} does not stand it without haichi: {said}")
        assert stands(done, attack), done.stdout + done.stderr
    if attack == "no more descriptors":  # not even one for the report, but what MPI gives back
        assert report.exists() or done.stderr.count("no report: ") == 1
    else:
        assert "haichi: " not in done.stderr
        found = json.loads(report.read_text())
        calls = [call["handled"] for file in found["files"] for call in file["calls"]]
        # haichi opens the file when it needs it; a program without rights keeps the library's way.
        assert calls and all(handled == (attack != "without rights") for handled in calls)
        assert found["collectives"]
