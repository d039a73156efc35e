"""`haichi figures never-slower`: the command; what it measures is in never_slower.py."""

from __future__ import annotations

from typing import Annotated

import typer

from haichi.figures import never_slower, never_slower_draw, record
from haichi.figures.command import (
    INVALID,
    Out,
    Rate,
    Repetitions,
    Which,
    Yields,
    default_file,
    one_line,
    progress_on_errors,
)
from haichi.report.output import say


def command(
    number: Annotated[
        int, typer.Option("--draws", min=0, help="How many patterns are drawn at random.")
    ] = 500,
    sparse: Annotated[
        int, typer.Option(min=0, help="How many of pieces with holes of up to 1 GiB are drawn.")
    ] = 100,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 1,
    named: Annotated[
        bool | None,
        typer.Option("--named/--random", help="Named patterns alone, or draws alone. Both."),
    ] = None,
    nodes: Annotated[
        list[str] | None,
        typer.Option(help="one, lab (root), or a place: 1x2, 1x4, 4x4, 8x2; repeatable. All."),
    ] = None,
    ranks: Annotated[
        list[int] | None, typer.Option(help="Of one node, 2 or 4; repeatable. Both.")
    ] = None,
    which: Which = None,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="Ends with what is done by then.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="A pattern, such as ior-hard or draw-17, or a part of names; repeatable."
        ),
    ] = None,
    repetitions: Repetitions = 3,
    looks: Annotated[
        int, typer.Option(min=0, help="How often what seems slower is measured again, at most.")
    ] = 2,
    show_list: Annotated[
        bool, typer.Option("--list", help="Only say which patterns there are, in words.")
    ] = False,
    rate: Rate = "100mbit",
    yields: Yields = "ucx",
    out: Out = None,
) -> None:
    """Stock / haichi over 100 named access patterns and many drawn at random, on one node and in
    the lab (root)."""
    console = record.console()
    with one_line():
        asked = never_slower.Asked(
            mpis=which or never_slower_draw.MPIS,
            places=never_slower.places_of(nodes or ["one", "lab"], ranks or []),
            named=named is not False,
            draws=0 if named else number,
            sparse=0 if named else sparse,
            seed=seed,
            only=only or [],
            repetitions=repetitions,
            looks=looks,
            minutes=minutes,
            rate=rate,
            yields=yields,
        )
        if show_list:
            for row in never_slower.rows_of(asked):
                say(console, f"{row.title}: {row.pattern}")
            return
        measurement, rows = never_slower.measure(asked, progress_on_errors())
    never_slower.show(console, measurement, rows, asked)
    file = out or default_file("never-slower")
    measurement.save(file)
    never_slower.save_picture(rows, file.with_suffix(".svg"))
    console.print(f"all samples: {file}, picture: {file.with_suffix('.svg')}")
    if not all(claim.reached for claim in measurement.claims):
        raise typer.Exit(INVALID)
