"""The profile of a machine that SimGrid's SMPI simulates, from what bench/smpi/programs.c measures
on it, and what is predicted by it.

The machine has the Earth Simulator's ports (paper 001, section 2: 12.3 GB/s) and half of its
latency; what protocols cost by size is what SMPI has as its defaults.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from haichi import mpi, paths, programs

PROGRAM = "smpi-programs"
PORT, LATENCY = "12.3GBps", "1350ns"
EAGER = 65536  # bytes from which SMPI's sends wait for their receivers

Curve = Mapping[int, float]  # seconds by size


class CallCurve(TypedDict):
    """A collective call of so many ranks on so many nodes."""

    name: str
    ranks: int
    nodes: int
    times: Curve


class Predicted(TypedDict):
    """Of what `haichi predict-sequence --json` prints, what counts here."""

    total_s: float
    waiting_s: float
    problems: list[str]
    notes: list[str]


def curves_of(lines: Sequence[str]) -> dict[str, dict[int, float]]:
    """Seconds by size, by the name of what was measured."""
    curves: dict[str, dict[int, float]] = defaultdict(dict)
    for line in lines:
        name, size, seconds = line.split()
        curves[name][int(size)] = float(seconds)
    return curves


def write_profile(file: Path, messages: Mapping[str, Curve], calls: Iterable[CallCurve]) -> None:
    """A haichi.machine/2 of ping-pongs by place and of collective calls."""
    numbers = {**dict.fromkeys(("send_ns", "receive_ns", "match_ns"), 0.0), "copy_gbs": 1e9}
    numbers["eager_bytes"] = EAGER - 1.0
    document = {
        "schema": "haichi.machine/2",
        "name": "simulated by SMPI",
        "source": "measured",
        "numbers": {name: {"value": each, "from": PROGRAM} for name, each in numbers.items()},
        "curves": [
            {"name": "ping-pong", "place": place, **_columns(times), "pieces": [_line(times)]}
            for place, times in messages.items()
        ],
        "collectives": [
            {
                "name": each["name"],
                "ranks": each["ranks"],
                "nodes": each["nodes"],
                **_columns(each["times"]),
            }
            for each in calls
        ],
    }
    file.write_text(json.dumps(document))


def predicted(record: Path, profile: Path) -> Predicted:
    """By sequence.

    Raises:
        Missing: haichi is not built, or the profile lacks something.
    """
    words = ("predict-sequence", str(record), "--machine", str(profile), "--json")
    found: Predicted = json.loads(programs.output(paths.program("haichi"), *words))
    if found["problems"]:
        raise mpi.Missing(f"{record.stem}: {found['problems'][0]}")
    return found


def _columns(curve: Curve) -> dict[str, list[float]]:
    sizes = sorted(curve)
    return {"bytes": [float(size) for size in sizes], "seconds": [curve[size] for size in sizes]}


def _line(times: Curve) -> dict[str, float]:
    first, last = min(times), max(times)
    slope = (times[last] - times[first]) / last
    return {"from": 0, "to": last, "latency_s": times[first], "s_per_byte": slope}
