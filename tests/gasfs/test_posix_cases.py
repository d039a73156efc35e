"""Cases of each system call, and random bytes in one file, on the mount as on tmpfs, by both faces.
`./haichi test --only posix_cases` runs them; posix_cases.py and random_bytes.c say how."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import mpis
import pytest
from faces import behind, preloaded
from mpis import ROOT, run_bounded

BEHIND = ["memory", "servers"]
FACES = ["mount", "preload"]


@pytest.fixture(scope="module", params=mpis.slow_but(["memory"], BEHIND))
def whole(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Mounts of files in memory, and of servers."""
    with behind(request.param, 900) as folder:
        yield folder


def run_cases(mount: Path, tmpfs: Path, face: str, *options: str) -> None:
    """Runs posix_cases.py by a face."""
    if os.geteuid() != 0:
        pytest.skip("cases are about several users: run as root")
    words = [sys.executable, ROOT / "tests/gasfs/posix_cases.py", mount, tmpfs, *options]
    env = preloaded(mount) if face == "preload" else None
    done = run_bounded(words, env=env, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("face", mpis.slow_but(["mount"], FACES))
def test_calls_answer_as_on_tmpfs(mount: Path, tmpfs: Path, face: str) -> None:
    run_cases(mount, tmpfs, face, "--no-times")


@pytest.mark.slow
@pytest.mark.parametrize("face", FACES)
def test_calls_move_times_as_on_tmpfs(mount: Path, tmpfs: Path, face: str) -> None:
    run_cases(mount, tmpfs, face)


@pytest.fixture(scope="module")
def random_bytes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """random_bytes.c, compiled."""
    program = tmp_path_factory.mktemp("random") / "random_bytes"
    source = ROOT / "tests/gasfs/random_bytes.c"
    run_bounded(["cc", "-O1", source, "-o", program], check=True)
    return program


WAYS = {"mount": [], "preload": ["nomap"], "preload with maps": []}


@pytest.mark.parametrize("way", mpis.slow_but(["mount", "preload"], WAYS))
def test_random_bytes_are_what_was_written(mount: Path, random_bytes: Path, way: str) -> None:
    env = None if way == "mount" else preloaded(mount)
    for seed in range(2):
        words = [random_bytes, mount / "file", str(seed), "3000", *WAYS[way]]
        run_bounded(words, env=env, timeout=120, check=True)


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("way", WAYS)
def test_many_random_bytes_are_what_was_written(mount: Path, random_bytes: Path, way: str) -> None:
    env = None if way == "mount" else preloaded(mount)
    ends, seed = time.monotonic() + 120, 100
    while time.monotonic() < ends:
        words = [random_bytes, mount / "file", str(seed), "50000", *WAYS[way]]
        run_bounded(words, env=env, timeout=600, check=True)
        seed += 1
    assert seed > 100
