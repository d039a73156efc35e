"""What a preloaded program keeps of what stat(2) told of paths is what the kernel would tell; of
statx(2) too."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faces import mounted, needs_preload, preloaded
from mpis import run_bounded
from whole import whole as whole_system


@pytest.fixture(scope="module")
def whole() -> Iterator[Path]:
    """One mount for all tests of this file."""
    needs_preload()
    with mounted() as mount:
        yield mount.folder


STATS = """
import os, sys
sys.path.insert(0, sys.argv[1])
from differential import statx, told
for line in sys.stdin:
    path = line.strip()
    try:
        for _ in range(20): about = os.stat(path)
        for _ in range(20): assert statx(os.fsencode(path)) == told(about)
        print(oct(about.st_mode), about.st_nlink, about.st_size, about.st_ino, flush=True)
    except OSError as error:
        print(error.errno, flush=True)
"""


class Watcher:
    """A preloaded process that asks for paths so often that it keeps what it was told."""

    def __init__(self, mount: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", STATS, Path(__file__).parent],
            env=preloaded(mount),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def sees(self, path: Path) -> str:
        """What it is told of a path."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(path, file=self._process.stdin, flush=True)
        return self._process.stdout.readline().strip()

    def end(self) -> None:
        self._process.communicate(timeout=60)
        assert self._process.returncode == 0


def as_the_kernel_tells(path: Path) -> str:
    """The same, not preloaded."""
    try:
        about = path.stat()
    except OSError as error:
        return str(error.errno)
    return f"{oct(about.st_mode)} {about.st_nlink} {about.st_size} {about.st_ino}"


def changes_of(file: Path) -> list[Callable[[], object]]:
    """All that changes what stat(2) tells of a file, one after the other; it is d/e/f."""
    folder, top = file.parent, file.parents[1]
    return [
        lambda: file.write_bytes(b"longer than before"),
        lambda: file.chmod(0o600),
        lambda: os.truncate(file, 3),
        lambda: os.link(file, top / "other"),
        lambda: (top / "other").unlink(),
        lambda: file.rename(top / "away"),
        lambda: (top / "away").rename(file),
        lambda: folder.rename(top / "g"),
        lambda: (top / "g").rename(folder),
        lambda: file.unlink(),
        lambda: file.write_bytes(b"new"),
        lambda: (file.unlink(), file.symlink_to("nowhere")),
        lambda: (file.unlink(), file.mkdir()),
        lambda: file.rmdir(),
        lambda: file.write_bytes(b"last"),
    ]


def test_what_is_kept_of_a_path_is_never_old() -> None:
    needs_preload()
    with mounted() as mount:
        folder = mount.folder
        file = folder / "d/e/f"
        file.parent.mkdir(parents=True)
        file.touch()
        watcher = Watcher(folder)
        for _ in range(3):
            for change in changes_of(file):
                assert watcher.sees(file) == as_the_kernel_tells(file)
                change()
                assert watcher.sees(file) == as_the_kernel_tells(file)
        watcher.end()
    assert mount.watches > 0
    assert mount.cut_off == 0


def test_a_path_is_not_told_to_whoever_may_not_see_it(mount: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can be two users")
    (mount / "closed").mkdir(mode=0o700)
    (mount / "closed/file").touch()
    code = """
import os, sys
for _ in range(200): os.stat(sys.argv[1])
os.seteuid(1000)
try: os.stat(sys.argv[1])
except PermissionError: print("refused")
os.seteuid(0)
os.stat(sys.argv[1])
"""
    words = [sys.executable, "-c", code, mount / "closed/file"]
    done = run_bounded(words, env=preloaded(mount), check=True)
    assert done.stdout == "refused\n"


def test_a_child_asks_for_itself(mount: Path) -> None:
    (mount / "file").touch()
    code = """
import os, sys
for _ in range(200): os.stat(sys.argv[1])
if os.fork() == 0:
    for _ in range(200): os.stat(sys.argv[1])
    os.chmod(sys.argv[1], 0o640)
    os._exit(0)
assert os.wait()[1] == 0
assert oct(os.stat(sys.argv[1]).st_mode) == "0o100640"
"""
    words = [sys.executable, "-c", code, mount / "file"]
    run_bounded(words, env=preloaded(mount), check=True)


def test_what_another_node_changed_is_seen_when_it_is_done() -> None:
    needs_preload()
    with whole_system(1) as system, system.another_mount() as other:
        file = system.mount / "d/e/f"
        file.parent.mkdir(parents=True)
        file.touch()
        watcher = Watcher(system.mount)
        for change in changes_of(other / "d/e/f"):
            time.sleep(0.05)
            assert watcher.sees(file) == as_the_kernel_tells(file)
            change()
            assert watcher.sees(file) == as_the_kernel_tells(file)
        watcher.end()


def test_a_mount_that_ended_is_not_there() -> None:
    needs_preload()
    with mounted() as mount:
        (mount.folder / "file").touch()
        watcher = Watcher(mount.folder)
        assert watcher.sees(mount.folder / "file").startswith("0o100")
    assert watcher.sees(mount.folder / "file") == "2"  # ENOENT
    watcher.end()
