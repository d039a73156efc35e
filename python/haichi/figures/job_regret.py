"""`haichi figures job-regret`: what choosing by trial costs a whole job of few calls, or gains it,
on real MPIs.

A job makes so many calls of one exchange, with haichi's settings as they are by default, and its
time is that of all its calls, the slowest rank's each: trials, agreements and what is made for a
communicator are in it. Beside it, in turn: the same job of stock's; one that begins with what an
earlier job has decided; and one that has the best algorithm from its second call on.

All of it takes more than an hour. With a limit of minutes cells are drawn at random by a seed, one
after the other, and what they show stands for all of them, with an interval.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from rich.table import Table

from haichi import median_interval, mpi
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
    minutes: float | None = None  # then cells are drawn
    seed: int = 1


@dataclass(frozen=True)
class Spread:
    """Values of jobs of one length: their median with its interval at 95 %, and both ends."""

    count: int
    median: float
    low: float
    high: float
    least: float
    most: float


def spread(values: Sequence[float]) -> Spread | None:
    """None of none. Of fewer than six values the interval is all of them."""
    if not values:
        return None
    ordered = sorted(values)
    rank = median_interval.interval_rank(len(ordered))
    return Spread(
        len(ordered),
        statistics.median(ordered),
        ordered[rank],
        ordered[-1 - rank],
        ordered[0],
        ordered[-1],
    )


def drawn(all_cells: Sequence[Cell], seed: int) -> list[Cell]:
    """All of them in an order that depends on the seed alone."""
    order = list(all_cells)
    random.Random(seed).shuffle(order)
    return order


def in_time(
    drawn_cells: Sequence[Cell], minutes: float, clock: Callable[[], float] = time.monotonic
) -> Iterator[tuple[Cell, str]]:
    """The first one, and the next ones as long as they would be done in time if each took as long
    as the longest so far; with a word on what is left."""
    begin = clock()
    end, longest = begin + 60 * minutes, 0.0
    for number, cell in enumerate(drawn_cells):
        now = clock()
        if number and now + longest > end:
            return
        left = f"{(end - now) / 60:.1f} minutes left"
        if number:
            left += f", about {int((end - now) / ((now - begin) / number))} more"
        yield cell, left
        longest = max(longest, clock() - now)


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
    chosen: Iterable[tuple[Cell, str]] = ((cell, f"of {len(all_cells)}") for cell in all_cells)
    if asked.minutes is not None:
        chosen = in_time(drawn(all_cells, asked.seed), asked.minutes)
    for number, (cell, left) in enumerate(chosen, 1):
        progress(f"{number} {left}  {cell.which.name}: {cell.title}")
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


def summary(rows: Sequence[Row], all_cells: int | None = None) -> list[str]:
    """A line for each length of jobs; above them, of how many cells the drawn ones are."""
    lines = []
    if all_cells is not None:
        done = len({id(row.cell) for row in rows})
        lines.append(f"{done} of {all_cells} cells, drawn at random")
    for calls in dict.fromkeys(row.calls for row in rows):
        of = [row for row in rows if row.calls == calls]
        regret = spread([100 * row.regret for row in of if row.regret is not None])
        ratio = spread([each for row in of if (each := row.over(DEFAULT.name))])
        if regret is None or ratio is None:
            continue
        lines.append(
            f"jobs of {calls} calls, {regret.count}: regret {regret.median:.1f} % in the median "
            f"({regret.low:.1f} to {regret.high:.1f} at 95 %), {regret.most:.1f} % at worst; "
            f"stock's / haichi's {ratio.median:.2f} ({ratio.low:.2f} to {ratio.high:.2f}), "
            f"{ratio.least:.2f} at worst"
        )
    return lines


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
