"""`haichi where` of files and memory: on which NUMA nodes their pages lie."""

from __future__ import annotations

import ctypes
import mmap
import os
from pathlib import Path

import mpis
import pytest
from mpis import HAICHI
from split_io import NUMAIO, needs

MIB = 1 << 20
USAGE, BAD_INPUT = 64, 78


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    needs(NUMAIO)


def where(*words: str | Path) -> list[dict[str, str]]:
    """The rows of the table, by the columns' names."""
    done = mpis.run_bounded([HAICHI, "where", *words], timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
    return rows(done.stdout)


def rows(text: str) -> list[dict[str, str]]:
    head, *lines = text.split("\n\n")[0].splitlines()
    names = [each.strip() for each in head.removeprefix("MiB").split("  ") if each.strip()]
    made = []
    for line in lines:
        values = line.split(maxsplit=len(names) - 1)
        made.append(dict(zip(names, values, strict=True)))
    return made


def on_nodes(row: dict[str, str]) -> float:
    return sum(float(value) for name, value in row.items() if name.startswith("node "))


def test_a_cached_file_is_on_nodes(tmp_path: Path) -> None:
    file = tmp_path / "a file"
    file.write_bytes(bytes(3 * MIB))
    (row,) = where(file)
    assert row["what"] == str(file)
    assert (on_nodes(row), float(row["all"])) == (3, 3)


def test_what_is_not_cached_is_told_and_not_read(tmp_path: Path) -> None:
    file = tmp_path / "cold"
    file.write_bytes(os.urandom(8 * MIB))
    descriptor = os.open(file, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)
    for _ in range(2):  # the first look has cached nothing
        (row,) = where(file)
        if "not cached" not in row:
            pytest.skip("the file system of the temporary folder keeps all files in memory")
        assert float(row["not cached"]) > 7


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "none").touch()
    (row,) = where(tmp_path / "none")
    assert float(row["all"]) == 0


@pytest.mark.parametrize("options", [[], ["--sampled"]])
def test_memory_that_is_half_touched(options: list[str]) -> None:
    memory = mmap.mmap(-1, 8 * MIB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for page in range(0, 4 * MIB, mmap.PAGESIZE):
        memory[page] = 1
    done = mpis.run_bounded(
        [HAICHI, "where", f"{os.getpid()}:{address:#x}+{8 * MIB}", "--map", *options], timeout=30
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = rows(done.stdout)
    assert sum(on_nodes(row) for row in found) == pytest.approx(4, abs=0.1)
    assert sum(float(row["no page yet"]) for row in found) == pytest.approx(4, abs=0.1)
    assert "no page yet" in done.stdout.split("\n\n", 1)[1]


def test_a_folder_with_the_largest_first(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for name, size in (("a", 1), ("below/b", 3), ("c", 2)):
        (tmp_path / name).write_bytes(bytes(size * MIB))
    found = where("--page-cache", tmp_path, "--most", "2")
    assert [row["what"].removeprefix(f"{tmp_path}/") for row in found[:2]] == ["below/b", "c"]
    assert len(found) == 3
    assert on_nodes(found[2]) == 6


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nosuch"], BAD_INPUT, "where: nosuch: No such file or directory"),
        (["/"], BAD_INPUT, "where: /: no regular file"),
        (["1:2"], BAD_INPUT, "where: 1:2: No such file or directory"),
        ([f"{1 << 30}:0x1000+4096"], BAD_INPUT, "smaps can't be read"),
        (["--page-cache", "nosuch"], BAD_INPUT, "nosuch: No such file or directory"),
        (["README.md", "--odd"], USAGE, "where: "),
    ],
)
def test_what_is_not_there_is_one_line(words: list[str], code: int, said: str) -> None:
    done = mpis.run_bounded([HAICHI, "where", *words], timeout=30)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert done.stderr.startswith("haichi: error: ")
    assert said in done.stderr


def test_a_job_is_still_shown_without_names() -> None:
    done = mpis.run_bounded([HAICHI, "where", "--mpi", "nosuch"], timeout=30)
    assert done.returncode == USAGE
    assert "--mpi takes mpich, openmpi or mpiabi" in done.stderr
