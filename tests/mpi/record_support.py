"""Reading records that a test has made."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mpis import BUILD, HAICHI, Mpi

Line = dict[str, Any]


def read(path: Path) -> list[Line]:
    """The lines of a record, which is whole."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0]["kind"] == "record"
    assert lines[-1]["kind"] == "end"
    assert lines[-1]["calls"] == sum(line["calls"] for line in of_kind(lines, "rank"))
    return lines


def of_kind(lines: Iterable[Line], kind: str) -> list[Line]:
    """The lines of one kind."""
    return [line for line in lines if line["kind"] == kind]


def calls_of(lines: Iterable[Line], rank: int) -> list[Line]:
    """The lines of a rank's calls."""
    return [line for line in of_kind(lines, "call") if line["ranks"] == str(rank)]


def counted(lines: list[Line], rank: int) -> Counter[tuple[Any, ...]]:
    """How often a rank made each call: function, what it completes, bytes, members."""
    members = {line["id"]: line["members"] for line in of_kind(lines, "communicator")}
    calls: Counter[tuple[Any, ...]] = Counter()
    for line in calls_of(lines, rank):
        where = members.get(line.get("comm"))
        calls[line["function"], line.get("for"), line.get("bytes"), where] += line["count"]
    return calls


def under(mpi: Mpi, path: Path, beneath: str = "nothing", **settings: str) -> dict[str, str]:
    """The environment that has a program recorded, with haichi's shim beneath or nothing."""
    recorder = BUILD / "lib" / f"libhaichi-record-{mpi.abi}.so"
    shims = [recorder, mpi.shim] if beneath == "the shim" else [recorder]
    return mpi.stock(*shims, HAICHI_RECORD=str(path), **settings)


def recorded(mpi: Mpi, ranks: int, argv: list[str | Path], path: Path, *options: str) -> list[Line]:
    """Runs a program under `haichi run --record` and reads the record."""
    words = [HAICHI, "run", f"--record={path}", *options, "--", *argv]
    done = mpi.run(ranks, words, mpi.stock(), check=True)
    assert "haichi" not in done.stderr, done.stderr
    assert "intact" in done.stdout
    assert sorted(path.parent.glob(f"{path.name}*")) == [path], "nothing is left beside it"
    return read(path)
