"""`./haichi test`: the unit tests by CTest, then the others by pytest, and one line at the end."""

import dataclasses
import os
import re
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from haichi_processes.runner import TIMED_OUT, how

from haichi_bootstrap import building, environments, packages, paths, shell, sources
from haichi_bootstrap.shell import Stop

LOGS = paths.OUT / "test"
GROUPS = (*building.GROUPS, "demo", "install", "tests")
MOST_AT_A_TIME = 4  # programs of up to 16 ranks


@dataclasses.dataclass
class Outcome:
    """What became of some tests. A failure and a skip carry their reason."""

    passed: int = 0
    failed: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    skipped: list[tuple[str, str]] = dataclasses.field(default_factory=list)

    def add(self, other: "Outcome") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def line(self) -> str:
        return f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"

    def status(self) -> int:
        """Exit status: a run in which nothing passed proves nothing, so it fails too."""
        return 0 if self.passed and not self.failed else 1


Judge = Callable[[ElementTree.Element, Outcome], None]  # counts one case of a JUnit file


@dataclasses.dataclass(frozen=True)
class Sanitizer:
    preset: str
    env: dict[str, str]
    runtime: str  # what everything must load first that the tests start; "" if that crashes


SANITIZERS = {
    "address,undefined": Sanitizer(
        "asan",
        {
            # The shim is loaded into programs that know nothing of the sanitizer, and the MPI
            # libraries leak on purpose.
            "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0:abort_on_error=1",
            "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        },
        "libasan.so",
    ),
    "thread": Sanitizer(
        "tsan",
        {
            # The MPI libraries are not built for it: what their threads share, seen by way of the C
            # library but without the atomic operations that order it, looks like races.
            "TSAN_OPTIONS": "halt_on_error=1:ignore_noninstrumented_modules=1",
        },
        "",  # launchers crash: tests/mpis.py loads it into the ranks
    ),
}


def random_cases(
    *,
    what: str,
    count: int,
    first: int,
    seed: int,
    seconds: float,
    resume: bool,
    sanitize: str | None,
    mpi: str | None,
) -> NoReturn:
    """Sets up, builds, and becomes tests/oracle/many_cases.py: random "cases" of collective I/O or
    "programs" that write, against the byte model."""
    sanitizer = SANITIZERS[sanitize] if sanitize else None
    with building.alone():
        building.set_up(GROUPS)
        folder = building.build(building.ALL, sanitizer.preset if sanitizer else "release")
    words: shell.Command = [paths.PYTHON, paths.ROOT / "tests" / "oracle" / "many_cases.py"]
    words += [f"--{what}", str(count), "--first", str(first), "--seed", str(seed)]
    words += ["--seconds", str(seconds), *(["--resume"] if resume else [])]
    words += ["--mpi", mpi] if mpi else []
    env = {**packages.on_path(), **(sanitizer.env if sanitizer else {})}
    shell.step(f"random {what}", f"{count} against the byte model; logs in out/test/{what}")
    sys.stdout.flush()
    # In our place: Ctrl-C has to reach the one that ends the ranks.
    os.execve(words[0], shell.words(words), {**os.environ, **env, "HAICHI_BUILD": str(folder)})


def test(
    *,
    quick: bool = False,
    long: bool = False,
    only: str | None = None,
    sanitize: str | None = None,
) -> int:
    """Sets up, builds, runs every test; returns the exit status."""
    sanitizer = SANITIZERS[sanitize] if sanitize else None
    with building.alone():
        without = building.set_up(GROUPS)
        if not quick:
            environments.provide(environments.for_tests())
            environments.provide_comparing()
            sources.provide()
        folder = building.build(building.ALL, sanitizer.preset if sanitizer else "release")
    for package in without:
        shell.say(f"haichi: goes without {package.name} (no root): {package.why}")
    LOGS.mkdir(parents=True, exist_ok=True)
    env = dict(sanitizer.env) if sanitizer else {}
    total = Outcome()
    total.add(unit_tests(folder, quick=quick, only=only, env=env))
    env |= _preloaded(sanitizer)
    left_out = ["slow", "long"] if quick else [] if long else ["long"]
    total.add(
        program_tests(
            folder,
            left_out=left_out,
            only=only,
            env=env,
            limit=_longest_s(left_out, sanitizer),
        )
    )
    return conclude(total)


def _longest_s(left_out: list[str], sanitizer: Sanitizer | None) -> int:
    """How long the program tests may take. With sanitizers programs take several times as long."""
    if sanitizer or "long" not in left_out:
        return 7200
    return 600 if "slow" in left_out else 3600


def _preloaded(sanitizer: Sanitizer | None) -> dict[str, str]:
    """Loads the sanitizer into every program that the tests start. A shim would bring it along, but
    behind the C library, and then it sees no malloc and finds nothing on the heap."""
    if not sanitizer or not sanitizer.runtime:
        return {}
    found = (shell.output(["g++", f"-print-file-name={sanitizer.runtime}"]) or "").strip()
    if not found.startswith("/"):
        raise Stop(f"the compiler has no {sanitizer.runtime}; install the sanitizers of your g++")
    return {"LD_PRELOAD": found}


def conclude(total: Outcome) -> int:
    """Prints every skip and failure with its reason, and the one line; returns the exit status."""
    for name, reason in total.skipped:
        shell.say(f"skipped: {name}: {reason}")
    for name, reason in total.failed:
        shell.say(f"failed: {name}: {reason}")
    if not total.passed and not total.failed:
        shell.say("haichi: no test ran")
    shell.say(total.line())
    return total.status()


def unit_tests(folder: Path, *, quick: bool, only: str | None, env: dict[str, str]) -> Outcome:
    """Runs what CTest knows of in a build folder."""
    report = LOGS / "unit.xml"
    report.unlink(missing_ok=True)
    log = LOGS / "unit.log"
    command: shell.Command = ["ctest", "--test-dir", folder, "--output-junit", report]
    # Daemons wait for each other: two for each processor.
    command += ["--timeout", "300", "--output-on-failure", "-j", str(2 * shell.processors())]
    command.append("--no-tests=ignore")
    if quick:
        command += ["-LE", "slow"]
    if only:
        command += ["-R", only]
    shell.step("unit tests", f"what one folder of src/ promises; {log.relative_to(paths.ROOT)}")
    begin = time.monotonic()
    status = shell.run(
        command, env={**packages.on_path(), **env}, log=log, timeout=300 if quick else 900
    )
    outcome = read_report(report, _ctest_case)
    _account_for_status("ctest", outcome, status, log, some_failed=8, fine=(0,))
    shell.say(f"    {outcome.line()} in {time.monotonic() - begin:.0f} s")
    return outcome


def program_tests(
    folder: Path,
    *,
    left_out: list[str],
    only: str | None,
    env: dict[str, str],
    limit: int,
) -> Outcome:
    """Runs what pytest finds without the marks `left_out`: MPI programs under the shims, the
    command line, the bootstrap. At most `limit` seconds."""
    report = LOGS / "pytest.xml"
    report.unlink(missing_ok=True)
    log = LOGS / "pytest.log"
    command: shell.Command = [paths.PYTHON, "-m", "pytest", "-q", "-rfE", f"--junit-xml={report}"]
    # pytest ends by itself between two tests, so that what has run is counted; the time limit
    # behind it is for a test that does not end.
    command += ["-p", "no:cacheprovider", f"--session-timeout={limit}"]
    # Programs that start, meet and end wait more than they work: two for each processor. The tests
    # of a file stay together, with what they made for one another.
    command += ["-n", str(min(2 * shell.processors(), MOST_AT_A_TIME)), "--dist", "loadfile"]
    if left_out:
        command += ["-m", " and ".join(f"not {mark}" for mark in left_out)]
    if only:
        command += ["-k", only]
    shell.step("program tests", f"MPI programs under the shims; {log.relative_to(paths.ROOT)}")
    begin = time.monotonic()
    status = shell.run(
        command,
        env={**packages.on_path(), **env, "HAICHI_BUILD": str(folder)},
        log=log,
        follow=shell.Echo(),
        timeout=limit + 400,
        cwd=paths.ROOT,
    )
    outcome = read_report(report, _pytest_case)
    if "session-timeout: " in log.read_text(errors="replace"):
        outcome.failed.append(("pytest", f"the rest did not run: {limit} s were over; see {log}"))
    _account_for_status("pytest", outcome, status, log, some_failed=1, fine=(0, 5))
    shell.say(f"    {outcome.line()} in {time.monotonic() - begin:.0f} s")
    return outcome


def _account_for_status(
    runner: str,
    outcome: Outcome,
    status: int,
    log: Path,
    *,
    some_failed: int,
    fine: tuple[int, ...],
) -> None:
    """A runner that broke off has tests that nobody counted; that is a failure of its own."""
    if status == TIMED_OUT:
        outcome.failed.append((runner, f"did not end in time; see {log}"))
    elif status not in fine and not (status == some_failed and outcome.failed):
        outcome.failed.append((runner, f"{how(status)}; see {log}"))


def read_report(path: Path, judge: Judge) -> Outcome:
    """Counts the cases of a JUnit file; `judge` tells what became of one. An empty Outcome if
    there is no such file."""
    outcome = Outcome()
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return outcome
    for case in root.iter("testcase"):
        judge(case, outcome)
    return outcome


def _ctest_case(case: ElementTree.Element, outcome: Outcome) -> None:
    """CTest calls "notrun" both what a test skipped itself and what it could not start."""
    name = case.get("name", "?")
    status = case.get("status")
    printed = case.findtext("system-out") or ""
    if status == "run":
        outcome.passed += 1
    elif status == "disabled":
        outcome.skipped.append((name, "disabled in CMakeLists.txt"))
    elif status == "notrun" and _message(case, "skipped").startswith("SKIP_"):
        match = re.search(r": Skipped\n(.*?)\n?\[  SKIPPED \]", printed, re.DOTALL)
        reason = " ".join(match[1].split()) if match else ""
        if reason:
            outcome.skipped.append((name, reason))
        else:
            outcome.failed.append((name, 'skipped without a reason: GTEST_SKIP() << "why"'))
    else:
        reason = _message(case, "skipped") or _message(case, "failure") or _first_failure(printed)
        outcome.failed.append((name, reason))


def _first_failure(printed: str) -> str:
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    for position, line in enumerate(lines):
        if re.search(r": Failure$|ERROR: \w+Sanitizer|runtime error:", line):
            return " ".join(lines[position : position + 4])
    return lines[-1] if lines else "no output, ended by a signal or the time limit"


def _pytest_case(case: ElementTree.Element, outcome: Outcome) -> None:
    name = f"{case.get('classname', '?')}::{case.get('name', '?')}"
    broken = [kind for kind in ("failure", "error") if case.find(kind) is not None]
    if broken:
        outcome.failed.append((name, _message(case, broken[0]).split("\n")[0]))
    elif case.find("skipped") is not None:
        outcome.skipped.append((name, _skip_reason(case)))
    else:
        outcome.passed += 1


def _skip_reason(case: ElementTree.Element) -> str:
    """That of a whole file stands in the text, a tuple's, behind a message that says nothing."""
    reason = _message(case, "skipped")
    if reason == "collection skipped":
        reason = (case.findtext("skipped") or "").rpartition("Skipped: ")[2].strip("')\" ")
    return reason or "no reason given"


def _message(case: ElementTree.Element, kind: str) -> str:
    element = case.find(kind)
    return "" if element is None else element.get("message", "")
