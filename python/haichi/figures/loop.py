"""`haichi figures loop`: the lab is measured, a profile is made of that, and what is simulated and
chosen by it is held against the lab, beside what is simulated and chosen by the defaults.

Simulated are all-to-alls by every algorithm of haichi's, and collective writes. The error of a time
is a factor: twice as long and half as long are both 2. Chosen is the algorithm of an all-to-all:
what the model predicts to be best, which nothing was tried for, and what the calls of a job take
with all their trials.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from haichi import mpi
from haichi.figures import exchange_cell, suite
from haichi.figures.cases import Plan, program_of
from haichi.figures.exchange_cell import CANDIDATES, LIBRARY, RANKS, TRIALS, Cell
from haichi.figures.model import Claim, Environment
from haichi.figures.patterns import Hpio
from haichi.figures.places import OnLab
from haichi.figures.simulated import simulated
from haichi.figures.trial import Program, Variant
from haichi.report.model import Collective

NODES, PER_NODE = 4, 4
SHAPE = ("--nodes", str(NODES), "--ppn", str(PER_NODE))
MAPPINGS = ("BK", "RR")
SIZES = (1 << 10, 4 << 10, 16 << 10, 64 << 10)
WRITES = (Hpio(RANKS, 300), Hpio(RANKS, 100, size=32768))
WRITE = "write"
STRIPE, STRIPES = 1 << 20, 64  # the machine's by default, which the lab does not tell
OWN_ROUNDS = 5  # of haichi's trials
SAME = 1.05  # times that differ by less are the same
BETTER_CASES = 3.0
LAUNCHES, LAUNCH_S = 3, 20.0
LONGEST_S = 300.0
DEFAULTS, PROFILE = "defaults", "profile"
NOT_FOUND = {"HAICHI_MACHINES_FIND": "off"}
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Timed:
    """One thing that was simulated and carried out. Seconds."""

    case: str
    what: str
    samples: list[float]  # in the lab
    simulated: dict[str, float]  # by DEFAULTS and PROFILE

    @property
    def measured(self) -> float:
        """The median in the lab."""
        return statistics.median(self.samples)

    def error(self, by: str) -> float:
        """How many times too long or too short the simulated time is."""
        return math.exp(abs(math.log(self.simulated[by] / self.measured)))


@dataclass(frozen=True)
class Chosen:
    """What was chosen for one exchange, by DEFAULTS and by PROFILE."""

    case: str
    predicted: dict[str, str]  # the algorithm that the model has as best
    predicted_s: dict[str, float]  # what that takes in the lab, the median
    best: str  # of all of haichi's
    best_s: float
    tried: dict[str, int]  # how many algorithms were tried
    calls_s: dict[str, float]  # of a job's calls, trials and all, the same number

    def gain(self, of: dict[str, float]) -> float:
        """How many times longer it takes by the defaults."""
        return of[DEFAULTS] / of[PROFILE]


@dataclass(frozen=True)
class Found:
    """All of it."""

    library: str
    profile: Path
    times: list[Timed]
    choices: list[Chosen]


def measure_profile(
    place: OnLab, which: mpi.Mpi, launches: int, file: Path, progress: Progress
) -> None:
    """`haichi measure --quick` on two ranks a node of two nodes, and `haichi fit`.

    Raises:
        mpi.Missing: the suite is not built, or it fails.
        ReportError: what it wrote makes no profile, or that cannot be written.
    """
    samples = []
    for number in range(1, launches + 1):
        progress(f"{number}/{launches}  {which.name}: haichi measure --quick")
        out = place.shared / f"loop-{number}.jsonl"
        words = ["--quick", "--directory", str(place.shared), "--seed", str(number)]
        pairs = replace(place, room=(2,) * NODES)
        suite.measure(which, 4, words, LAUNCH_S, out, partial=True, run=pairs.run)
        samples.append(out)
    # The nodes share this machine's cores, so its moods meet them all: the least counts.
    suite.profile(samples, "the lab", file, least=True)


def run(
    place: OnLab,
    which: mpi.Mpi,
    profile: Path,
    rounds: int,
    sizes: Sequence[int],
    yields: str,
    progress: Progress,
) -> Found:
    """Carries out and simulates everything; a run that fails raises mpi.Missing."""
    times: list[Timed] = []
    choices: list[Chosen] = []
    for mapping in MAPPINGS:
        where = replace(place, mapping=mapping)
        plan = Plan(where, RANKS, yields, reports=place.shared, timeout_s=LONGEST_S)
        for size in sizes:
            cell = Cell(plan, which, f"{NODES}x{PER_NODE} {mapping}", "alltoall", size)
            title = f"alltoall, {size >> 10} KiB, {mapping}"
            progress(f"{which.name}: {title}")
            timed, chosen = exchange(cell, title, mapping, profile, rounds)
            times += timed
            choices.append(chosen)
        for pattern in WRITES:
            progress(f"{which.name}: {pattern}, {mapping}")
            times.append(write(plan, which, pattern, mapping, profile, rounds))
    return Found(which.label, profile, times, choices)


def exchange(
    cell: Cell, title: str, mapping: str, profile: Path, rounds: int
) -> tuple[list[Timed], Chosen]:
    """One all-to-all by every algorithm, and what is chosen for it."""
    every = {**TRIALS, **NOT_FOUND, "HAICHI_COLLECTIVES_PRUNE": "off"}
    every["HAICHI_COLLECTIVES_ROUNDS"] = str(rounds)
    everything, _ = job(cell, Variant("all", True, every), 2 + rounds * CANDIDATES)
    samples = {
        each.name: each.trials
        for each in everything.candidates
        if each.trials and each.name != LIBRARY
    }
    words = ["alltoall", *SHAPE, "--placement", mapping, "--bytes", str(cell.size)]
    by = {
        name: simulated([*words, *more], algorithms=samples)
        for name, more in machines(profile).items()
    }
    times = [
        Timed(title, name, samples[name], {each: by[each][name] for each in by}) for name in samples
    ]
    seconds = {each.what: each.measured for each in times}
    predicted: dict[str, str] = {}
    tried: dict[str, int] = {}
    calls_s: dict[str, float] = {}
    settings = {DEFAULTS: NOT_FOUND, PROFILE: {"HAICHI_MACHINE": str(profile)}}
    for name, setting in settings.items():
        variant = Variant(name, True, {**TRIALS, **setting})
        own, calls_s[name] = job(cell, variant, 2 + OWN_ROUNDS * CANDIDATES)
        told = {
            each.name: each.predicted_seconds
            for each in own.candidates
            if each.predicted_seconds is not None and each.name in seconds
        }
        predicted[name] = min(told, key=lambda each: told[each])
        tried[name] = sum(1 for each in own.candidates if each.trials)
    best = min(seconds, key=lambda each: seconds[each])
    return times, Chosen(
        title,
        predicted,
        {name: seconds[predicted[name]] for name in predicted},
        best,
        seconds[best],
        tried,
        calls_s,
    )


def job(cell: Cell, variant: Variant, calls: int) -> tuple[Collective, float]:
    """What the report of a job says of its exchange, and the seconds of all its calls."""
    case, seen = exchange_cell.job(cell, variant, calls)
    if case.problems or seen is None:
        raise mpi.Missing(f"{cell.title}: {'; '.join(case.problems) or 'the report has no trials'}")
    return seen, sum(case.operations["last rank"].seconds)


def write(
    plan: Plan, which: mpi.Mpi, pattern: Hpio, mapping: str, profile: Path, rounds: int
) -> Timed:
    """One collective write in two phases, which the simulator knows."""
    binary = program_of(pattern.program, which)

    def argv(file: Path) -> list[str]:
        return [binary, "--file", str(file), "--op", WRITE, *pattern.arguments()]

    aggregators = str(NODES)  # asked for, so that it is made in two phases
    # The simulated file is striped, and its plan knows it.
    settings = {
        **NOT_FOUND,
        "HAICHI_IO_AGGREGATORS": aggregators,
        "HAICHI_IO_STRIPE_UNIT": str(STRIPE),
        "HAICHI_IO_STRIPES": str(STRIPES),
    }
    program = Program(str(pattern), which, argv)
    case, go = plan.make(program, Variant("haichi", True, settings), exchange_cell.nothing, "loop")
    for _ in range(rounds):
        go()
    if case.problems:
        raise mpi.Missing(f"{pattern}: {'; '.join(case.problems)}")
    words = ["hpio", *SHAPE, "--placement", mapping]
    words += ["--access", WRITE, "--aggregators", aggregators]
    words += ["--region-size", str(pattern.size), "--region-space", str(pattern.space)]
    words += ["--region-count", str(pattern.count), "--regions", pattern.layout]
    words += ["--order", "nd_rank_shift", "--layout", "roundrobin"]
    by = {name: simulated([*words, *more])[""] for name, more in machines(profile).items()}
    return Timed(f"{pattern}, {mapping}", WRITE, case.operations[WRITE].seconds, by)


def machines(profile: Path) -> dict[str, list[str]]:
    """Words of `haichi simulate` for each machine."""
    return {DEFAULTS: [], PROFILE: ["--machine", str(profile)]}


def claims(found: Sequence[Found]) -> list[Claim]:
    """What was to be reached, and what was."""
    times = [each for one in found for each in one.times]
    choices = [each for one in found for each in one.choices]
    first = [each.gain(each.predicted_s) for each in choices]
    calls = [each.gain(each.calls_s) for each in choices]
    defaults, profile = (error_of(times, by) for by in (DEFAULTS, PROFILE))
    return [
        Claim(
            what="error of simulated times by the defaults over that by the profile",
            ratio=defaults / profile,
            wanted=1.0,
        ),
        Claim(
            what=f"exchanges in which the profile predicts a better algorithm (by {SAME})",
            ratio=float(sum(gain > SAME for gain in first)),
            wanted=BETTER_CASES,
        ),
        Claim(
            what="defaults / profile, predicted best, worst exchange",
            ratio=min(first),
            wanted=1 / SAME,
        ),
        Claim(
            what="defaults / profile, calls of a job with their trials, worst exchange",
            ratio=min(calls),
            wanted=1 / SAME,
        ),
        Claim(what="the same, geometric mean", ratio=statistics.geometric_mean(calls), wanted=1.0),
    ]


def error_of(times: Sequence[Timed], by: str) -> float:
    """The geometric mean of the errors, a factor."""
    return statistics.geometric_mean([each.error(by) for each in times])


def show(console: Console, found: Found) -> None:
    """The tables for the eye."""
    table = Table(title=f"{found.library}: simulated and measured", title_justify="left")
    table.add_column("case", no_wrap=True)
    for head in ("times", "lab, s", "error by defaults", "by profile"):
        table.add_column(head, justify="right")
    for case in dict.fromkeys(each.case for each in found.times):
        rows = [each for each in found.times if each.case == case]
        medians = sorted(each.measured for each in rows)
        table.add_row(
            case,
            str(len(rows)),
            f"{medians[0]:.4f}–{medians[-1]:.4f}",
            *(spread([each.error(by) for each in rows]) for by in (DEFAULTS, PROFILE)),
        )
    console.print(table)
    table = Table(title=f"{found.library}: chosen", title_justify="left")
    table.add_column("case", no_wrap=True)
    for head in ("best", "predicted by defaults", "by profile", "tried", "calls of a job, s"):
        table.add_column(head)
    for each in found.choices:
        table.add_row(
            each.case,
            f"{each.best} {each.best_s:.4f}",
            *(f"{each.predicted[by]} {each.predicted_s[by]:.4f}" for by in (DEFAULTS, PROFILE)),
            f"{each.tried[DEFAULTS]}, {each.tried[PROFILE]}",
            f"{each.calls_s[DEFAULTS]:.2f}, {each.calls_s[PROFILE]:.2f}",
        )
    console.print(table)


def spread(errors: Sequence[float]) -> str:
    """Geometric mean, least and most."""
    mean = statistics.geometric_mean(errors)
    return f"{mean:.2f} ({min(errors):.2f}–{max(errors):.2f})" if len(errors) > 1 else f"{mean:.2f}"


def summary(found: Sequence[Found]) -> str:
    """Both errors in a line."""
    times = [each for one in found for each in one.times]
    parts = [f"{by} {error_of(times, by):.2f}" for by in (DEFAULTS, PROFILE)]
    return f"error of {len(times)} simulated times, a factor: {', '.join(parts)}"


def document(found: Sequence[Found], about: Environment) -> dict[str, object]:
    """What is saved."""
    return {
        "schema": "haichi.loop/1",
        "environment": about.model_dump(mode="json"),
        "claims": [each.model_dump(mode="json") for each in claims(found)],
        "libraries": [
            {
                "library": one.library,
                "profile": json.loads(one.profile.read_text()),
                "times": [
                    {
                        "case": each.case,
                        "what": each.what,
                        "measured_s": each.samples,
                        "simulated_s": each.simulated,
                    }
                    for each in one.times
                ],
                "choices": [vars(each) for each in one.choices],
            }
            for one in found
        ],
    }
