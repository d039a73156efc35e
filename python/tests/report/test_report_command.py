"""`haichi report` from the outside: outputs, exit codes, and nothing half-written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import mpis
import pytest
from haichi.report import output

PROGRAM = (
    "import typer; from haichi.report.cli import report; app = typer.Typer(); "
    "app.command()(report); app(prog_name='haichi report')"
)


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    source = Path(output.__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(source), "COLUMNS": "60"}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, words)],
        env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_text_goes_to_standard_output_without_colours(write: Callable[..., Path]) -> None:
    done = run(write())
    assert done.returncode == 0
    assert done.stderr == ""
    assert "MPI_File_write_all  handled by haichi" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_table_in_a_file_is_not_cut(write: Callable[..., Path]) -> None:
    done = run(write("a" * 50), write("b" * 50, order="rank"))
    assert "…" not in done.stdout
    assert "a" * 50 in done.stdout


def test_outputs_are_written_and_named(write: Callable[..., Path], tmp_path: Path) -> None:
    page, trace = tmp_path / "out.html", tmp_path / "out.trace"
    done = run(write(), "--html", page, "--perfetto", trace)
    assert done.returncode == 0
    assert done.stdout == ""
    assert done.stderr.splitlines()[0].startswith(f"wrote {page} (")
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert json.loads(trace.read_text())["traceEvents"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "out.html", "out.trace", "run.json"
    ]  # fmt: skip
    assert page.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_json_is_the_summary(write: Callable[..., Path]) -> None:
    done = run(write("a"), write("b", order="rank"), "--json")
    summary = json.loads(done.stdout)
    assert summary["schema"] == "haichi.summary/1"
    assert [one["label"] for one in summary["runs"]] == ["a", "b"]
    assert summary["runs"][1]["ratio_to_first"] > 1.2


@pytest.mark.parametrize(
    ("content", "says"),
    mpis.slow_after(
        2,
        [
            ("hello", "is not JSON"),
            ('{"schema": "haichi.report/1", "h', "is cut off"),
            ('{"schema": "haichi.report/9"}', "reads version 1"),
            ('{"schema": "haichi.report/1"}', "field required"),
            (None, "no such file"),
        ],
    ),
)
def test_bad_input_is_one_line_and_exit_code_2(
    tmp_path: Path, write: Callable[..., Path], content: str | None, says: str
) -> None:
    bad = tmp_path / "bad.json"
    if content is not None:
        bad.write_text(content)
    page = tmp_path / "page.html"
    done = run(write(), bad, "--html", page)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"haichi report: {bad}: ")
    assert says in line
    assert not page.exists()


@pytest.mark.parametrize("option", mpis.slow_but(["--html"], ["--html", "--perfetto"]))
def test_an_output_that_cannot_be_written_is_one_line(
    write: Callable[..., Path], tmp_path: Path, option: str
) -> None:
    for out, says in ((tmp_path / "no" / "x", "no such file"), (tmp_path, "")):
        done = run(write(), option, out)
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"haichi report: {out}: ")
        assert says in line
        assert "Traceback" not in done.stderr


def test_a_full_disk_leaves_the_old_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.html"
    page.write_text("old")
    real = os.fdopen

    class Full:
        def __init__(self, handle: int) -> None:
            self.file = real(handle, "wb")

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def write(self, data: bytes) -> None:
            self.file.write(data[:3])
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(output.os, "fdopen", lambda handle, _: Full(handle))
    with pytest.raises(output.ReportError, match="no space left on device"):
        output.write_text(page, "new text")
    assert page.read_text() == "old"
    assert list(tmp_path.iterdir()) == [page]


def test_no_file_is_a_usage_error() -> None:
    done = run()
    assert done.returncode == 2
    assert "Missing argument" in done.stderr


def test_a_later_run_that_was_cut_short_is_pointed_at(write: Callable[..., Path]) -> None:
    path = write()
    log = path.with_name("run.json.log-0123456789abcdef-0")
    log.touch()
    os.utime(path, (1, 1))
    done = run(path)
    assert done.returncode == 0
    assert "MPI_File_write_all" in done.stdout
    assert f"has left {log}; name that to see it" in done.stderr
    os.utime(log, (0, 0))
    assert run(path).stderr == "", "it was cut short before"
