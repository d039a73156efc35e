"""`haichi figures job-regret`: what choosing by trial costs a whole job of few calls, or gains it,
on real MPIs.

A job makes so many calls of one exchange, with haichi's settings as they are by default, and its
time is that of all its calls, the slowest rank's each: trials, agreements and what is made for a
communicator are in it. Beside it, in turn: the same job of stock's; one that begins with what an
earlier job has decided; and one that has the best algorithm from its second call on.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from rich.table import Table

from haichi import mpi
from haichi.figures import exchange_cell, record, trial
from haichi.figures.cases import Plan, program_of
from haichi.figures.collectives import LONGEST_S, SHAPES, can_be
from haichi.figures.exchange_cell import LIBRARY, RANKS, Cell
from haichi.figures.model import Case, Claim, Measurement, Samples
from haichi.figures.places import OnLab
from haichi.figures.trial import DEFAULT, STOCK, Program, Variant

FUNCTIONS = ("alltoall", "alltoallv", "allgather")
SIZES = (1 << 10, 16 << 10)
CALLS = (20, 200)
MAPPINGS = ("BK", "RR")
ROUNDS = 3  # of all candidates, to know the best
JOB = "job"  # all its calls together
EARLIER, BEST = "decided earlier", "best"
SHORT, NEVER_SLOWER, MOST_REGRET = 40, 0.98, 0.06


@dataclass(frozen=True)
class Row:
    """One job on one place by one MPI: its cases by variant."""

    cell: Cell
    calls: int
    best: str  # the algorithm, LIBRARY if that is stock's own
    cases: dict[str, Case] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """In words."""
        return f"{self.cell.which.name}: {self.calls} calls of {self.cell.title}"

    def seconds(self, variant: str) -> float | None:
        """The median time of its jobs."""
        case = self.cases.get(variant)
        return case.median(JOB) if case and not case.problems else None

    def over(self, variant: str) -> float | None:
        """Stock's time over it; above 1 is a gain."""
        stock, other = self.seconds(STOCK.name), self.seconds(variant)
        return stock / other if stock and other else None

    @property
    def regret(self) -> float | None:
        """How much longer haichi's job took than the better of stock's and the best algorithm's."""
        least = min((s for s in map(self.seconds, (STOCK.name, BEST)) if s), default=None)
        own = self.seconds(DEFAULT.name)
        return own / least - 1 if own and least else None


@dataclass(frozen=True)
class Asked:
    """What the command line asks for."""

    mpis: Sequence[str]
    mappings: Sequence[str]
    functions: Sequence[str]
    sizes: Sequence[int]
    calls: Sequence[int]
    repetitions: int
    yields: str


def cells(places: dict[str, OnLab], asked: Asked) -> Iterator[Cell]:
    """Every exchange at every place by every MPI; those that are not here raise mpi.Missing."""
    for name, (shape, place), mapping in product(asked.mpis, places.items(), asked.mappings):
        if not can_be(shape, mapping, name):
            continue
        on = replace(place, mapping=mapping, room=SHAPES[shape])
        plan = Plan(on, RANKS, asked.yields, reports=place.shared, timeout_s=LONGEST_S)
        for function, size in product(asked.functions, asked.sizes):
            yield Cell(plan, mpi.find(name), f"{shape} {mapping}", function, size)


def measure(
    places: dict[str, OnLab], asked: Asked, progress: Callable[[str], None]
) -> tuple[Measurement, list[Row]]:
    """Runs every job, on `places` by the names of their shapes."""
    environment = record.environment(next(iter(places.values())), asked.yields)
    rows = []
    all_cells = list(cells(places, asked))
    for number, cell in enumerate(all_cells, 1):
        progress(f"{number}/{len(all_cells)}  {cell.which.name}: {cell.title}")
        rows += rows_of(cell, asked, progress)
    environment.load_after = record.load()
    measurement = Measurement(
        what="job-regret",
        repetitions=asked.repetitions,
        environment=environment,
        cases=[case for row in rows for case in row.cases.values()],
        claims=claims(rows),
    )
    return measurement, rows


def rows_of(cell: Cell, asked: Asked, progress: Callable[[str], None]) -> list[Row]:
    """The jobs of every length. What is best is found before, by trials of everything, which are
    what an earlier job has decided too."""
    with tempfile.TemporaryDirectory(prefix="decided-", dir=cell.plan.place.shared) as folder:
        decided = {"HAICHI_COLLECTIVES_DECISIONS": folder}
        every = {
            **exchange_cell.TRIALS,
            **decided,
            "HAICHI_COLLECTIVES_ROUNDS": str(ROUNDS),
            "HAICHI_COLLECTIVES_PRUNE": "off",
        }
        calls = 2 + ROUNDS * exchange_cell.CANDIDATES
        case, found = exchange_cell.job(cell, Variant("all", True, every), calls)
        if found is None or not found.chosen:
            case.problems = case.problems or ["the report has no trials"]
            return [Row(cell, each, LIBRARY, {DEFAULT.name: case}) for each in asked.calls]
        variants = [STOCK, DEFAULT, Variant(EARLIER, True, decided)]
        if found.chosen != LIBRARY:
            fixed = {**exchange_cell.SOON, "HAICHI_COLLECTIVES_ALGORITHM": found.chosen}
            variants.append(Variant(BEST, True, fixed))
        return [row_of(cell, each, found.chosen, variants, asked, progress) for each in asked.calls]


def row_of(
    cell: Cell,
    calls: int,
    best: str,
    variants: Sequence[Variant],
    asked: Asked,
    progress: Callable[[str], None],
) -> Row:
    """Jobs of one length, interleaved."""
    argv = [program_of("exchange", cell.which), cell.function, str(cell.size), str(calls)]
    program = Program(f"{calls} calls of {cell.title}", cell.which, lambda file: list(argv))
    made = [cell.plan.make(program, each, exchange_cell.nothing, "job") for each in variants]
    trial.interleaved(made, asked.repetitions, progress)
    for case, _ in made:
        case.operations = {JOB: Samples(seconds=job_times(case, calls))}
    return Row(cell, calls, best, {case.variant: case for case, _ in made})


def job_times(case: Case, calls: int) -> list[float]:
    """Of each job the sum over its calls."""
    samples = case.operations.get("last rank")
    times = samples.seconds if samples else []
    return [sum(times[i : i + calls]) for i in range(0, len(times), calls)]


def table(rows: Sequence[Row]) -> Table:
    """One line for each job."""
    made = Table(title="stock's job / haichi's", title_justify="left")
    made.add_column("job", no_wrap=True)
    for head in ("stock s", "haichi", EARLIER, BEST, "regret %"):
        made.add_column(head, justify="right")
    made.add_column("the best")
    for row in rows:
        regret = row.regret
        made.add_row(
            row.title,
            _number(row.seconds(STOCK.name), 3),
            *(_number(row.over(each), 2) for each in (DEFAULT.name, EARLIER, BEST)),
            _number(None if regret is None else 100 * regret, 1),
            row.best,
        )
    return made


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def claims(rows: Sequence[Row]) -> list[Claim]:
    """What was to be reached: for each length the mean ratio and the mean regret."""
    found = []
    for calls in dict.fromkeys(row.calls for row in rows):
        of = [row for row in rows if row.calls == calls]
        ratios = [ratio for row in of if (ratio := row.over(DEFAULT.name))]
        regrets = [regret for row in of if (regret := row.regret) is not None]
        mean = statistics.geometric_mean(ratios) if ratios else None
        found.append(
            Claim(
                what=f"stock's job of {calls} calls / haichi's, geometric mean of {len(ratios)}",
                ratio=mean,
                wanted=NEVER_SLOWER if calls <= SHORT else 1.0,
            )
        )
        found.append(
            Claim(
                what=f"regret of jobs of {calls} calls, mean",
                ratio=statistics.mean(regrets) if regrets else None,
                wanted=MOST_REGRET,
                direction="at most",
            )
        )
    return found
