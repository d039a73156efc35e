"""The tree of `cmake --install`: moved elsewhere, it runs, reports and answers what it has not."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import mpis
import pytest

pytestmark = pytest.mark.slow  # pip takes its time
FIRST = Path(__file__).parents[1] / "install"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("installed") / "made-here"
    subprocess.run(
        ["cmake", "--install", mpis.BUILD, "--prefix", made, "--strip"],
        check=True,
        capture_output=True,
    )
    return made.rename(made.with_name("moved"))


def call(tree: Path, *words: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    path = f"{tree}/bin:{os.environ['PATH']}"
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return subprocess.run(
        [str(word) for word in words],
        env={**os.environ, **allowed, "MANPATH": f"{tree}/share/man:", **env, "PATH": path},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )


def test_what_a_new_user_types(tree: Path) -> None:
    for name in ("mpif90.mpich", "mpif90.openmpi", "mpicc.openmpi", "mpicc.mpich"):
        if not shutil.which(name):
            pytest.skip(f"no {name} here")
    without = [] if (tree / "share" / "man").exists() else ["manual"]
    done = call(tree, "sh", FIRST / "first.sh", FIRST, *without, TMPDIR=str(tree.parent))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("right, with a report") == 4
    assert done.stdout.endswith("all of first.sh passed\n")


def test_a_command_of_the_checkout_is_named_as_such(tree: Path) -> None:
    done = call(tree, "haichi", "demo")
    assert done.returncode == 2
    assert "'demo' is a command of haichi's checkout" in done.stderr
    native = call(tree, tree / "lib" / "haichi" / "bin" / "haichi", "demo")
    assert (native.returncode, native.stderr) == (done.returncode, done.stderr)


def test_it_is_started_through_a_link(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "h").symlink_to(os.path.relpath(tree / "bin" / "haichi", tmp_path))
    assert call(tree, tmp_path / "h", "--version").stdout.startswith("haichi ")


def test_the_module_file_finds_the_tree_that_it_lies_in(tree: Path) -> None:
    modulecmd = "/usr/lib/modulecmd.tcl"
    if not Path(modulecmd).exists():
        pytest.skip("no Environment Modules here")
    folder = tree / "share" / "modulefiles"
    done = call(tree, modulecmd, "sh", "load", "haichi", MODULEPATH=str(folder))
    assert done.returncode == 0, done.stderr
    assert f"{tree}/bin" in done.stdout.replace("\\", "")


def test_nothing_in_it_names_the_checkout(tree: Path) -> None:
    root = str(Path(__file__).parents[2]).encode()
    found = [p for p in tree.rglob("*") if p.is_file() and root in p.read_bytes()]
    assert found == []
