"""`haichi figures never-slower`: stock ÷ haichi over patterns that nobody tuned to, the named ones
and random draws, on one machine and in the lab, with every MPI asked for.

What is not at least as fast is looked at again, while there is time: twice as many starts.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from haichi import mpi
from haichi.figures import never_slower_draw as draws
from haichi.figures import never_slower_figures as figures
from haichi.figures import never_slower_picture, never_slower_start, record
from haichi.figures.model import Measurement
from haichi.figures.never_slower_draw import Where
from haichi.figures.never_slower_start import Row
from haichi.figures.places import Place, temporary_lab, temporary_machine


@dataclass(frozen=True)
class Asked:
    """What the command line asks for."""

    mpis: Sequence[str]
    places: Sequence[Where]
    named: bool = True
    draws: int = 0
    sparse: int = 0
    seed: int = 1
    only: Sequence[str] = ()
    repetitions: int = 3
    looks: int = 2  # at what is slower, after the first
    minutes: float | None = None
    rate: str = "100mbit"
    yields: str = "ucx"


def places_of(words: Sequence[str], ranks: Sequence[int]) -> list[Where]:
    """`one`, `lab` or the places themselves; `ranks`, if there are any, choose on one node.

    Raises:
        mpi.Missing: there is no such place.
    """
    known = {str(where): [where] for where in (*draws.ONE, *draws.LAB)}
    known |= {"one": list(draws.ONE), "lab": list(draws.LAB)}
    for word in words:
        if word not in known:
            raise mpi.Missing(f"--nodes {word}: use one of {', '.join(known)}")
    for number in ranks:
        if number not in [where.ranks for where in draws.ONE]:
            raise mpi.Missing(f"--ranks {number}: use 2 or 4")
    chosen = dict.fromkeys(where for word in words for where in known[word])
    return [where for where in chosen if where.lab or not ranks or where.ranks in ranks]


def rows_of(asked: Asked) -> list[Row]:
    """Every named pattern at every place with every MPI, and each draw at its place with its MPI.

    Raises:
        mpi.Missing: an MPI is not here, or no pattern has that name.
    """
    mpis = {name: mpi.find(name) for name in asked.mpis}
    found = []
    for pattern in draws.named() if asked.named else ():
        for where in asked.places:
            found += [Row(draws.bounded(pattern, where), where, each) for each in mpis.values()]
    for kind, count, draw in (
        ("draw", asked.draws, draws.draw),
        ("sparse", asked.sparse, draws.draw_sparse),
    ):
        for number in _numbers(asked, kind, count):
            drawn = draw(asked.seed, number, asked.places, asked.mpis)
            found.append(Row(drawn.pattern, drawn.where, mpis[drawn.mpi]))
    return _chosen(found, asked.only)


def _chosen(rows: Sequence[Row], only: Sequence[str]) -> list[Row]:
    """Those whose name is one of the words, or, of a word that is no name, all that have it in
    theirs; in the order of the words. All, if there are none."""
    if not only:
        return list(rows)
    names = {row.pattern.name for row in rows}
    found: dict[int, Row] = {}
    for word in only:
        hits = [
            row
            for row in rows
            if row.pattern.name == word or (word not in names and word in row.pattern.name)
        ]
        if not hits:
            raise mpi.Missing(f"--only {word}: no pattern has that in its name; see --list")
        found |= {id(row): row for row in hits}
    return list(found.values())


def _numbers(asked: Asked, kind: str, count: int) -> Iterable[int]:
    """Of the draws of a kind; those that are asked for by name are made without the ones before."""
    drawn = [re.fullmatch(r"(draw|sparse)-(\d+)", word) for word in asked.only]
    if count and drawn and all(drawn):
        return [int(each[2]) for each in drawn if each and each[1] == kind]
    return range(count)


class Places:
    """Labs and this machine, each made when it is needed first."""

    def __init__(self, rate: str, stack: ExitStack) -> None:
        self._rate, self._stack = rate, stack
        self._made: dict[int, Place] = {}

    def at(self, where: Where) -> Place:
        """The place with so many nodes."""
        if where.nodes not in self._made:
            made: AbstractContextManager[Place] = (
                temporary_lab(where.nodes, self._rate) if where.lab else temporary_machine()
            )
            self._made[where.nodes] = self._stack.enter_context(made)
        return self._made[where.nodes]

    @property
    def description(self) -> str:
        """For the record."""
        return "; ".join(place.description for place in self._made.values())


def measure(asked: Asked, progress: Callable[[str], None]) -> tuple[Measurement, list[Row]]:
    """Runs everything, or what there is time for."""
    rows = rows_of(asked)
    with ExitStack() as stack:
        places = Places(asked.rate, stack)
        first = places.at(rows[0].where)
        environment = record.environment(first, asked.yields)
        try:
            _all_looks(rows, places, asked, progress)
        except KeyboardInterrupt:
            progress("interrupted: what is done counts")
        environment.place = places.description
    environment.load_after = record.load()
    done = [row for row in rows if row.starts]
    for row in done:
        for variant, kib in row.peaks.items():
            row.cases[variant].notes.append(f"peak memory of a rank: {kib} KiB")
    found = figures.ratios(done)
    return (
        Measurement(
            what="never-slower",
            repetitions=asked.repetitions,
            environment=environment,
            cases=[case for row in done for case in row.cases.values()],
            claims=figures.claims(found, len(figures.failures(done))),
        ),
        done,
    )


def _all_looks(
    rows: Sequence[Row], places: Places, asked: Asked, progress: Callable[[str], None]
) -> None:
    """Measures all rows, then those that seem slower, as far as time goes."""
    end = time.monotonic() + 60 * asked.minutes if asked.minutes else None
    for number, row in enumerate(_in_time(rows, end), 1):
        progress(f"{number}/{len(rows)}  {row.title}")
        never_slower_start.measure(row, places.at(row.where), asked.repetitions, asked.yields)
    for look in range(asked.looks):
        slow = figures.suspects([row for row in rows if row.starts])
        for number, row in enumerate(_in_time(slow, end), 1):
            progress(f"look {look + 2}, {number}/{len(slow)}  {row.title}")
            never_slower_start.measure(row, places.at(row.where), row.starts, asked.yields)


def _in_time(rows: Sequence[Row], end: float | None) -> Iterator[Row]:
    for row in rows:
        if end is not None and time.monotonic() > end:
            return
        yield row


def alone(row: Row, asked: Asked) -> str:
    """The command that measures this row alone."""
    words = ["./haichi", "figures", "never-slower", "--only", row.pattern.name]
    drawn = row.pattern.name.startswith(("draw-", "sparse-"))
    words += ["--random", "--seed", str(asked.seed)] if drawn else ["--named"]
    # Of these any number of ranks is drawn on one node.
    any_number = row.pattern.name.startswith("sparse-") and not row.where.lab
    where = "one" if any_number else str(row.where)
    words += ["--nodes", where, "--mpi", row.which.name]
    return shlex.join(words)


def show(console: Console, measurement: Measurement, rows: Sequence[Row], asked: Asked) -> None:
    """The table, the distribution, what fails or is slower, and the claims."""
    found = figures.ratios(rows)
    console.print(figures.table(found, figures.ratios(rows, calls=True)))
    about = measurement.environment
    console.print(
        f"{about.place}; {about.cores} cores, load {about.load_before:.1f} before, "
        f"{about.load_after or 0:.1f} after; medians of {measurement.repetitions} starts or more"
    )
    ours = figures.distribution([ratio.value for ratio in found])
    stock = figures.distribution(figures.noises(found))
    console.print(f"stock / haichi: {never_slower_picture.words(ours)}")
    console.print(f"stock / stock:  {never_slower_picture.words(stock)}")
    if more := figures.more_memory(rows):
        (typical, _), (most, row) = more[len(more) // 2], more[-1]
        console.print(
            f"memory of a rank at its peak: {typical / 1024:.1f} MiB more under haichi in the "
            f"median, {most / 1024:.1f} at most ({row.title})"
        )
    for row, problem in figures.failures(rows):
        console.print(f"failed under haichi: {row.title}: {problem}", markup=False)
        console.print(f"    {alone(row, asked)}", markup=False)
    for row in rows:
        for variant in (never_slower_start.STOCK, never_slower_start.AGAIN):
            for problem in row.cases[variant].problems[:1]:
                console.print(f"{variant} failed: {row.title}: {problem}", markup=False)
    for ratio in sorted(found, key=lambda ratio: ratio.value):
        if ratio.surely_below(figures.NEVER_SLOWER):
            console.print(f"slower: {ratio.title}: {ratio.value:.2f}", markup=False)
            console.print(f"    {alone(ratio.row, asked)}", markup=False)
    for claim in measurement.claims:
        verdict = "[green]reached[/green]" if claim.reached else "[red]not reached[/red]"
        value = "not measured" if claim.ratio is None else f"{claim.ratio:.3g}"
        console.print(f"{verdict}  {claim.what}: {value} ({claim.direction} {claim.wanted:.3g})")


def save_picture(rows: Sequence[Row], file: Path) -> None:
    """Writes the distribution."""
    found = figures.ratios(rows)
    ours = [ratio.value for ratio in found]
    title = f"Stock ÷ haichi, {len({id(ratio.row) for ratio in found})} patterns and places"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(never_slower_picture.picture(title, ours, figures.noises(found)))
