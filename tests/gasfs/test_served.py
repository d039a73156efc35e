"""Both faces over a dispatcher and a server, as `haichi gasfs start` starts them."""

from __future__ import annotations

import array
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import differential
import mpis
import pytest
from faces import LIBRARY, needs_preload, on_tmpfs, preloaded, served
from mpis import ROOT, run_bounded
from test_like_tmpfs import told
from test_preload import PROGRAM


@pytest.fixture(scope="module")
def whole() -> Iterator[Path]:
    """One file system for all tests of this file."""
    needs_preload()
    with served() as folder:
        yield folder


@pytest.fixture
def mount(whole: Path) -> Iterator[Path]:
    """The mount, empty."""
    yield whole
    differential.empty(whole)


@pytest.fixture
def tmpfs() -> Iterator[Path]:
    """A folder on tmpfs."""
    with on_tmpfs() as folder:
        yield folder


@pytest.mark.slow
@pytest.mark.parametrize("face", ["mount", "preload"])
def test_random_calls_answer_alike(mount: Path, tmpfs: Path, face: str) -> None:
    words = [sys.executable, ROOT / "tests/gasfs/differential.py", mount, tmpfs]
    words += ["--seeds", "2", "--operations", "1000"]
    words += ["--preloaded", "--writes", "8"] if face == "preload" else []
    env = preloaded(mount) if face == "preload" else None
    done = run_bounded(words, env=env, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_descriptors_copies_and_children(mount: Path, tmpfs: Path) -> None:
    program = tmpfs / "descriptors"
    source = ROOT / "tests/gasfs/descriptors.c"
    run_bounded(["cc", "-O1", "-pthread", source, "-o", program], check=True)
    (tmpfs / "files").mkdir()
    run_bounded([program, tmpfs / "files/f"], check=True)
    run_bounded([program, mount / "f"], env=preloaded(mount), check=True)
    assert told(mount) == told(tmpfs / "files")


DIRECT_ACCESS = """
program direct
  implicit none
  character(len=4096) :: path, word
  real(8) :: record(5)
  integer :: me, all, i, unit
  call get_command_argument(1, path)
  call get_command_argument(2, word)
  read (word, *) me
  call get_command_argument(3, word)
  read (word, *) all
  open (newunit=unit, file=trim(path), access="direct", form="unformatted", recl=40)
  do i = 0, 999
    record = real(i * all + me, 8)
    write (unit, rec=i * all + me + 1) record
  end do
  close (unit)
end program
"""


@pytest.mark.parametrize("face", ["mount", "preload"])
def test_fortran_records_of_processes_in_turn(mount: Path, tmpfs: Path, face: str) -> None:
    (tmpfs / "direct.f90").write_text(DIRECT_ACCESS)
    if shutil.which("gfortran") is None:
        pytest.skip("no gfortran: install it")
    done = run_bounded(["gfortran", tmpfs / "direct.f90", "-o", tmpfs / "direct"], timeout=60)
    assert done.returncode == 0, done.stderr
    env = preloaded(mount) if face == "preload" else None
    (mount / "records").touch()
    code = (
        "import subprocess, sys\n"
        "ps = [subprocess.Popen([sys.argv[1], sys.argv[2], str(i), '4']) for i in range(4)]\n"
        "sys.exit(any([p.wait() for p in ps]))"
    )
    words = [sys.executable, "-c", code, tmpfs / "direct", mount / "records"]
    run_bounded(words, env=env, timeout=100, check=True)
    numbers = array.array("d", (mount / "records").read_bytes())
    assert numbers.tolist() == [float(i // 5) for i in range(20000)]


@pytest.mark.parametrize("face", ["mount", "preload"])
def test_mpi_files(mpi: mpis.Mpi, mount: Path, tmpfs: Path, face: str) -> None:
    source = tmpfs / f"on_mount_{mpi.abi}.c"
    source.write_text(PROGRAM)
    env = mpi.stock(LIBRARY, HAICHI_GASFS=str(mount)) if face == "preload" else mpi.stock()
    mpi.run(2, [mpi.compile(source, into=tmpfs), mount / "a", mount / "b"], env, check=True)
    expected = b"".join(bytes([97 + i % 2]) * 40 for i in range(1000))
    assert (mount / "a").read_bytes() == expected
    assert (mount / "b").read_bytes() == expected
