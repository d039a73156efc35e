"""The arrows between the packages of python/, read from their imports."""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

# Package -> the others of ours that it may import.
ARROWS: Mapping[str, frozenset[str]] = {
    "haichi_processes": frozenset(),
    "haichi_bootstrap": frozenset({"haichi_processes"}),
    "haichi": frozenset({"haichi_processes"}),
}
# They run before anything is installed.
STANDARD_LIBRARY_ONLY = frozenset({"haichi_processes", "haichi_bootstrap"})
# Who starts programs: all others do it by haichi_processes. The lab and the file system have
# processes that outlive their command.
STARTERS = frozenset(
    {
        "haichi_processes/runner.py",
        "haichi_processes/background.py",
        "haichi/lab.py",
        "haichi/gasfs/daemons.py",
    }
)


def violations(python: Path, files: Iterable[Path]) -> Iterator[str]:
    """Yields one line for each import in `files` (under `python`) that breaks a rule."""
    for file in files:
        name = file.relative_to(python)
        package = name.parts[0]
        if package not in ARROWS:
            continue  # tests
        for number, module in _imports(file):
            if problem := _problem(name.as_posix(), package, module):
                yield f"{file}:{number}: {problem}"


def _imports(file: Path) -> Iterator[tuple[int, str]]:
    """Line and first part of the name of each module that is imported, anywhere in the file."""
    for node in ast.walk(ast.parse(file.read_text(), str(file))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, each.name.split(".")[0]) for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, (node.module or ".").split(".")[0]


def _problem(name: str, package: str, module: str) -> str | None:
    if module == "subprocess" and name not in STARTERS:
        return "programs are started by haichi_processes.runner, not by subprocess"
    if module == package or module in ARROWS[package]:
        return None
    if module in ARROWS:
        allowed = ", ".join(sorted(ARROWS[package])) or "none"
        return f"{package} may not import {module}; of our packages it may import: {allowed}"
    if package in STANDARD_LIBRARY_ONLY and module not in sys.stdlib_module_names:
        return f"{package} may not import {module}: it has the standard library only"
    return None
