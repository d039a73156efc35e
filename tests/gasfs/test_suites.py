"""Programs that others try file systems with, on the mount and preloaded, in front of files in
memory and of servers:

    ./haichi test --only suites --long

fio with --verify, stress-ng's file-system stressors, dbench, sqlite's write-ahead log, git, make.
Each of them checks what it reads; here is what is done, by whom, and for how long. What a stressor
gives on tmpfs is what it has to give here.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from faces import behind, preloaded
from mpis import run_bounded

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module", params=["memory", "servers"])
def whole(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Mounts of files in memory, and of servers."""
    with behind(request.param, 5400) as folder:
        yield folder


@pytest.fixture(params=["mount", "preload"])
def env(request: pytest.FixtureRequest, mount: Path) -> Mapping[str, str] | None:
    """The environment of a program by one of the faces."""
    return preloaded(mount) if request.param == "preload" else None


def program(name: str) -> str:
    """Where it is, or a skip that says what to install."""
    found = shutil.which(name)
    if not found:
        pytest.skip(f"no {name} here: apt install {name}")
    return found


ENGINES = ("psync", "sync", "pvsync2", "mmap", "libaio", "posixaio", "io_uring", "splice")
PATTERNS = {
    "random": ["--rw=randrw", "--bsrange=512-64k"],
    "unaligned": ["--rw=randwrite", "--bsrange=1000-9k", "--bs_unaligned=1", "--norandommap=0"],
    "rows": ["--rw=write:36k", "--bs=4k"],
}


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("engine", ENGINES)
def test_fio_reads_what_it_wrote(
    mount: Path, env: Mapping[str, str] | None, engine: str, pattern: str
) -> None:
    """Two threads, each a file. By the preload what was written is verified on the mount too."""
    if engine == "splice" and pattern == "unaligned":
        pytest.skip("fio's splice engine takes whole pages only")
    job = [
        program("fio"), "--name=job", f"--directory={mount}", f"--ioengine={engine}", "--thread",
        "--numjobs=2", "--iodepth=4", "--size=6m", "--verify=crc32c", "--verify_fatal=1",
        "--verify_state_save=0", *PATTERNS[pattern],
    ]  # fmt: skip
    run_bounded(job, env=env, timeout=300, check=True)
    if env:
        run_bounded([*job, "--verify_only"], timeout=300, check=True)


STRESSORS = (
    "access", "aio", "aiol", "chdir", "chmod", "chown", "copy-file", "dentry", "dir", "dirdeep",
    "dirmany", "dnotify", "dup", "fallocate", "fault", "fcntl", "fiemap", "file-ioctl", "filename",
    "flock", "fpunch", "fsize", "fstat", "getdent", "handle", "hdd", "inotify", "io", "iomix",
    "lease", "link", "locka", "lockf", "lockofd", "mknod", "open", "readahead", "rename", "revio",
    "seek", "sendfile", "splice", "symlink", "sync-file", "touch", "utime", "verity", "xattr",
)  # fmt: skip


@pytest.mark.parametrize("stressor", STRESSORS)
def test_stressors_find_nothing(
    mount: Path, tmpfs: Path, env: Mapping[str, str] | None, stressor: str
) -> None:
    codes = []
    for place, environment in ((mount, env), (tmpfs, None)):
        words = [program("stress-ng"), f"--{stressor}", "2", "--timeout", "4", "--verify"]
        done = run_bounded([*words, "--temp-path", place], env=environment, timeout=120)
        codes.append(done.returncode)
        said = done.stdout + done.stderr
        assert codes[-1] == codes[0] or codes[-1] in (0, 3, 4), said
        assert not re.search(r"\bfail:", said), said
    assert codes[0] == codes[1] or codes[0] == 0, f"{codes}: {said}"
    # Two stressors that were killed may leave a folder; nothing else.
    assert all(path.is_dir() for path in mount.iterdir())


def test_dbench(mount: Path, env: Mapping[str, str] | None) -> None:
    loads = Path("/usr/share/dbench/client.txt")
    words = [program("dbench"), "-D", mount, "-t", "20", "-c", loads, "4"]
    done = run_bounded(words, env=env, timeout=200, check=True)
    found = re.search(r"Throughput ([\d.]+) MB/sec", done.stdout)
    assert found and float(found[1]) > 0, done.stdout
    assert "failed" not in done.stdout + done.stderr


ACCOUNTS = 50
MOVE = f"""
import random, sqlite3, sys
with sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None) as c:
    c.execute("pragma synchronous=normal")
    print("on", flush=True)
    while True:
        a, b = random.sample(range({ACCOUNTS}), 2)
        c.execute("begin immediate")
        c.execute("update t set v = v - 1 where k = ?", (a,))
        c.execute("update t set v = v + 1 where k = ?", (b,))
        c.execute("insert into log values (randomblob(300))")
        c.execute("commit")
"""


def test_sqlite_log_with_writers_that_are_killed(
    mount: Path, env: Mapping[str, str] | None
) -> None:
    """Readers see whole transactions only, whoever dies in the middle of one."""
    path = mount / "db"
    with sqlite3.connect(path, timeout=60, isolation_level=None) as db:
        assert db.execute("pragma journal_mode=wal").fetchone() == ("wal",)
        db.execute("create table t (k integer primary key, v integer)")
        db.execute("create table log (v blob)")
        db.executemany("insert into t values (?, 100)", [(k,) for k in range(ACCOUNTS)])
        moved = 0
        for _ in range(6):
            writers = [
                subprocess.Popen(
                    [sys.executable, "-c", MOVE, path], env=env, stdout=subprocess.PIPE, text=True
                )
                for _ in range(2)
            ]
            try:
                for writer in writers:
                    assert writer.stdout
                    assert writer.stdout.readline() == "on\n"
                ends = time.monotonic() + 2
                while time.monotonic() < ends:
                    assert db.execute("select sum(v) from t").fetchone() == (100 * ACCOUNTS,)
            finally:
                for writer in writers:
                    writer.send_signal(signal.SIGKILL)
                    writer.communicate(timeout=60)
            assert db.execute("select sum(v) from t").fetchone() == (100 * ACCOUNTS,)
            assert db.execute("pragma integrity_check").fetchone() == ("ok",)
            now = db.execute("select count(*) from log").fetchone()[0]
            assert now > moved
            moved = now
        db.execute("pragma wal_checkpoint(truncate)")
    db.close()
    assert sorted(os.listdir(mount)) == ["db"]


GIT = """
git init -q .; git config user.email a@b; git config user.name a; git config core.fsync all
mkdir d0 d1 d2
for i in 1 2 3 4 5 6 7; do
  for f in {1..15}; do printf "%s\\n" {1..200} $i $f > d$((f % 3))/f$((f * i % 40)); done
  git add -A; git commit -qm $i
  [ -z "$(git status --porcelain)" ]
  git branch b$i
done
git checkout -q b3; echo x > new; git add new; git commit -qm new; git rebase -q b7
git repack -adq; git gc -q --prune=now
git fsck --strict --no-progress
git clone -q . ../clone
git -C ../clone fsck --strict --no-progress
[ "$(git rev-parse HEAD^{tree})" = "$(git -C ../clone rev-parse HEAD^{tree})" ]
git worktree add -q ../tree b5; git -C ../tree status --porcelain | wc -l | grep -qx 0
"""


def test_git(mount: Path, env: Mapping[str, str] | None) -> None:
    program("git")
    (mount / "work").mkdir()
    run_bounded(["bash", "-ec", GIT], cwd=mount / "work", env=env, timeout=300, check=True)


MAKE = """
SOURCES := $(wildcard *.c)
app: libparts.a main.o
\t$(CC) -o $@ main.o -L. -lparts
libparts.a: $(patsubst %.c,%.o,$(filter-out main.c,$(SOURCES)))
\trm -f $@ && ar rcs $@ $^
%.o: %.c parts.h
\t$(CC) -O1 -MMD -c $< -o $@
-include *.d
"""


def test_make_with_several_jobs(mount: Path, env: Mapping[str, str] | None) -> None:
    """What is built runs, and is not built again; what depends on a changed file is."""
    program("make")
    parts = range(30)
    (mount / "Makefile").write_text(MAKE)
    (mount / "parts.h").write_text("".join(f"int part{i}(void);\n" for i in parts))
    for i in parts:
        text = f'#include "parts.h"\n#include <stdio.h>\nint part{i}(void) {{ return {i}; }}\n'
        (mount / f"part{i}.c").write_text(text)
    calls = " + ".join(f"part{i}()" for i in parts)
    whole = f'#include "parts.h"\nint main(void) {{ return {calls} != {sum(parts)}; }}\n'
    (mount / "main.c").write_text(whole)
    make = ["make", "-j4"]
    run_bounded(make, cwd=mount, env=env, timeout=300, check=True)
    run_bounded([mount / "app"], env=env, check=True)
    again = run_bounded(make, cwd=mount, env=env, timeout=60, check=True)
    assert "is up to date" in again.stdout
    (mount / "part7.c").write_text('#include "parts.h"\nint part7(void) { return 8; }\n')
    built = run_bounded(make, cwd=mount, env=env, timeout=60, check=True).stdout
    assert built.count(" -c ") == 1, built
    assert run_bounded([mount / "app"], env=env).returncode == 1
