"""`haichi demo`: the main job, from a program that nobody changed to the page that shows what
haichi did under it.

HPIO's pattern (paper 000, section 4.2), a lattice as users complain of (pmodels/mpich#7935) and a
parallel HDF5 write, 16 ranks on 4 nodes: first the MPI library alone, then under haichi with its
settings. Another complaint (pmodels/mpich#6985) on this machine alone. Every file is compared byte
by byte.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from haichi import lab, mpi, paths
from haichi.figures import cases, record, trial
from haichi.figures.model import Measurement
from haichi.figures.patterns import Gapped, Hpio, Lattice
from haichi.figures.places import Place, temporary_lab, temporary_machine
from haichi.figures.trial import BY_HAND, DEFAULT, STOCK, choice
from haichi.lab import LabError
from haichi.report import html
from haichi.report.load import ReportError, load
from haichi.report.output import write_text
from haichi.report.summary import summarize

BAD_INPUT, INVALID = 2, 1
NODES, PER_NODE = 4, 4
RATE = "100mbit"
REGIONS = 1500  # of a rank, in the lab
REGIONS_ON_ONE_MACHINE = 200
RANKS_ALONE = 4
CANNOT_SHOW = (
    "On one machine the ranks share its memory: this shows that every byte is right, and what "
    "haichi would send between the nodes (the matrix of the page), but not what it saves. No link "
    "is limited, so the times say nothing of orders and placements. As root, ./haichi demo makes "
    "four nodes with shaped links."
)


def demo(
    repetitions: Annotated[int, typer.Option(min=1, help="Interleaved repetitions.")] = 1,
    one_machine: Annotated[
        bool, typer.Option("--one-machine", help="Play the nodes on this machine, as without root.")
    ] = False,
    yields: Annotated[
        str, typer.Option("--yield", help="How idle MPICH ranks yield: ucx, tick or none.")
    ] = "ucx",
    out: Annotated[Path, typer.Option(help="Directory for the results.")] = paths.OUT / "demo",
) -> None:
    """Write and read a file with 16 ranks on 4 nodes, stock and under haichi, and compare.

    Exit code 1: a result is not valid (a wrong byte, a failed run). Being slower is not an error.
    """
    console = record.console()
    begin = time.monotonic()
    try:
        with _place(console, one_machine) as place:
            measurement = _measure(console, place, repetitions, yields, out)
    except (LabError, mpi.Missing, FileExistsError) as error:
        sys.stderr.write(f"haichi demo: {error}\n")
        raise typer.Exit(BAD_INPUT) from None
    _write_page(measurement, out)
    measurement.save(out / "report.json")
    console.print()
    record.print_measurement(console, measurement)
    console.print(f"\ntook {time.monotonic() - begin:.0f} s")
    console.print(f"all samples:  {out / 'report.json'}")
    if measurement.page:
        console.print(f"what haichi did, run by run:  {measurement.page}")
    if place.rate is None:
        console.print(CANNOT_SHOW)
    if not measurement.valid:
        for case in measurement.cases:
            for problem in case.problems:
                sys.stderr.write(
                    f"haichi demo: {case.mpi}, {case.program}, {case.variant}: {problem}\n"
                )
        raise typer.Exit(INVALID)


@contextmanager
def _place(console: Console, one_machine: bool) -> Iterator[Place]:
    """A lab, or this machine where there can be none, and why."""
    problem = "asked for" if one_machine else lab.why_not()
    with ExitStack() as stack:
        place: Place | None = None
        if problem is None:
            try:
                place = stack.enter_context(temporary_lab(NODES, RATE))
            except LabError as error:
                problem = str(error)
        if place is None:
            console.print(f"One machine plays {NODES} nodes: {problem}")
            place = stack.enter_context(temporary_machine(NODES, NODES * PER_NODE))
        yield place


def _measure(
    console: Console, place: Place, repetitions: int, yields: str, out: Path
) -> Measurement:
    trial.haichi_program()
    mpis = mpi.available("openmpi", "mpich5") or mpi.available("mpich")
    if not mpis:
        raise mpi.Missing("no MPI is here: ./haichi build")
    paths.empty_folder(out)
    ranks = NODES * PER_NODE
    plan = cases.Plan(place, ranks, yields, reports=out)
    shape = Hpio(ranks, REGIONS if place.rate else REGIONS_ON_ONE_MACHINE)
    variants = [STOCK] + [
        choice(f"{layout}/{order}", layout=layout, order=order, aggregators=4)
        for layout, order in (
            ("packed", "rank"),
            ("roundrobin", "rank"),
            ("roundrobin", "nd_rank_shift"),
        )
    ]
    environment = record.environment(place, yields)
    console.print(f"{ranks} ranks on {place.description}")

    def progress(text: str) -> None:
        console.print(f"[dim]{text}[/dim]")

    with ExitStack() as stack:
        keep = stack.enter_context(cases.scratch(place))
        trials = cases.pattern_trials(plan, shape, mpis, variants, limit=cases.limit_of_cut)
        hdf5, left_out = cases.hdf5_trials(plan, (STOCK, DEFAULT), Path(keep))
        lattice = cases.pattern_trials(
            plan, Lattice(ranks), mpis, (STOCK, BY_HAND, DEFAULT), limit=cases.limit_of_best
        )
        alone = stack.enter_context(temporary_machine())
        gapped = cases.pattern_trials(
            replace(plan, place=alone, ranks=RANKS_ALONE),
            Gapped(RANKS_ALONE),
            mpis,
            (STOCK, DEFAULT),
            title=f"{Gapped(RANKS_ALONE)}, on one node",
        )
        all_trials = [*trials, *lattice, *gapped, *hdf5]
        for reason in left_out:
            console.print(f"left out: {reason}")
        trial.interleaved(all_trials, repetitions, progress)
    environment.load_after = record.load()
    return Measurement(
        what="demo",
        repetitions=repetitions,
        environment=environment,
        cases=[case for case, _ in all_trials],
        reports=[str(path) for path in sorted(out.glob("*-*.json"))],
    )


def _write_page(measurement: Measurement, out: Path) -> None:
    """The page of the run reports that there are; a report that cannot be read is a problem."""
    files = [Path(path) for path in measurement.reports]
    if not files:
        return
    page = out / "report.html"
    try:
        runs, summary = summarize(files, [load(path) for path in files])
        write_text(page, html.page(runs, summary))
    except ReportError as error:
        measurement.cases[0].problems.append(str(error))
        return
    measurement.page = str(page)
