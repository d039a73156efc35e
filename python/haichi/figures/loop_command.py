"""`haichi figures loop`: the command; what it measures is in loop.py."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from haichi import mpi, paths
from haichi.figures import loop, record
from haichi.figures.command import (
    MPIS,
    Rate,
    Which,
    Yields,
    keep,
    one_line,
    progress_on_errors,
)
from haichi.figures.places import temporary_lab


def command(
    which: Which = None,
    rounds: Annotated[int, typer.Option(min=2, help="Of every algorithm.")] = 3,
    launches: Annotated[int, typer.Option(min=1, help="Of haichi measure.")] = loop.LAUNCHES,
    sizes: Annotated[
        list[int] | None, typer.Option("--size", help="Bytes from rank to rank; repeatable.")
    ] = None,
    profile: Annotated[
        Path | None, typer.Option(help="A profile in place of one that is measured first.")
    ] = None,
    rate: Rate = "100mbit",
    yields: Yields = "ucx",
    out: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
) -> None:
    """Measures a profile of 4 nodes in the lab (root), and holds what is simulated and chosen by it
    against the lab, beside the defaults."""
    console = record.console()
    found = []
    with one_line(), temporary_lab(loop.NODES, rate) as place:
        progress = progress_on_errors()
        about = record.environment(place, yields)
        for name in which or MPIS[:1]:
            library = mpi.find(name)
            file = profile or paths.OUT / "figures" / f"loop-{name}.machine.json"
            if profile is None:
                loop.measure_profile(place, library, launches, file, progress)
            found.append(
                loop.run(place, library, file, rounds, sizes or loop.SIZES, yields, progress)
            )
        about.load_after = record.load()
    for each in found:
        loop.show(console, each)
    console.print(
        f"{about.place}; {about.cores} cores, Linux {about.kernel}, load {about.load_before:.1f} "
        f"before, {about.load_after:.1f} after; medians of {rounds} and more"
    )
    console.print(loop.summary(found))
    record.print_claims(console, loop.claims(found))
    keep(loop.document(found, about), out, "loop")
