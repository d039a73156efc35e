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
    command = ["cmake", "--install", mpis.BUILD, "--prefix", made, "--strip"]
    mpis.run_bounded(command, timeout=250, check=True)
    return made.rename(made.with_name("moved"))


def call(tree: Path, *words: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    path = f"{tree}/bin:{os.environ['PATH']}"
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    whole = {**os.environ, **allowed, "MANPATH": f"{tree}/share/man:", **env, "PATH": path}
    return mpis.run_bounded(words, env=whole, timeout=250)


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


def test_what_slurm_gives_to_each_task(tree: Path, tmp_path: Path) -> None:
    """The environment that TaskProlog prints, under a program that nobody changed."""
    if not shutil.which("mpicc.openmpi"):
        pytest.skip("no mpicc.openmpi here")
    settings = tmp_path / "haichi.toml"
    settings.write_text(f'report.file = "{tmp_path}/report.json"\n')
    prolog = tree / "share" / "haichi" / "slurm" / "task_prolog.sh"
    given = {"HAICHI_CONFIG": str(settings), "LD_PRELOAD": ""}
    assert call(tree, prolog, **given, LOADEDMODULES="gcc/12:cuda/12").stdout == ""
    loaded = {**given, "LOADEDMODULES": "gcc/12:openmpi/4.1"}
    assert call(tree, prolog, **loaded, HAICHI_DISABLE="1").stdout == ""
    printed = call(tree, prolog, **loaded)
    assert printed.returncode == 0, printed.stderr
    lines = [line.removeprefix("export ") for line in printed.stdout.splitlines()]
    task = dict(line.split("=", 1) for line in lines)
    assert task["LD_PRELOAD"] == f"{tree}/lib/haichi/lib/libhaichi-openmpi.so"
    call(tree, "mpicc.openmpi", "-o", tmp_path / "first", FIRST / "first.c")
    exports = [word for name in task for word in ("-x", name)]
    launch = ["mpiexec.openmpi", "-n", "2", "--oversubscribe", *exports]
    done = call(tree, *launch, tmp_path / "first", tmp_path / "data", **task)
    assert done.stdout == "right\n", done.stderr
    assert (tmp_path / "report.json").exists()


def test_nothing_in_it_names_the_checkout(tree: Path) -> None:
    root = str(Path(__file__).parents[2]).encode()
    found = [p for p in tree.rglob("*") if p.is_file() and root in p.read_bytes()]
    assert found == []
