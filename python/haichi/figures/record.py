"""The record of a measurement: the machine it was made on, and how it is shown."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Callable, Sequence

from haichi_processes import runner
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from haichi import paths
from haichi.figures.model import Case, Claim, Environment, Measurement
from haichi.figures.places import Place
from haichi.figures.trial import Trial, cores, interleaved


def environment(place: Place, yields: str) -> Environment:
    """What the figures depend on, now."""
    return Environment(
        haichi=_version(),
        kernel=platform.release(),
        cores=cores(),
        load_before=load(),
        started=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        place=place.description,
        yields=f"Open MPI: mpi_yield_when_idle; MPICH: {yields}",
    )


def _version() -> str:
    try:
        done = runner.run(["git", "-C", paths.ROOT, "describe", "--always", "--dirty"], timeout=10)
    except OSError:
        return "unknown"
    return done.out.strip() or "unknown"


def measured(
    what: str,
    trials: Sequence[Trial],
    repetitions: int,
    about: Environment,
    progress: Callable[[str], None],
    claims: Callable[[list[Case]], list[Claim]],
) -> Measurement:
    """The record of trials that are run here, interleaved, and what is claimed of their cases."""
    interleaved(trials, repetitions, progress)
    about.load_after = load()
    cases = [case for case, _ in trials]
    return Measurement(
        what=what, repetitions=repetitions, environment=about, cases=cases, claims=claims(cases)
    )


def console(*, stderr: bool = False) -> Console:
    """A console whose tables keep their width where there is no terminal to ask for it."""
    made = Console(stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=120)


def print_measurement(console: Console, measurement: Measurement) -> None:
    """The tables: seconds and ratios of every case, then the figures that were to be reached."""
    about = measurement.environment
    console.print(f"[bold]{measurement.what}[/bold]: {about.place}")
    console.print(
        f"{about.cores} cores, Linux {about.kernel}, load {about.load_before:.1f} before; "
        f"{what_figures_are(measurement.repetitions)}"
    )
    programs = dict.fromkeys((c.program, c.ranks) for c in measurement.cases)
    for program, ranks in programs:
        cases = [c for c in measurement.cases if (c.program, c.ranks) == (program, ranks)]
        console.print(_table(f"{program}, {ranks} ranks", cases))
    for case in measurement.cases:
        for note in case.notes:
            console.print(f"note: {case.mpi}, {case.variant}: {note}", markup=False)
    print_claims(console, measurement.claims)


def print_claims(console: Console, claims: Sequence[Claim]) -> None:
    """What was to be reached, and what was."""
    for claim in claims:
        value = "not measured" if claim.ratio is None else f"{claim.ratio:.2f}"
        verdict = "[green]reached[/green]" if claim.reached else "[yellow]not reached[/yellow]"
        console.print(
            f"{verdict}  {claim.what}: {value} ({claim.direction} {claim.wanted:g} wanted)"
        )


def what_figures_are(repetitions: int) -> str:
    """What the figures of a table are, by how often it was measured."""
    if repetitions == 1:
        return "one run of each: how far figures spread is unknown (--repetitions 3 tells)"
    return f"medians of {repetitions} interleaved repetitions, \\[smallest–largest]"


def _table(title: str, cases: Sequence[Case]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("MPI")
    table.add_column("variant")
    operations = list(dict.fromkeys(op for case in cases for op in case.operations))
    for op in operations:
        table.add_column(f"{op} s", justify="right")
        table.add_column(f"× {cases[0].variant}", justify="right")
    limits = any(case.limit_s for case in cases)
    if limits:
        table.add_column("wire limit s", justify="right")
    table.add_column("bytes")
    for case in cases:
        # What others are compared with comes first: stock, or the stock order.
        first = next(c for c in cases if c.mpi == case.mpi)
        row = [case.mpi, case.variant]
        for op in operations:
            row += [_seconds(case, op), _ratio(first, case, op)]
        if limits:
            row.append(f"{case.limit_s:.2f}" if case.limit_s else "")
        bad = escape(case.problems[0]) if case.problems else ""
        row.append(f"[red]{bad}[/red]" if bad else "[green]right[/green]")
        table.add_row(*row)
    return table


def _seconds(case: Case, op: str) -> str:
    samples = case.operations.get(op)
    if samples is None or samples.median is None or samples.spread is None:
        return "–"
    low, high = samples.spread
    digits = 2 if samples.median >= 1 else 3
    if len(samples.seconds) == 1:
        return f"{samples.median:.{digits}f}"
    return escape(f"{samples.median:.{digits}f} [{low:.{digits}f}–{high:.{digits}f}]")


def _ratio(first: Case, case: Case, op: str) -> str:
    own, other = case.median(op), first.median(op)
    return f"{other / own:.2f}" if own and other and case is not first else ""


def ratio(numerator: Case | None, denominator: Case | None, op: str) -> float | None:
    """Median time of one case by that of another; None if either has none."""
    above = numerator.median(op) if numerator else None
    below = denominator.median(op) if denominator else None
    return above / below if above and below else None


def load() -> float:
    """The machine's load over the last minute."""
    return os.getloadavg()[0]
