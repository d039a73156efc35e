"""./haichi itself: what it answers before anything is built, and what it hands on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import mpis
import pytest
from haichi_bootstrap import checking, command_line, environments, fresh, paths, shell


def haichi(*words: str, root: Path = paths.ROOT, path: str | None = None):
    env = {**os.environ, **({"PATH": path} if path else {})}
    return subprocess.run(
        [root / "haichi", *words],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A checkout in which nothing is set up or built."""
    root = tmp_path / "clone"
    (root / "python").mkdir(parents=True)
    shutil.copy(paths.ROOT / "haichi", root)
    for package in ("haichi_bootstrap", "haichi_processes"):
        shutil.copytree(paths.ROOT / "python" / package, root / "python" / package)
    return root


@pytest.fixture
def whole_clone(clone: Path) -> Path:
    """One with what set-up reads."""
    shutil.copy(paths.DEPS_TXT, clone)
    shutil.copytree(paths.REQUIREMENTS, clone / "requirements")
    return clone


@pytest.mark.parametrize(
    "command", ["run", "where", "measure", "replay", "config", "simulate", "--version"]
)
def test_before_the_build_one_line_says_build(clone: Path, command: str) -> None:
    done = haichi(command, "x", root=clone)
    assert done.returncode == 127
    assert done.stdout == ""
    assert done.stderr == (
        f"haichi: not built yet, '{command}' needs the native program: type {clone}/haichi build\n"
    )


@pytest.mark.parametrize("through_link", [False, True])
def test_native_commands_become_the_native_program(clone: Path, through_link: bool) -> None:
    native = clone / "build/release/bin/haichi"
    native.parent.mkdir(parents=True)
    native.write_text('#!/bin/sh\necho "native:$*"; exit 7\n')
    native.chmod(0o755)
    (clone / "build/current").symlink_to("release")
    root = clone
    if through_link:
        root = clone.parent / "bin"
        root.mkdir()
        (root / "haichi").symlink_to("../clone/haichi")
    done = haichi("run", "./app", "a b", root=root)
    assert (done.stdout, done.returncode) == ("native:run ./app a b\n", 7)


def test_without_python_it_says_what_to_paste(clone: Path) -> None:
    # The script looks for /usr/bin/python3 first; a copy that looks nowhere else stands for a
    # machine that has none.
    script = clone / "haichi"
    script.write_text(script.read_text().replace("/usr/bin/python3 python3", "/nowhere/python3"))
    done = haichi("test", root=clone)
    assert done.returncode == 1
    assert done.stderr.startswith("haichi: Python 3.11 or newer is missing, paste: sudo apt-get ")
    assert len(done.stderr.splitlines()) == 1


def test_an_unknown_command_installs_nothing(clone: Path) -> None:
    done = haichi("tset", root=clone)
    assert done.returncode == 2
    assert done.stderr == "haichi: no command 'tset'; ./haichi --help lists them\n"
    assert sorted(p.name for p in clone.iterdir()) == ["haichi", "python"]


def test_help_needs_nothing(clone: Path) -> None:
    done = haichi("--help", root=clone)
    assert done.returncode == 0
    assert "./haichi COMMAND" in done.stdout


@pytest.mark.parametrize(
    "command", mpis.slow_but(["lab", "test"], [*command_line.FORWARDED, "build", "test"])
)
def test_help_of_a_command_installs_nothing(whole_clone: Path, command: str) -> None:
    before = sorted(whole_clone.iterdir())
    done = haichi(command, "--help", root=whole_clone)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"./haichi {command}" in done.stdout
    assert sorted(whole_clone.iterdir()) == before


def test_help_behind_two_dashes_is_a_programs() -> None:
    assert command_line._asks_for_help(["--repetitions", "1", "--help"])
    assert not command_line._asks_for_help(["--", "mpiexec", "./app", "--help"])


def test_the_commands_handed_on_are_those_of_the_python_package() -> None:
    done = subprocess.run(
        [paths.PYTHON, "-m", "haichi", "--help"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "NO_COLOR": "1", "TERM": "dumb"},
    )
    for name in command_line.FORWARDED:
        assert f" {name} " in done.stdout, f"python -m haichi has no command {name}"


def test_comparing_samples_sets_up_only_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It neither waits for who builds meanwhile nor writes to the checkout."""
    (tmp_path / "file").touch()
    monkeypatch.setattr(paths, "BUILD", tmp_path / "file" / "build")  # nobody can make it
    monkeypatch.setattr(paths, "TOOLS", tmp_path / "venv")
    paths.TOOLS.mkdir()
    tools, comparing = (
        paths.TOOLS / stamp for stamp in (environments.STAMP, environments.COMPARE_STAMP)
    )
    tools.write_text(json.dumps(environments._stamp_of(environments._tools())))
    wanted = (paths.REQUIREMENTS / "compare.txt").read_text()
    comparing.write_text(wanted)
    command_line._set_up_for("compare", ["a.jsonl", "b.jsonl"])

    comparing.write_text(wanted + "another==1\n")
    with pytest.raises(shell.Stop, match="cannot write to"):
        command_line._set_up_for("compare", ["a.jsonl", "b.jsonl"])
    comparing.unlink()
    with pytest.raises(shell.Stop, match="cannot write to"):
        command_line._set_up_for("compare", ["a.jsonl", "b.jsonl"])
    comparing.write_text(wanted)
    tools.unlink()
    with pytest.raises(shell.Stop, match="cannot write to"):
        command_line._set_up_for("compare", ["a.jsonl", "b.jsonl"])


def test_output_of_a_program_goes_to_the_log_and_time_is_bounded(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    assert shell.run(["sh", "-c", "echo a; echo b >&2; exit 3"], log=log) == 3
    assert log.read_text() == "a\nb\n"
    assert shell.run(["sleep", "30"], log=log, timeout=0.2) == 124
    assert shell.run(["sh", "-c", "read x || exit 5"], log=log) == 5  # nothing on standard input
    assert shell.run(["/nowhere/program"], log=log) == 127


def test_what_was_started_ends_with_us(tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(paths.ROOT / 'python')!r})\n"
        "from haichi_bootstrap import command_line, shell\n"
        "command_line._dispatch = lambda words: shell.run(['sh', '-c', 'echo $$; sleep 60'])\n"
        "sys.exit(command_line.main([]))\n"
    )
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    child = int(process.stdout.readline())
    process.terminate()
    assert process.wait(timeout=20) == 143
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_program_that_fails_is_a_stop_that_names_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "x.log"
    with pytest.raises(shell.Stop, match=r"the thing failed \(sh -c .*exit code 3\); see .*x\.log"):
        shell.must(["sh", "-c", "echo why; exit 3"], "the thing", log)
    assert "why" in capsys.readouterr().out


def test_a_stamp_changes_with_what_an_environment_is_made_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "REQUIREMENTS", tmp_path)
    (tmp_path / "a.txt").write_text("x==1\n")
    environment = environments.Environment(tmp_path / "venv", ("a.txt",), "")
    before = environments._stamp_of(environment)
    assert before == environments._stamp_of(environment)
    (tmp_path / "a.txt").write_text("x==2\n")
    assert environments._stamp_of(environment) != before


def test_sizes_and_white_space_are_found(tmp_path: Path) -> None:
    long, short, untidy = tmp_path / "long.h", tmp_path / "short.cpp", tmp_path / "untidy.txt"
    long.write_text("//\n" * (checking.MOST_HEADER_LINES + 1))
    short.write_text("//\n" * (checking.MOST_HEADER_LINES + 1))
    untidy.write_bytes(b"fine\ntrailing \nno end")
    assert [p.split(":")[0] for p in checking.sizes([long, short, untidy])] == [str(long)]
    problems = list(checking.white_space([short, untidy]))
    assert [p.removeprefix(f"{untidy}:") for p in problems] == [
        "2: white space at the end of the line",
        " no new line at the end of the file",
    ]


def test_the_fresh_run_pastes_the_very_line_that_is_printed(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text(
        "==> a\nhaichi: missing, paste: sudo apt-get update && sudo apt-get install g++\n"
    )
    assert fresh._line_to_paste(log) == "sudo apt-get update && sudo apt-get install g++"
    log.write_text("haichi: all is well\n")
    assert fresh._line_to_paste(log) is None
