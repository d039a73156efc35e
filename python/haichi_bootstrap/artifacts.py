"""`./haichi package`: what a site or a user installs without a checkout, under out/packages.

A Debian package for the release of Debian that this is, by CPack; a wheel for every Linux from
glibc 2.28 on (PEP 600), whose native part Zig's compiler links against the glibc of that version.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from haichi_bootstrap import building, environments, packages, paths, shell

PACKAGES = paths.OUT / "packages"
GLIBC = "2.28"
ARCHITECTURE = "x86_64"
_ENVIRONMENT = environments.Environment(
    paths.ROOT / ".venv-wheel", ("wheel.txt",), "Zig's compiler and auditwheel"
)


def deb() -> Path:
    """A Debian package of the release build, with the Python libraries that it imports."""
    with building.alone():
        building.set_up_or_go_without((*building.GROUPS, "install"))
        folder = building.build(building.INSTALLABLE)
    log = paths.OUT / "setup" / "deb.log"
    shell.step("cpack", f"makes a Debian package; {log}")
    stage = paths.BUILD / "deb"
    command: shell.Command = ["cpack", "-G", "DEB", "-B", stage]
    command += ["--config", folder / "CPackConfig.cmake"]
    shell.must(command, "cpack", log, packages.on_path())
    return _keep(stage, "*.deb")


def wheel() -> Path:
    """A wheel for glibc 2.28 and later; it has no `where`."""
    with building.alone():
        building.set_up_or_go_without((*building.GROUPS, "install"))
        environments.provide([_ENVIRONMENT])
        headers = packages.unpacked_headers()
    stage = paths.BUILD / "wheel"
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    log = paths.OUT / "setup" / "wheel.log"
    shell.step("pip wheel", f"compiled by Zig against glibc {GLIBC}, some minutes; {log}")
    target = f"-target {ARCHITECTURE}-linux-gnu.{GLIBC}"
    zig = _ENVIRONMENT.folder / "bin" / "python-zig"
    env = {
        "CC": f"{zig} cc {target}",
        "CXX": f"{zig} c++ {target}",
        # The headers of libraries lie among glibc's in /usr/include, which are not of that version.
        "CMAKE_ARGS": f"-DCMAKE_PREFIX_PATH={headers} -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF "
        f"-DCMAKE_LIBRARY_ARCHITECTURE={ARCHITECTURE}-linux-gnu "
        # A look at what each source includes by itself, which GCC's builds don't have.
        "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON",
        "ZIG_GLOBAL_CACHE_DIR": str(paths.BUILD / "zig"),
        "CMAKE_CXX_COMPILER_LAUNCHER": "",
        "CMAKE_C_COMPILER_LAUNCHER": "",
        **packages.on_path(),
    }
    pip: shell.Command = [paths.PYTHON, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", stage]
    pip += [f"--config-settings=build-dir={paths.BUILD / 'portable'}", paths.ROOT]
    shell.must(pip, "pip wheel", log, env)
    made = next(stage.glob("*.whl"))
    shell.step("auditwheel", "looks whether it needs nothing that is newer")
    audit: shell.Command = [_ENVIRONMENT.folder / "bin" / "python", "-m", "auditwheel", "repair"]
    audit += ["--plat", f"manylinux_{GLIBC.replace('.', '_')}_{ARCHITECTURE}"]
    audit += ["--wheel-dir", stage / "portable", made]
    log = log.with_name("auditwheel.log")
    shell.must(audit, "auditwheel", log, {"PATH": f"{zig.parent}:{os.environ['PATH']}"})
    return _keep(stage / "portable", "*.whl")


KINDS: dict[str, Callable[[], Path]] = {"deb": deb, "wheel": wheel}


def _keep(folder: Path, pattern: str) -> Path:
    """Puts the one file that was made into PACKAGES."""
    made = next(folder.glob(pattern))
    PACKAGES.mkdir(parents=True, exist_ok=True)
    kept = PACKAGES / made.name
    part = kept.with_suffix(".part")
    shutil.copyfile(made, part)
    part.replace(kept)
    return kept
