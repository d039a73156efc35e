"""`./haichi install`: a tree that runs without the checkout, and takes itself away again.

What is installed is listed in the tree (MANIFEST), so that a later version leaves nothing of an
earlier one behind and --remove takes away haichi's files and no others. Each file is put in place
in one step: jobs that are running keep the one that they have open.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from haichi_bootstrap import building, packages, paths, shell
from haichi_bootstrap.shell import Stop

MANIFEST = Path("lib/haichi/manifest")


def install(prefix: Path) -> int:
    """Builds what is not, and installs it under `prefix`; returns the exit status."""
    prefix = prefix.expanduser().absolute()
    if set(" :") & set(str(prefix)):  # nor does anything that is in it start, then
        raise Stop(f"{prefix}: LD_PRELOAD takes no path with a blank or a colon", 2)
    _writable(prefix)
    before = _listed(prefix)
    with building.alone():
        building.set_up_or_go_without((*building.GROUPS, "install"))
        folder = building.build(building.INSTALLABLE)
        with tempfile.TemporaryDirectory(prefix=".haichi-install-", dir=prefix) as name:
            stage = Path(name)
            _stage(folder, stage)
            new = sorted(p.relative_to(stage) for p in stage.rglob("*") if not p.is_dir())
            _refuse_foreign(prefix, new, before)
            # Listed before they are there: whatever interrupts this, --remove knows them all.
            _write_manifest(prefix, {*before, *new})
            for file in new:
                (prefix / file).parent.mkdir(parents=True, exist_ok=True)
                os.replace(stage / file, prefix / file)
    _delete(prefix, before - set(new))
    _write_manifest(prefix, new)
    shell.say(f"installed: {prefix}/bin/haichi ({len(new)} files)")
    if str(prefix / "bin") not in os.environ.get("PATH", "").split(":"):
        shell.say(f'type: export PATH="{prefix}/bin:$PATH"')
    return 0


def remove(prefix: Path) -> int:
    """Takes away what `install` put under `prefix`, and the folders that are empty then."""
    prefix = prefix.expanduser().absolute()
    files = _listed(prefix)
    if not files:
        raise Stop(f"no haichi is installed in {prefix}: there is no {prefix / MANIFEST}", 2)
    _writable(prefix)
    _delete(prefix, files)
    _delete(prefix, [MANIFEST])
    shell.say(f"removed: haichi from {prefix} ({len(files)} files)")
    return 0


def _writable(prefix: Path) -> None:
    try:
        prefix.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Stop(f"cannot make {prefix} ({error.strerror}): name another --prefix", 2) from None
    if not os.access(prefix, os.W_OK):
        raise Stop(f"cannot write to {prefix}: name another --prefix, or install as root", 2)


def _stage(folder: Path, stage: Path) -> None:
    log = paths.OUT / "setup" / "install.log"
    shell.step("cmake --install", f"with what its Python imports, from PyPI; {log}")
    command: shell.Command = ["cmake", "--install", folder, "--prefix", stage, "--strip"]
    shell.must(command, "cmake --install", log, packages.on_path())


def _listed(prefix: Path) -> set[Path]:
    try:
        lines = (prefix / MANIFEST).read_text().splitlines()
    except FileNotFoundError:
        return set()
    files = {Path(line) for line in lines}
    for file in files:
        if file.is_absolute() or ".." in file.parts:
            raise Stop(f"{prefix / MANIFEST} names {file}, which is outside: it was changed", 2)
    return files


def _refuse_foreign(prefix: Path, new: Iterable[Path], before: set[Path]) -> None:
    for file in new:
        if file not in before and os.path.lexists(prefix / file):
            raise Stop(
                f"{prefix / file} is there and was not installed by ./haichi install: "
                "remove it, or name another --prefix",
                2,
            )


def _write_manifest(prefix: Path, files: Iterable[Path]) -> None:
    target = prefix / MANIFEST
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name("manifest.new")
    part.write_text("".join(f"{file}\n" for file in sorted(files)))
    part.replace(target)


def _delete(prefix: Path, files: Iterable[Path]) -> None:
    """Deletes files, and folders as far up as they have become empty."""
    for file in files:
        with contextlib.suppress(FileNotFoundError):
            (prefix / file).unlink()
        with contextlib.suppress(OSError):
            for folder in file.parents[:-1]:
                (prefix / folder).rmdir()
