"""Stock, haichi and the limit side by side: one row per case, MPI and direction."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.table import Table

from haichi.figures.model import Case, Claim
from haichi.figures.trial import DEFAULT, LIMIT, STOCK


@dataclass(frozen=True)
class Row:
    """Median seconds of one pattern on one MPI, reading or writing; None where not measured."""

    program: str
    ranks: int
    mpi: str
    op: str
    stock: float | None
    haichi: float | None
    better: float | None  # stock of the MPI that is faster at this
    limit: float | None

    def __str__(self) -> str:
        """Which one it is."""
        return f"{self.mpi}, {self.name}, {self.ranks} ranks, {self.op}"

    @property
    def name(self) -> str:
        """The program's name without what follows its colon, the shape."""
        return self.program.partition(":")[0]

    @property
    def against_own(self) -> float | None:
        """Times faster than the same MPI alone."""
        return _ratio(self.stock, self.haichi)

    @property
    def against_better(self) -> float | None:
        """Times faster than the faster MPI alone."""
        return _ratio(self.better, self.haichi)

    @property
    def above_limit(self) -> float | None:
        """Times slower than the limit."""
        return _ratio(self.haichi, self.limit)


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above and below else None


def rows(cases: Sequence[Case]) -> list[Row]:
    """The rows of a measurement. The limit is a case of its own, or else the wire's."""
    by = {(c.program, c.ranks, c.mpi, c.variant): c for c in cases}
    names = list(dict.fromkeys(c.mpi for c in cases))

    def median(program: str, ranks: int, name: str, variant: str, op: str) -> float | None:
        case = by.get((program, ranks, name, variant))
        return case.median(op) if case else None

    made = []
    for (program, ranks, name, variant), case in by.items():
        if variant != DEFAULT.name:
            continue
        for op in ("write", "read"):
            stocks = [median(program, ranks, other, STOCK.name, op) for other in names]
            limit = median(program, ranks, name, LIMIT.name, op) or case.limit_s
            made.append(
                Row(
                    program=program,
                    ranks=ranks,
                    mpi=name,
                    op=op,
                    stock=median(program, ranks, name, STOCK.name, op),
                    haichi=case.median(op),
                    better=min((s for s in stocks if s), default=None),
                    limit=limit,
                )
            )
    return made


def geometric_mean(found: Iterable[Row]) -> float | None:
    """Of the ratios to the better stock; None without any."""
    ratios = [row.against_better for row in found if row.against_better]
    return statistics.geometric_mean(ratios) if ratios else None


def worst(
    what: str,
    found: Iterable[Row],
    ratio: str,
    wanted: float,
    direction: Literal["at least", "at most"] = "at least",
) -> Claim:
    """The claim that every row's `ratio` (a property of Row) is as wanted, with the row that is
    furthest from it."""
    values = [(value, row) for row in found if (value := getattr(row, ratio)) is not None]
    pick = min if direction == "at least" else max
    value, row = pick(values, key=lambda pair: pair[0], default=(None, None))
    what = f"{what} (worst: {row})" if row else what
    return Claim(what=what, ratio=value, wanted=wanted, direction=direction)


def table(found: Sequence[Row]) -> Table:
    """Seconds and ratios of all rows."""
    made = Table(title="haichi, the stock libraries and the limit", title_justify="left")
    for column in ("pattern", "ranks", "", "MPI"):
        made.add_column(column, no_wrap=True)
    for column in ("stock s", "haichi s", "better / haichi", "own / haichi", "haichi / limit"):
        made.add_column(column, justify="right")
    before = None
    places = list(dict.fromkeys((row.ranks, row.program) for row in found))
    for row in sorted(found, key=lambda r: (places.index((r.ranks, r.program)), r.op == "read")):
        same = (row.ranks, row.program) == before
        before = (row.ranks, row.program)
        made.add_row(
            "" if same else row.name,
            "" if same else str(row.ranks),
            row.op,
            row.mpi,
            _number(row.stock, 4),
            _number(row.haichi, 4),
            _number(row.against_better, 2),
            _number(row.against_own, 2),
            _number(row.above_limit, 2),
        )
    return made


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
