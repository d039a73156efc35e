"""The last line of `./haichi test` counts what CTest and pytest report, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from haichi_bootstrap import testing
from haichi_bootstrap.testing import Outcome

CTEST = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="(empty)" tests="7" failures="2" disabled="1" skipped="3">
 <testcase name="a.Ok" status="run"><system-out>fine</system-out></testcase>
 <testcase name="a.Skip" status="notrun">
  <skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
  <system-out>[ RUN      ] a.Skip
/x/a_test.cpp:3: Skipped
no &lt;device&gt;
here
[  SKIPPED ] a.Skip (0 ms)
</system-out></testcase>
 <testcase name="a.Silent" status="notrun">
  <skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
  <system-out>/x/a_test.cpp:3: Skipped

[  SKIPPED ] a.Silent (0 ms)
</system-out></testcase>
 <testcase name="a.Fail" status="fail"><failure message=""/><system-out>[ RUN      ] a.Fail
/x/a_test.cpp:4: Failure
Expected equality of these values:
  1
  2
</system-out></testcase>
 <testcase name="a.Crash" status="fail"><failure message=""/><system-out></system-out></testcase>
 <testcase name="b_NOT_BUILT" status="notrun"><skipped message="Unable to find executable"/>
  <system-out>Unable to find executable: b_NOT_BUILT</system-out></testcase>
 <testcase name="c" status="disabled"><system-out>Disabled</system-out></testcase>
</testsuite>
"""


def test_ctest_report(tmp_path: Path) -> None:
    report = tmp_path / "unit.xml"
    report.write_text(CTEST)
    outcome = testing.read_report(report, testing._ctest_case)
    assert outcome.line() == "1 passed, 4 failed, 2 skipped"
    assert dict(outcome.skipped) == {
        "a.Skip": "no <device> here",
        "c": "disabled in CMakeLists.txt",
    }
    failed = dict(outcome.failed)
    assert "Expected equality of these values: 1 2" in failed["a.Fail"]
    assert failed["b_NOT_BUILT"] == "Unable to find executable"
    assert "without a reason" in failed["a.Silent"]
    assert "signal" in failed["a.Crash"]


PYTEST_CASES = """
import pytest

def test_ok(): pass
def test_fail(): assert 1 == 2
def test_skip(): pytest.skip("no such MPI here")
@pytest.fixture
def broken(): raise RuntimeError("set-up broke")
def test_error(broken): pass
"""


SKIPPED_FILE = """
import pytest

pytest.skip("no simulator's compiler here", allow_module_level=True)
"""


def test_pytest_report_of_a_real_run(tmp_path: Path) -> None:
    (tmp_path / "test_cases.py").write_text(PYTEST_CASES)
    (tmp_path / "test_whole.py").write_text(SKIPPED_FILE)
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null"]
    command += [f"--rootdir={tmp_path}", f"--junit-xml={report}", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    outcome = testing.read_report(report, testing._pytest_case)
    assert outcome.line() == "1 passed, 2 failed, 2 skipped"
    assert {reason for _, reason in outcome.skipped} == {
        "no such MPI here",
        "no simulator's compiler here",
    }
    assert "assert 1 == 2" in dict(outcome.failed)["test_cases::test_fail"]


def test_no_report_counts_nothing(tmp_path: Path) -> None:
    assert testing.read_report(tmp_path / "none.xml", testing._pytest_case) == Outcome()


@pytest.mark.parametrize(
    ("status", "failed", "counted"),
    [
        (0, 0, 0),  # all well
        (8, 1, 1),  # some failed, and the report names them
        (8, 0, 1),  # some failed, and the report knows of none
        (2, 0, 1),  # broke off
        (124, 0, 1),  # out of time
        (-11, 3, 4),  # crashed after three failures
    ],
)
def test_a_runner_that_breaks_off_is_a_failure(status: int, failed: int, counted: int) -> None:
    outcome = Outcome(failed=[("x", "y")] * failed)
    testing._account_for_status("ctest", outcome, status, Path("log"), some_failed=8, fine=(0,))
    assert len(outcome.failed) == counted


def test_the_line_is_the_last_one_and_stands_alone(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = Outcome(3, [("a", "broke")], [("b", "no MPI")])
    assert testing.conclude(outcome) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["skipped: b: no MPI", "failed: a: broke", "3 passed, 1 failed, 1 skipped"]


def test_a_run_without_tests_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert testing.conclude(Outcome(skipped=[("b", "no MPI")])) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 0 failed, 1 skipped"
    assert testing.conclude(Outcome(passed=1)) == 0


@pytest.mark.parametrize(
    ("left_out", "expression"),
    [(["long"], "not long"), (["slow", "long"], "not slow and not long")],
)
def test_marked_tests_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left_out: list[str], expression: str
) -> None:
    commands = []

    def run(command, *, log: Path, **_):
        commands.append([str(word) for word in command])
        log.write_text("")
        return 5

    monkeypatch.setattr(testing, "LOGS", tmp_path)
    monkeypatch.setattr(testing.paths, "ROOT", tmp_path)
    monkeypatch.setattr(testing.shell, "run", run)
    testing.program_tests(tmp_path, left_out=left_out, only=None, env={}, limit=60)
    words = commands[0]
    last = len(words) - 1 - words[::-1].index("-m")  # the first one is python's
    assert words[last + 1] == expression


def test_tests_that_time_did_not_suffice_for_are_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_time(command, *, log: Path, **_):
        report = next(str(w) for w in command if str(w).startswith("--junit-xml="))
        Path(report.removeprefix("--junit-xml=")).write_text(
            '<testsuites><testsuite><testcase classname="a" name="b"/></testsuite></testsuites>'
        )
        log.write_text("!!! session-timeout: 600.0 sec exceeded !!!\n")
        return 1

    monkeypatch.setattr(testing, "LOGS", tmp_path)
    monkeypatch.setattr(testing.paths, "ROOT", tmp_path)
    monkeypatch.setattr(testing.shell, "run", out_of_time)
    outcome = testing.program_tests(tmp_path, left_out=["slow"], only=None, env={}, limit=60)
    assert outcome.line() == "1 passed, 1 failed, 0 skipped"
    assert "the rest did not run" in outcome.failed[0][1]
