"""mpi4py's own tests under haichi: what passes without it must pass with it.

Their source is fetched in the version of the wheels (`./haichi test`). With haichi every blocking
collective is made twice (twice.c), since the first one of a communicator is never haichi's, on
pretended nodes, with trials asked for and files taken. A test that ends a job, or never ends, ends
it alone: the others are run again without it. Times are in seconds.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import mpis
import pytest
from haichi_bootstrap import sources

HERE = Path(__file__).parent
RANKS = 3
LIMIT = 420
# Tests that end a job or never end, on an MPI library without haichi; each costs one more run.
MOST_BROKEN = 4
# Parts of the tests, as options of their main.py, and how many at least pass without haichi.
PARTS = {
    "collectives": ("-i", "test_cco"),
    "files": ("-i", "test_(file|io)"),
    "others": ("-e", "test_cco", "-e", "test_(file|io)"),
}
LEAST = {"collectives": 300, "files": 40, "others": 300}
SETTINGS = {
    "HAICHI_COLLECTIVES_AFTER": "1",
    "HAICHI_COLLECTIVES_ENABLE": "on",
    "HAICHI_COLLECTIVES_NONBLOCKING": "on",
    "HAICHI_COLLECTIVES_ROUNDS": "1",
}


@dataclass
class Outcomes:
    """What became of each test, the worst of all ranks, and those that ended their job."""

    of: dict[str, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def passed(self) -> set[str]:
        return {test for test, outcome in self.of.items() if outcome == "passed"}


def folder_of_tests() -> Path:
    """The folder of the tests, or a skip."""
    folder = sources.folder_of("mpi4py", sources.pinned_version("mpi4py"))
    if not folder.exists():
        pytest.skip("no source of mpi4py in .deps/sources: ./haichi test, where pip has a registry")
    return folder / "test"


def python_of(mpi: mpis.Mpi) -> tuple[Path, dict[str, str]]:
    """A Python with the wheel of mpi4py for this MPI, and what it needs in its environment. The
    distribution's own mpi4py, on Open MPI, is an old one with other tests."""
    if mpi.name.startswith("openmpi-4"):
        library = next(Path("/usr/lib").glob("*/libmpi.so.40"))
        return mpis.ROOT / ".venv-openmpi5/bin/python", {"MPI4PY_LIBMPI": str(library)}
    if mpi.python is None:
        pytest.skip(mpi.python_missing)
    return mpi.python, dict(mpi.python_env)


def read(folder: Path) -> tuple[dict[str, str], str | None]:
    """The worst outcome of each test, and the test in which the job ended, if it ended early."""
    rank_of = {"skipped": 0, "passed": 1, "failed": 2}
    worst: dict[str, str] = {}
    unfinished: list[tuple[int, str]] = []
    for file in folder.iterdir():
        begun, current = 0, ""
        for line in file.read_text().splitlines():
            what, _, test = line.partition(" ")
            if what == "begin":
                begun, current = begun + 1, test
            elif what == "end":
                current = ""
            elif rank_of[what] >= rank_of.get(worst.get(test, "skipped"), 0):
                worst[test] = what
        unfinished += [(begun, current)] if current else []
    # Others may be a test ahead.
    return worst, min(unfinished)[1] if unfinished else None


def run(mpi: mpis.Mpi, part: str, env: dict[str, str], work: Path, left_out: list[str]) -> Outcomes:
    """Runs a part's tests but some, again without those that end the job."""
    python, own = python_of(mpi)
    found = Outcomes(broken=list(left_out))
    while True:
        folder = work / f"outcomes-{len(found.broken)}"
        folder.mkdir(parents=True)
        words: list[str | Path] = [
            python,
            HERE / "mpi4py_suite.py",
            folder_of_tests(),
            folder,
            *PARTS[part],
        ]
        for test in found.broken:
            words += ["-x", test]
        try:
            done = mpi.run(RANKS, words, {**env, **own}, timeout=LIMIT, cwd=work)
            said = done.stdout + done.stderr
        except subprocess.TimeoutExpired as late:
            said = f"{late.stdout}{late.stderr}"
        (work / f"log-{len(found.broken)}").write_text(said)
        outcomes, culprit = read(folder)
        assert outcomes, said[-4000:]
        if culprit is None or len(found.broken) >= len(left_out) + MOST_BROKEN:
            found.of = outcomes
            return found
        found.broken.append(culprit)


@pytest.mark.long
@pytest.mark.timeout(4 * MOST_BROKEN * LIMIT)
@pytest.mark.parametrize("part", PARTS)
def test_what_passes_without_haichi_passes_with_it(
    mpi: mpis.Mpi, part: str, tmp_path: Path
) -> None:
    twice = mpi.compile(HERE / "twice.c", "-shared", "-fPIC")
    stock = run(mpi, part, mpi.stock(), tmp_path / "stock", [])
    report, placement = tmp_path / "report.json", tmp_path / "placement.json"
    placement.write_text(json.dumps({"version": 1, "map": [[0, 2, 1, 1], [0, 1, 1, 1]]}))
    files = {"HAICHI_REPORT": str(report), "HAICHI_PLACEMENT": str(placement)}
    with_haichi = mpi.stock(twice, mpi.shim, **files, **SETTINGS)
    ours = run(mpi, part, with_haichi, tmp_path / "haichi", stock.broken)
    print(f"{mpi.name}, {part}: {len(stock.passed())} pass without haichi,", end=" ")
    print(f"{len(ours.passed())} with it, {len(stock.broken)} left out: {stock.broken}")
    worse = {test: ours.of.get(test, "not run") for test in stock.passed() - ours.passed()}
    assert not worse
    assert ours.broken == stock.broken
    assert len(stock.passed()) >= LEAST[part]
    found = json.loads(report.read_text())
    assert found["files"] if part == "files" else found["collectives"] or part == "others"
