"""What the samples of `haichi figures never-slower` say: ratios, how sure they are, claims."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from haichi.figures.model import Case, Claim
from haichi.figures.never_slower_start import AGAIN, HAICHI, STOCK, Row

NEVER_SLOWER, SHARE, FLOOR = 0.97, 0.99, 0.9
# From so many samples on, one outlier a side is not looked at.
MANY, SURE = 5, 3


@dataclass(frozen=True)
class Ratio:
    """Stock ÷ haichi of one operation of a row; `noise` is stock ÷ stock. Samples are seconds."""

    row: Row
    op: str
    stock: Sequence[float]
    again: Sequence[float]
    haichi: Sequence[float]

    @property
    def value(self) -> float:
        """Of the medians."""
        return statistics.median([*self.stock, *self.again]) / statistics.median(self.haichi)

    @property
    def noise(self) -> float | None:
        """The same of stock and stock again."""
        if not (self.stock and self.again):
            return None
        return statistics.median(self.stock) / statistics.median(self.again)

    @property
    def highest(self) -> float:
        """What the ratio could be at best: the slowest start of stock by the fastest of haichi."""
        slow = sorted([*self.stock, *self.again], reverse=True)
        fast = sorted(self.haichi)
        return slow[len(slow) >= MANY] / fast[len(fast) >= MANY]

    def surely_below(self, bound: float) -> bool:
        """Whether the noise allows to say so."""
        return len(self.haichi) >= SURE and self.value < bound and self.highest < bound

    @property
    def title(self) -> str:
        """Which one it is."""
        return f"{self.row.title}, {self.op}"


def ops_of(row: Row) -> tuple[str, ...]:
    """What decides: a job's sections with its files, its exchanges, or a job that does nothing."""
    if not row.pattern.communicates:
        return ("write", "read")
    return ("job",) if row.pattern.words["op"] == "none" else ("run",)


def ratios(rows: Sequence[Row], *, calls: bool = False) -> list[Ratio]:
    """One for each operation that was measured; with `calls`, of the calls to files alone."""
    found = []
    for row in rows:
        for op in ops_of(row):
            name = f"{op} calls" if calls else op
            stock, again, haichi = (_seconds(row.cases[v], name) for v in (STOCK, AGAIN, HAICHI))
            if (stock or again) and haichi:
                found.append(Ratio(row, op, stock, again, haichi))
    return found


def _seconds(case: Case, op: str) -> list[float]:
    samples = case.operations.get(op)
    return list(samples.seconds) if samples else []


def failures(rows: Sequence[Row]) -> list[tuple[Row, str]]:
    """Starts under haichi that failed or hung where all of stock's were well."""
    found = []
    for row in rows:
        if not (row.cases[STOCK].problems or row.cases[AGAIN].problems):
            found += [(row, problem) for problem in row.cases[HAICHI].problems]
    return found


@dataclass(frozen=True)
class Distribution:
    """Figures of many ratios."""

    count: int
    median: float
    mean: float  # geometric
    worst: float
    share: float  # of at least NEVER_SLOWER


def distribution(values: Sequence[float]) -> Distribution | None:
    """None of none."""
    if not values:
        return None
    return Distribution(
        len(values),
        statistics.median(values),
        math.exp(statistics.fmean(math.log(value) for value in values)),
        min(values),
        sum(value >= NEVER_SLOWER for value in values) / len(values),
    )


def noises(found: Sequence[Ratio]) -> list[float]:
    """Stock by stock."""
    return [ratio.noise for ratio in found if ratio.noise is not None]


def more_memory(rows: Sequence[Row]) -> list[tuple[int, Row]]:
    """KiB that a rank has more under haichi than with stock, at its peak; the most comes last."""
    found = []
    for row in rows:
        stock = max(row.peaks.get(variant, 0) for variant in (STOCK, AGAIN))
        if stock and HAICHI in row.peaks:
            found.append((row.peaks[HAICHI] - stock, row))
    return sorted(found, key=lambda each: each[0])


def claims(found: Sequence[Ratio], failed: int) -> list[Claim]:
    """What was to be reached. Where stock against itself does not reach the share, no more can be
    asked of haichi than that, less two standard errors of the difference."""
    ours, stock = distribution([r.value for r in found]), distribution(noises(found))
    wanted = SHARE
    if stock and stock.share < SHARE:
        error = math.sqrt(2 * stock.share * (1 - stock.share) / stock.count)
        wanted = max(0.0, stock.share - 2 * error)
    slow = [ratio for ratio in found if ratio.surely_below(FLOOR)]
    return [
        Claim(
            what=f"share of {len(found)} ratios stock / haichi of at least {NEVER_SLOWER}",
            ratio=ours.share if ours else None,
            wanted=wanted,
        ),
        Claim(
            what=f"ratios surely below {FLOOR}",
            ratio=float(len(slow)) if found else None,
            wanted=0,
            direction="at most",
        ),
        Claim(
            what="starts that only fail under haichi",
            ratio=float(failed),
            wanted=0,
            direction="at most",
        ),
    ]


def suspects(rows: Sequence[Row]) -> list[Row]:
    """Those that deserve a second look, the worst first."""
    slow = sorted((r for r in ratios(rows) if r.value < NEVER_SLOWER), key=lambda r: r.value)
    return list({id(ratio.row): ratio.row for ratio in slow}.values())


def fastest(ratio: Ratio) -> float:
    """Of the fastest rounds of all starts: what a busy machine disturbs least."""
    stock, again, haichi = (
        min(_seconds(ratio.row.cases[v], f"{ratio.op} fastest"), default=math.inf)
        for v in (STOCK, AGAIN, HAICHI)
    )
    return min(stock, again) / haichi


def table(found: Sequence[Ratio], calls: Sequence[Ratio]) -> Table:
    """All ratios, the worst first."""
    alone = {(id(r.row), r.op): r.value for r in calls}
    made = Table(title="stock / haichi, the worst first", title_justify="left")
    for column in ("pattern", "place", "MPI", "what"):
        made.add_column(column, no_wrap=True)
    for column in ("stock ms", "haichi ms", "ratio", "at best", "fastest", "calls", "noise"):
        made.add_column(column, justify="right")
    for r in sorted(found, key=lambda r: r.value):
        value = f"{r.value:.2f}"
        if r.surely_below(NEVER_SLOWER):
            value = f"[red]{value}[/red]"
        calls_alone = alone.get((id(r.row), r.op))
        made.add_row(
            r.row.pattern.name,
            str(r.row.where),
            r.row.which.name,
            r.op,
            f"{1000 * statistics.median([*r.stock, *r.again]):.2f}",
            f"{1000 * statistics.median(r.haichi):.2f}",
            value,
            f"{r.highest:.2f}",
            f"{fastest(r):.2f}",
            f"{calls_alone:.2f}" if calls_alone else "",
            f"{r.noise:.2f}" if r.noise else "",
        )
    return made
