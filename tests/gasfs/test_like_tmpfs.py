"""What programs do on the mount gives what it gives on tmpfs."""

from __future__ import annotations

import filecmp
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import differential
import pytest
from alike import leaves_alike, tools_on
from faces import mounted
from mpis import ROOT


@pytest.fixture(scope="module")
def whole() -> Iterator[Path]:
    """One mount for all tests of this file."""
    with mounted() as mount:
        yield mount.folder


@pytest.mark.parametrize("processes", [1, 3])
def test_random_calls_answer_alike(mount: Path, tmpfs: Path, processes: int) -> None:
    for seed in range(4):
        options = differential.Options(operations=2000, processes=processes)
        found = differential.run(mount, tmpfs, seed + 100 * processes, options)
        assert not found, found


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(0, 200, 10))
def test_many_random_calls_answer_alike(mount: Path, tmpfs: Path, first: int) -> None:
    for seed in range(first, first + 10):
        options = differential.Options(operations=100_000)
        found = differential.run(mount, tmpfs, 10_000 + seed, options)
        assert not found, found


RECORDS = """
import os, sys
path, me, all = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
fd = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
for i in range(600):
    os.lseek(fd, (i * all + me) * 40, os.SEEK_SET)
    os.write(fd, bytes([65 + me]) * 40)
os.close(fd)
"""


def test_records_of_processes_at_once_are_all_there(mount: Path) -> None:
    path = mount / "records"
    writers = [
        subprocess.Popen([sys.executable, "-c", RECORDS, path, str(me), "4"]) for me in range(4)
    ]
    assert [writer.wait(60) for writer in writers] == [0] * 4
    assert path.read_bytes() == b"".join(bytes([65 + i % 4]) * 40 for i in range(2400))


@pytest.mark.parametrize("tool", tools_on("mount"))
def test_tools_leave_what_they_leave_on_tmpfs(mount: Path, tmpfs: Path, tool: str) -> None:
    leaves_alike(tool, "src/gasfs", mount, tmpfs)


@pytest.mark.parametrize("mode", ["wal", "delete", "truncate"])
def test_sqlite(mount: Path, mode: str) -> None:
    with sqlite3.connect(mount / "db", timeout=20) as first:
        assert first.execute(f"pragma journal_mode={mode}").fetchone() == (mode,)
        first.execute("create table t (k integer primary key, v blob)")
        add = "insert into t (v) values (randomblob(500))"
        code = f"import sqlite3\nwith sqlite3.connect({str(mount / 'db')!r}, timeout=20) as c:\n"
        loop = f" for i in range(100):\n  c.execute({add!r}); c.commit()\n"
        others = [subprocess.Popen([sys.executable, "-c", code + loop]) for _ in range(3)]
        for _ in range(100):
            first.execute(add)
            first.commit()
        assert [other.wait(60) for other in others] == [0, 0, 0]
        assert first.execute("select count(*) from t").fetchone() == (400,)
        assert first.execute("pragma integrity_check").fetchone() == ("ok",)
    first.close()


def test_a_tree_comes_back_as_it_was(mount: Path) -> None:
    shutil.copytree(ROOT / "src/base", mount / "base")
    compared = filecmp.dircmp(ROOT / "src/base", mount / "base")
    assert compared.left_list == compared.right_list
    assert not compared.diff_files


def test_a_folder_of_many_names_is_listed_while_it_changes(mount: Path) -> None:
    folder = mount / "many"
    folder.mkdir()
    for i in range(5000):
        os.mknod(folder / f"{i:05}")
    seen = []
    with os.scandir(folder) as entries:
        for entry in entries:
            seen.append(entry.name)
            if len(seen) % 7 == 0:
                os.unlink(folder / seen[-1])
    assert sorted(seen) == [f"{i:05}" for i in range(5000)]
    assert len(os.listdir(folder)) == 5000 - 5000 // 7
