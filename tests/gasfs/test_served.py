"""Both faces over a dispatcher and a server, as `haichi gasfs start` starts them."""

from __future__ import annotations

import array
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import mpis
import pytest
from alike import descriptors, mpi_files, random_calls
from faces import LIBRARY, needs_preload, preloaded, served
from mpis import run_bounded


@pytest.fixture(scope="module")
def whole() -> Iterator[Path]:
    """One file system for all tests of this file."""
    needs_preload()
    with served() as folder:
        yield folder


@pytest.mark.slow
@pytest.mark.parametrize("face", ["mount", "preload"])
def test_random_calls_answer_alike(mount: Path, tmpfs: Path, face: str) -> None:
    often = ("--writes", "8") if face == "preload" else ()
    options = ("--seeds", "2", "--operations", "1000", *often)
    random_calls(mount, tmpfs, face, *options, timeout=120)


@pytest.mark.slow
def test_descriptors_copies_and_children(mount: Path, tmpfs: Path) -> None:
    descriptors(mount, tmpfs)


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
    env = mpi.stock(LIBRARY, HAICHI_GASFS=str(mount)) if face == "preload" else mpi.stock()
    mpi_files(mpi, mount, tmpfs, env)
