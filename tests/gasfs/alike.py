"""What is done alike on a mount and on tmpfs, or by both faces, and what it must leave there."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from faces import preloaded
from mpis import ROOT, Mpi, run_bounded, slow_but

MPI_PROGRAM = """
#include <mpi.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
int main(int count, char** words) {
  int rank, ranks;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char record[40];
  memset(record, 'a' + rank, sizeof record);
  const int fd = open(words[1], O_CREAT | O_WRONLY, 0644);
  for (int i = 0; i < 500; ++i) {
    if (lseek(fd, (i * ranks + rank) * 40, SEEK_SET) < 0 || write(fd, record, 40) != 40) return 1;
  }
  if (close(fd) != 0) return 1;
  MPI_File file;
  MPI_Datatype type;
  MPI_Type_vector(500, 40, 40 * ranks, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
  if (MPI_File_open(MPI_COMM_WORLD, words[2], mode, MPI_INFO_NULL, &file)) return 1;
  MPI_File_set_view(file, 40 * rank, MPI_BYTE, type, "native", MPI_INFO_NULL);
  char all[20000];
  memset(all, 'a' + rank, sizeof all);
  if (MPI_File_write_all(file, all, sizeof all, MPI_BYTE, MPI_STATUS_IGNORE)) return 1;
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
"""


def tools() -> dict[str, str]:
    """The scripts of tools.txt by name."""
    text = (ROOT / "tests/gasfs/tools.txt").read_text()
    parts = re.split(r"^== (\w+)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def tools_on(face: str) -> list[object]:
    """The tools as parameters of a test; each is a quick one on one of the two faces."""
    names = list(tools())
    return slow_but(names[("mount", "preload").index(face) :: 2], names)


def told(folder: Path) -> dict[str, object]:
    """All that is in a folder: kind, permissions, links, content."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        what: object = None
        if path.is_symlink():
            what = os.readlink(path)
        elif path.is_file():
            what = about.st_size, about.st_nlink, hashlib.sha256(path.read_bytes()).hexdigest()
        found[str(path.relative_to(folder))] = (oct(about.st_mode), what)
    return found


def leaves_alike(
    tool: str, tree: str, mount: Path, tmpfs: Path, env: Mapping[str, str] | None = None
) -> None:
    """Runs a script of tools.txt in both, with a copy of `tree` there."""
    trees = []
    for place in (mount / "work", tmpfs / "work"):
        place.mkdir()
        shutil.copytree(ROOT / tree, place / "tree")
        (place / "numbers").write_text("".join(f"{i}\n" for i in range(50000)))
        done = run_bounded(["bash", "-ec", tools()[tool]], cwd=place, timeout=60, env=env)
        if done.returncode == 127:
            pytest.skip(done.stderr.strip())  # "…: command not found"
        assert done.returncode == 0, done.stderr
        trees.append(told(place))
    assert trees[0] == trees[1]


def random_calls(mount: Path, tmpfs: Path, face: str, *options: str, timeout: float = 60) -> None:
    """Runs differential.py by the face "mount" or "preload"."""
    program = ROOT / "tests/gasfs/differential.py"
    preload = face == "preload"
    words = [sys.executable, program, mount, tmpfs, *(["--preloaded"] if preload else []), *options]
    done = run_bounded(words, env=preloaded(mount) if preload else None, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr


def descriptors(mount: Path, tmpfs: Path) -> None:
    """Runs descriptors.c on tmpfs, and preloaded on the mount."""
    program = tmpfs / "descriptors"
    source = ROOT / "tests/gasfs/descriptors.c"
    run_bounded(["cc", "-O1", "-pthread", source, "-o", program], check=True)
    (tmpfs / "files").mkdir()
    run_bounded([program, tmpfs / "files/f"], check=True)
    run_bounded([program, mount / "f"], env=preloaded(mount), check=True)
    assert told(mount) == told(tmpfs / "files")


def mpi_files(mpi: Mpi, mount: Path, tmpfs: Path, env: Mapping[str, str]) -> None:
    """Two ranks write a file by plain calls in turn, and one by MPI-IO."""
    source = tmpfs / f"mpi_files_{mpi.abi}.c"
    source.write_text(MPI_PROGRAM)
    mpi.run(2, [mpi.compile(source, into=tmpfs), mount / "a", mount / "b"], env, check=True)
    expected = b"".join(bytes([97 + i % 2]) * 40 for i in range(1000))
    assert (mount / "a").read_bytes() == expected
    assert (mount / "b").read_bytes() == expected
