"""`./haichi check`: what can be said of the sources without running them."""

import json
import shlex
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypedDict

from haichi_bootstrap import (
    arrows,
    building,
    commits,
    packages,
    paths,
    python_arrows,
    rooms,
    shell,
)
from haichi_bootstrap.shell import Stop

SRC = paths.ROOT / "src"
PYTHON = paths.ROOT / "python"
CODE = {".c", ".h", ".cpp", ".hpp"}
HEADERS = {".h", ".hpp"}
FORTRAN = {".f", ".f90", ".F90"}
MOST_LINES, MOST_HEADER_LINES = 600, 300


class CompileCommand(TypedDict):
    """An entry of compile_commands.json, as far as it is read here."""

    file: str
    command: str


def check(*, tidy: bool = False) -> int:
    """Runs every check, also after one has failed; returns the exit status."""
    with building.alone():
        building.set_up()
        folder = building.configure()  # for the flags that each folder is compiled with
    files = sources()
    code = [f for f in files if f.suffix in CODE]
    python = [f for f in files if f.suffix == ".py"]
    checks: list[tuple[str, str, Callable[[], Iterable[str]]]] = [
        ("format of C and C++", "clang-format as pinned", lambda: _format(code)),
        (
            "format of Python",
            "ruff format",
            lambda: _ruff(["format", "--check", "--quiet"], python),
        ),
        (
            "lint of Python",
            "ruff check",
            lambda: _ruff(["check", "--output-format=concise"], python),
        ),
        ("types of Python", "mypy --strict", types),
        ("arrows", "includes point one way", lambda: arrows.violations(SRC, _under(SRC, code))),
        (
            "arrows of Python",
            "imports point one way",
            lambda: python_arrows.violations(PYTHON, _under(PYTHON, python)),
        ),
        ("circles", "no modules include each other", lambda: rooms.circles_in(SRC)),
        ("headers", "each compiles by itself", lambda: _headers(folder, code)),
        ("sizes", f"files {MOST_LINES} lines, headers {MOST_HEADER_LINES}", lambda: sizes(files)),
        ("white space", "none at the end of a line", lambda: white_space(files)),
        ("commits", "as CONTRIBUTING.md has them", commits.problems),
    ]
    if tidy:
        checks.append(("clang-tidy", "the checks of .clang-tidy", lambda: _tidy(folder, code)))
    failed = 0
    for name, why, find in checks:
        shell.step(name, why)
        problems = list(find())
        failed += bool(problems)
        for problem in problems:
            shell.say(f"    {problem}")
    shell.say(f"{len(checks) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


def sources() -> list[Path]:
    """Text files of the project: tracked ones, and new ones that git does not ignore."""
    listed = shell.output(
        ["git", "-C", paths.ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    )
    if listed is None:
        raise Stop(f"check asks git which files are ours, and {paths.ROOT} is no git checkout")
    files = (paths.ROOT / name for name in sorted(set(listed.split("\0"))) if name)
    return [f for f in files if f.is_file() and not f.is_symlink() and _is_text(f)]


def _is_text(file: Path) -> bool:
    with open(file, "rb") as stream:
        return b"\0" not in stream.read(4096)


def _under(folder: Path, files: Iterable[Path]) -> list[Path]:
    return [f for f in files if f.is_relative_to(folder)]


def sizes(files: Iterable[Path]) -> Iterable[str]:
    """Source files that are too long to be read in one sitting."""
    for file in files:
        if file.suffix not in CODE | FORTRAN | {".py"} and file.name != "CMakeLists.txt":
            continue
        most = MOST_HEADER_LINES if file.suffix in HEADERS else MOST_LINES
        lines = file.read_bytes().count(b"\n")
        if lines > most:
            yield f"{file}: {lines} lines, at most {most}; part it"


def white_space(files: Iterable[Path]) -> Iterable[str]:
    """Lines that end in white space, and files that do not end in a new line."""
    for file in files:
        text = file.read_bytes()
        for number, line in enumerate(text.split(b"\n"), 1):
            if line != line.rstrip():
                yield f"{file}:{number}: white space at the end of the line"
        if text and not text.endswith(b"\n"):
            yield f"{file}: no new line at the end of the file"


def _lines_of(command: shell.Command) -> list[str]:
    """What a checker says if it fails; nothing if it is content."""
    log = paths.OUT / "check" / f"{Path(command[0]).name}.log"
    status = shell.run(command, log=log, env=packages.on_path(), timeout=600, cwd=paths.ROOT)
    if status == 0:
        return []
    return shell.tail(log, 1000) or [f"{command[0]}: exit {status}"]


def _format(code: list[Path]) -> list[str]:
    if not code:
        return []
    command: shell.Command = [paths.TOOLS / "bin/clang-format", "--dry-run", "-Werror"]
    command += ["--ferror-limit=1", *code]
    return [line for line in _lines_of(command) if "error:" in line]


def _ruff(words: list[str], python: list[Path]) -> list[str]:
    return _lines_of([paths.TOOLS / "bin/ruff", *words, "--no-cache", *python]) if python else []


def types(files: Iterable[Path] = ()) -> list[str]:
    """What the type checker says of these files; of the packages that pyproject.toml names, if
    there are none."""
    cache = paths.OUT / "check" / "mypy"
    command: shell.Command = [paths.TOOLS / "bin/mypy", "--no-error-summary", "--cache-dir", cache]
    return _lines_of([*command, *files])


def _flags(folder: Path) -> dict[str, list[str]]:
    """Folder of src/, and each folder in it, -> how headers there are to be read: as a source
    beside them is."""
    try:
        commands: list[CompileCommand] = json.loads((folder / "compile_commands.json").read_text())
    except (OSError, ValueError) as error:
        raise Stop(f"no compile_commands.json in {folder}: type ./haichi build") from error
    flags: dict[str, list[str]] = {}
    for entry in commands:
        file = Path(entry["file"])
        if file.suffix != ".cpp" or not file.is_relative_to(SRC):
            continue
        within = file.relative_to(SRC)
        for part in (within.parent.as_posix(), within.parts[0]):
            flags.setdefault(part, _reading_flags(shlex.split(entry["command"])))
    return flags


def _reading_flags(command: list[str]) -> list[str]:
    kept: list[str] = []
    for position, word in enumerate(command):
        if word.startswith(("-I", "-D", "-std=")):
            kept.append(word)
        elif word == "-isystem":
            kept += [word, command[position + 1]]
    return kept


def _headers(folder: Path, code: list[Path]) -> list[str]:
    flags = _flags(folder)
    headers = [f for f in _under(SRC, code) if f.suffix in HEADERS]

    def compile_alone(header: Path) -> list[str]:
        part = header.relative_to(SRC).parts[0]
        beside = header.relative_to(SRC).parent.as_posix()
        how = flags.get(beside) or flags.get(part) or flags.get("base", [])
        command: shell.Command = ["g++", *how, "-fsyntax-only", "-Wall"]
        command += ["-include", header, "-x", "c++", "/dev/null"]
        log = paths.OUT / "check" / "headers" / f"{part}-{header.name}.log"
        status = shell.run(command, log=log, timeout=120)
        return [line for line in shell.tail(log, 50) if "error" in line][:3] if status else []

    with ThreadPoolExecutor(shell.processors()) as pool:
        return [line for lines in pool.map(compile_alone, headers) for line in lines]


def _tidy(folder: Path, code: list[Path]) -> list[str]:
    tidy = paths.TOOLS / "bin/clang-tidy"
    # Not the unit tests: they take an optional's value to fail if there is none.
    files = [f for f in _under(SRC, code) if f.suffix == ".cpp" and not f.stem.endswith("_test")]

    def look_at(file: Path) -> list[str]:
        log = paths.OUT / "check" / "tidy" / f"{file.parent.name}-{file.name}.log"
        status = shell.run([tidy, "-p", folder, "--quiet", file], log=log, timeout=600)
        lines = [line for line in shell.tail(log, 1000) if "error:" in line or "warning:" in line]
        return (lines or [f"{file}: clang-tidy exit {status}"]) if status else []

    with ThreadPoolExecutor(shell.processors()) as pool:
        return sorted({line for lines in pool.map(look_at, files) for line in lines})
