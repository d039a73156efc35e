"""Records, profiles, samples and GOAL files that are cut or damaged: every command that reads them
ends soon, with what can be said or with one line that says what is wrong."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import recorded
from damage import damaged
from haichi.cli import app
from typer.testing import CliRunner

SEED = 7
ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HAICHI_BUILD", ROOT / "build/current"))
HAICHI = BUILD / "bin/haichi"
SECONDS = 20.0
MACHINE = ROOT / "machines/two-cores.json"
TIMES = [48, pytest.param(3000, marks=pytest.mark.long)]

native = pytest.mark.skipif(not HAICHI.exists(), reason="haichi is not built: ./haichi build")


def in_python(*words: str | Path) -> str:
    """Runs a command of the package here. Returns what is wrong with how it ends; empty if
    nothing."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return f"{type(done.exception).__name__}: {done.exception}"
    return complaint(done.exit_code, done.stderr)


def natively(*words: str | Path) -> str:
    """The same of a native command."""
    try:
        done = subprocess.run(
            [HAICHI, *words], capture_output=True, timeout=SECONDS, check=False
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"does not end in {SECONDS} s"
    return complaint(done.returncode, done.stderr.decode(errors="replace"))


def complaint(code: int, errors: str) -> str:
    """What is wrong with an end of this kind."""
    said = [line for line in errors.splitlines() if "warning" not in line]
    if code < 0 or code > 125:
        return f"exit code {code}: {errors[-300:]}"
    if code == 0:
        return ""
    if len(said) != 1 or len(said[0]) > 1500:
        return f"exit code {code} with {len(said)} lines: {errors[-600:]}"
    return "" if said[0].startswith("haichi") else f"no line of haichi's: {said[0]}"


def hold(text: str, path: Path, times: int, commands: Sequence[Callable[[], str]]) -> None:
    """Each damaged form of a text through all commands."""
    wrong = []
    for name, form in damaged(text, SEED, times):
        path.write_text(form, "utf-8", "surrogateescape")
        wrong += [f"{name}, command {i}: {bad}" for i, run in enumerate(commands) if (bad := run())]
    assert wrong == [], f"{len(wrong)} of {times}:\n" + "\n".join(wrong[:20])


def with_sequences(path: Path) -> Path:
    """Four ranks on two nodes with all kinds of lines."""
    lines = [json.loads(line) for line in recorded.small(path).read_text().splitlines()]
    ring = [
        {"call": "MPI_Irecv", "bytes": 64, "comm": 0, "tag": 5, "request": 0},
        {"call": "MPI_Send_init", "bytes": 64, "comm": 0, "tag": 5, "request": 1},
        {"call": "MPI_Start", "completes": [1]},
        {"call": "MPI_Waitall", "completes": [0, 1], "compute_s": 1e-5, "took_s": 2e-6},
        {"call": "MPI_Request_free", "completes": [1]},
        {"call": "MPI_Alltoallv", "bytes": 40, "received": 40, "comm": 1},
        {"call": "MPI_Bcast", "bytes": 8, "comm": 0, "root": 2, "compute_s": 1e-3},
        {"call": "MPI_File_open", "comm": 0, "file": 0},
        {"call": "MPI_File_write_at_all", "bytes": 4096, "file": 0},
        {"call": "MPI_Win_allocate", "comm": 0, "window": 0, "bytes": 64},
        {"call": "MPI_Put", "window": 0, "bytes": 8},
        {"call": "MPI_Win_fence", "window": 0},
    ]
    more = [
        {"kind": "communicator", "id": 1, "members": "3,0-2"},
        recorded.world() | {"id": 2, "cart": {"dims": [2, 2], "periods": [True, False]}},
        {"kind": "file", "id": 0, "name": "out.dat"},
    ]  # fmt: skip
    for rank in range(4):
        peers = {0: (rank + 3) % 4, 1: (rank + 1) % 4, 10: (rank + 1) % 4}
        events = [
            event | ({"peer": peers[i]} if i in peers else {}) for i, event in enumerate(ring)
        ]
        program = [7, 9, [50, [0, 1, 2, 3, 4, [3, [5]], 6]], 8, 11, 10, 11]
        more.append(recorded.sequence(rank, events, program))
    lines[0]["sequence"] = True
    return recorded.write(path, [*lines[:-1], *more, lines[-1]])


@pytest.mark.parametrize("times", TIMES)
def test_a_damaged_record_is_shown_and_predicted_or_refused(times: int, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    text = with_sequences(path).read_text()
    out = tmp_path / "advice"
    commands = [
        lambda: in_python("record", path),
        lambda: in_python("record", path, "--json"),
        lambda: in_python("predict", path, "--machine", MACHINE, "--sensitivity"),
        lambda: in_python("advise", path, "--machine", MACHINE, "-o", out),
    ]
    assert [command() for command in commands] == [""] * len(commands)
    hold(text, path, times, commands)


@native
@pytest.mark.parametrize("times", TIMES)
def test_a_damaged_order_of_calls_is_carried_out_or_refused(times: int, tmp_path: Path) -> None:
    path, goal = tmp_path / "record.jsonl", tmp_path / "record.goal"
    text = with_sequences(path).read_text()
    player = next(BUILD.glob("bin/haichi-replay-*"), None)
    commands = [
        lambda: natively("predict-sequence", path, "--machine", MACHINE, "--json"),
        lambda: in_python("export", "--to", "goal", path, "--out", goal),
    ]
    assert [command() for command in commands] == [""] * len(commands)
    hold(text, path, times, commands)
    assert player is None or player.exists()


@pytest.mark.parametrize("times", TIMES)
def test_a_damaged_profile_is_used_or_refused(times: int, tmp_path: Path) -> None:
    record, path = with_sequences(tmp_path / "record.jsonl"), tmp_path / "machine.json"
    out = tmp_path / "advice"
    commands = [
        lambda: in_python("predict", record, "--machine", path, "--sensitivity"),
        lambda: in_python("advise", record, "--machine", path, "-o", out),
    ]
    if HAICHI.exists():
        commands.append(lambda: natively("predict-sequence", record, "--machine", path, "--json"))
    hold(MACHINE.read_text(), path, times, commands)


@native
@pytest.mark.parametrize("times", TIMES)
def test_damaged_goal_is_imported_or_refused(times: int, tmp_path: Path) -> None:
    record, path, out = tmp_path / "r.jsonl", tmp_path / "x.goal", tmp_path / "back.jsonl"
    assert in_python("export", "--to", "goal", with_sequences(record), "--out", path) == ""
    text = "".join(path.read_text().splitlines(keepends=True)[:120]) + "}\n"
    hold(text, path, times, [lambda: in_python("import", path, "-o", out)])
