"""`haichi figures regret`: what choosing the algorithm of an all-to-all by trial costs, over 200
calls, against having had the best algorithm from the first call on (paper 004, section 4).

bin/pruning-study simulates every candidate, and the libraries' own algorithms, on every job and
size; bin/regret-study carries out calls by haichi's own selection with these times. Here is added
up what came of it. No MPI and no clock is involved: the same build gives the same figures
everywhere.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypedDict

from rich.table import Table

from haichi import mpi, programs
from haichi.figures.pruning import Case

SCHEMA = "haichi.regret/1"
CALLS = 200  # the paper's
NOISE = (0.0, 0.03, 0.1, 0.2)  # standard deviation of the logarithm of a call's time
SEEDS = 5
SMALL = 1024  # bytes: from here on the aim is the stricter one
AIM_SMALL, AIM, AIM_SECOND = 0.05, 0.03, 0.01


Row = TypedDict(
    "Row",
    {
        "kind": str,
        "job": str,
        "bytes": int,
        "library": str,
        "noise": float,
        "default": float,
        "first": float,
        "second": float,
        "unknown machine": float,
        "no model": float,
        "trials": float,
        "chosen": str,
    },
)
"""What came of a case under one library, as bin/regret-study prints it."""


@dataclass(frozen=True)
class Figures:
    """What the calls came to, over all jobs and sizes of a group. A regret is the time of all calls
    by that of as many calls of the best algorithm, less 1."""

    library: str
    small: bool  # blocks below 1 KiB
    noise: float
    cases: int
    aim: float  # of `first`
    default: float  # the library's own algorithm by the best; geometric mean
    trials: float  # calls until one is locked; mean
    first: float  # regret of the first run; mean
    first_most: float  # below which 95 % of the cases are
    first_worst: float
    within: float  # share of cases whose first run is within the aim
    second: float  # of the second run, which begins with the choice of the first; mean
    second_worst: float
    unknown: float  # of a first run whose model knows nothing of the machine; mean
    no_model: float  # of a first run in which everything is tried; mean

    @property
    def reached(self) -> bool:
        """Whether the means are as good as they are to be."""
        return self.first <= self.aim and self.second <= AIM_SECOND


def carried_out(program: Path, cases: Sequence[Case], noise: float) -> list[Row]:
    """The regrets of all cases; raises mpi.Missing if the program is not built or fails."""
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    seeds = SEEDS if noise > 0 else 1
    words = ("--calls", str(CALLS), "--noise", str(noise), "--seeds", str(seeds))
    out = programs.output(program, *words, stdin=lines)
    return [json.loads(line) for line in out.splitlines()]


def load_cases(saved: Path) -> list[Case]:
    """Those that `haichi figures pruning` has saved; raises mpi.Missing if it has not."""
    try:
        cases: list[Case] = json.loads(saved.read_text())["cases"]
        return cases
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise mpi.Missing(f"{saved}: no cases of haichi figures pruning: {error}") from None


def figures(rows: Sequence[Row]) -> list[Figures]:
    """By library, size and noise."""
    found = []
    groups = sorted({(row["noise"], row["library"], row["bytes"] < SMALL) for row in rows})
    for noise, library, small in groups:
        group = [
            row
            for row in rows
            if (row["noise"], row["library"], row["bytes"] < SMALL) == (noise, library, small)
        ]
        aim = AIM_SMALL if small else AIM
        first = sorted(row["first"] for row in group)
        found.append(
            Figures(
                library=library,
                small=small,
                noise=noise,
                cases=len(group),
                aim=aim,
                default=statistics.geometric_mean(row["default"] for row in group),
                trials=statistics.mean(row["trials"] for row in group),
                first=statistics.mean(first),
                first_most=first[int(0.95 * (len(first) - 1))],
                first_worst=first[-1],
                within=sum(each <= aim for each in first) / len(first),
                second=statistics.mean(row["second"] for row in group),
                second_worst=max(row["second"] for row in group),
                unknown=statistics.mean(row["unknown machine"] for row in group),
                no_model=statistics.mean(row["no model"] for row in group),
            )
        )
    return found


def reached(found: Sequence[Figures]) -> bool:
    """Whether the aims are reached by every library and size, without noise."""
    return all(each.reached for each in found if each.noise == 0)


def table(found: Sequence[Figures]) -> Table:
    """For the eye; per cent."""
    shown = Table()
    for head in ("library", "blocks"):
        shown.add_column(head, no_wrap=True)
    heads = ("noise", "cases", "default ÷ best", "trials", "first run: mean", "95 %, worst")
    for head in (*heads, "within the aim", "second: mean, worst", "unknown, no model"):
        shown.add_column(head, justify="right")
    for each in found:
        shown.add_row(
            each.library,
            "below 1 KiB" if each.small else "from 1 KiB",
            f"{100 * each.noise:.0f}",
            str(each.cases),
            f"{each.default:.2f}",
            f"{each.trials:.1f}",
            f"{100 * each.first:.1f}",
            f"{100 * each.first_most:.1f}, {100 * each.first_worst:.1f}",
            f"{100 * each.within:.0f}",
            f"{100 * each.second:.1f}, {100 * each.second_worst:.1f}",
            f"{100 * each.unknown:.0f}, {100 * each.no_model:.0f}",
        )
    return shown


def document(rows: Sequence[Row], found: Sequence[Figures]) -> dict[str, object]:
    """Everything, figures first (haichi.regret/1)."""
    return {"schema": SCHEMA, "figures": [asdict(each) for each in found], "cases": rows}
