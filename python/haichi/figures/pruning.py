"""`haichi figures pruning`: how good it is to prune the algorithms of an all-to-all by a model,
against exhaustive simulation (paper 004, sections 3 and 4).

bin/pruning-study simulates every candidate on every job and size, and says what was predicted of
each. Here is added up what came of it. No MPI and no clock is involved: the same build gives the
same figures everywhere.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal, NotRequired, TypedDict

from rich.table import Table

from haichi import programs

SCHEMA = "haichi.pruning/1"
FACTOR = 2.0  # src/collectives/model.h, kPruneFactor
NARROW = 0.1  # of a link's bandwidth, for each rank of the job: where less is left it matters most
SURVIVAL, TRIAL_COST = 0.98, 0.6


ModelName = Literal[
    "model",
    "no topology",
    "half the work",
    "twice the work",
    "unknown machine",
    "table 1",
    "table 1, no topology",
]
Candidate = TypedDict(
    "Candidate",
    {
        "candidate": str,
        "simulated": float,
        "kept": NotRequired[bool],
        "model": float,
        "no topology": float,
        "half the work": float,
        "twice the work": float,
        "unknown machine": float,
        "table 1": NotRequired[float],
        "table 1, no topology": NotRequired[float],
    },
)
"""A candidate for an all-to-all: its simulated time, and what each model says. Seconds."""


class Stock(TypedDict):
    """What an MPI library takes by its own rules."""

    algorithm: str
    simulated: float


class Case(TypedDict):
    """A job and a size of blocks, as bin/pruning-study prints it."""

    kind: str
    job: str
    nodes: int
    ranks: int
    bytes: int
    contention: float
    candidates: list[Candidate]
    stock: dict[str, Stock]
    agreement: float


OURS: Final = "model"
NO_TOPOLOGY: Final = "no topology"
# What messages cost a rank, measured wrongly.
MISTAKEN: tuple[ModelName, ...] = ("half the work", "twice the work")
UNKNOWN: Final = "unknown machine"  # the model's defaults, and no topology
PRINTED: Final = "table 1"
PRINTED_NO_TOPOLOGY: Final = "table 1, no topology"


@dataclass(frozen=True)
class Lost:
    """A case whose best candidate was pruned."""

    job: str
    bytes: int
    best: str
    slower: float  # the best that was kept, by the best


@dataclass(frozen=True)
class Figures:
    """What pruning by one model came to, over all cases."""

    what: str  # "all candidates", "the same, narrow jobs" or "table 1's candidates"
    model: str
    factor: float
    cases: int
    survived: float  # share of cases whose best candidate was kept
    kept: float  # candidates, in the mean
    of: float
    trial_cost: float  # one call of each that was kept, by one call of each; mean
    alone: float  # the predicted best by the best, where nothing is tried; mean
    alone_worst: float
    lost: list[Lost]


def simulated(program: Path, kind: str | None, progress: Callable[[str], None]) -> list[Case]:
    """The cases; raises mpi.Missing if the program is not built or fails."""
    found: list[Case] = []

    def take(line: str) -> None:
        case: Case = json.loads(line)
        if not found or case["job"] != found[-1]["job"]:
            progress(f"{case['kind']}: {case['job']}")
        found.append(case)

    programs.output(program, *([kind] if kind else []), timeout=None, take=take)
    return found


def figures(
    what: str, cases: Iterable[Case], model: ModelName, factor: float = FACTOR, *, six: bool = False
) -> Figures:
    """Prunes by one of the models; `six` leaves only the candidates that Table 1 has."""
    costs, alone, kept, of, lost = [], [], [], [], []
    for case in cases:
        rows = [row for row in case["candidates"] if not six or PRINTED in row]
        best = min(rows, key=lambda row: row["simulated"])
        predicted = min(rows, key=lambda row: row[model])
        left = [row for row in rows if row[model] <= factor * predicted[model]]
        if best not in left:
            slower = min(row["simulated"] for row in left) / best["simulated"]
            lost.append(Lost(case["job"], case["bytes"], best["candidate"], slower))
        costs.append(sum(r["simulated"] for r in left) / sum(r["simulated"] for r in rows))
        alone.append(predicted["simulated"] / best["simulated"])
        kept.append(len(left))
        of.append(len(rows))
    return Figures(
        what=what,
        model=model,
        factor=factor,
        cases=len(of),
        survived=1 - len(lost) / len(of),
        kept=statistics.mean(kept),
        of=statistics.mean(of),
        trial_cost=statistics.mean(costs),
        alone=statistics.mean(alone),
        alone_worst=max(alone),
        lost=sorted(lost, key=lambda each: -each.slower),
    )


def all_figures(cases: Sequence[Case]) -> list[Figures]:
    """Every group by every model that knows its candidates."""
    ours: tuple[ModelName, ...] = (OURS, NO_TOPOLOGY)
    found = [figures("all candidates", cases, model) for model in (*ours, *MISTAKEN, UNKNOWN)]
    narrow = [case for case in cases if case["contention"] < NARROW]
    if narrow:
        found += [figures("the same, narrow jobs", narrow, model) for model in ours]
    return found + [
        figures("table 1's candidates", cases, model, six=True)
        for model in (*ours, PRINTED, PRINTED_NO_TOPOLOGY)
    ]


def reached(found: Sequence[Figures]) -> bool:
    """Whether haichi's model over all candidates is as good as it is to be."""
    ours = found[0]
    return ours.survived >= SURVIVAL and ours.trial_cost < TRIAL_COST


def table(found: Sequence[Figures]) -> Table:
    """For the eye."""
    shown = Table()
    for head in ("", "model"):
        shown.add_column(head, no_wrap=True)
    for head in ("cases", "best kept", "lost, worst", "kept", "trial cost", "alone, worst"):
        shown.add_column(head, justify="right")
    for each in found:
        shown.add_row(
            each.what,
            each.model,
            str(each.cases),
            f"{100 * each.survived:.1f} %",
            f"{len(each.lost)}, {each.lost[0].slower:.2f}" if each.lost else "0",
            f"{each.kept:.1f}/{each.of:.1f}",
            f"{each.trial_cost:.2f}",
            f"{each.alone:.2f}, {each.alone_worst:.2f}",
        )
    return shown


def document(cases: Sequence[Case], found: Sequence[Figures]) -> dict[str, object]:
    """Everything, figures first (haichi.pruning/1)."""
    return {"schema": SCHEMA, "figures": [asdict(each) for each in found], "cases": cases}
