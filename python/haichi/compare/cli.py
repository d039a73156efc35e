"""`haichi compare`: two sets of samples, or the two ways to run a program that stands behind --."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperCommand

from haichi import paths
from haichi.compare import picture
from haichi.compare.launcher_line import LAUNCHER
from haichi.compare.program import compare_ways
from haichi.compare.samples import ALPHA, AT_LEAST, compare_sets
from haichi.compare.sets import Set, measurement_of, read_set, two_sets
from haichi.compare.show import print_comparison
from haichi.report.load import ReportError
from haichi.report.output import console, write_text

BAD_INPUT, SLOWER = 2, 1
SAMPLES, PROGRAM = "Samples", "A program"
PROGRAM_BEHIND = "haichi.program"  # what stands behind --, in the context


app = typer.Typer(add_completion=False)


class FilesOrProgram(TyperCommand):
    """Keeps what stands behind -- for itself: the parser of options would forget that it was there,
    and files and programs could not be told apart."""

    # typer calls it with its own context, which has more than the one that it takes over.
    def parse_args(  # type: ignore[override]
        self, ctx: typer.Context, args: list[str]
    ) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta[PROGRAM_BEHIND] = args[at + 1 :]
            args = args[:at]
        elif any(LAUNCHER.fullmatch(Path(word).name) for word in args[:1]):
            ctx.fail(f"{args[0]} is no file to read; a program stands behind --")
        return super().parse_args(ctx, args)


@app.command(cls=FilesOrProgram)
def compare(
    context: typer.Context,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="A B",
            help="Samples files of haichi measure or folders of them; with several on a side: "
            "A… : B…",
            show_default=False,
        ),
    ] = None,
    noise: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Samples of launches in which nothing changed, or a folder of them; repeatable.",
            rich_help_panel=SAMPLES,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A measurement or group; repeatable.", rich_help_panel=SAMPLES
        ),
    ] = None,
    alpha: Annotated[
        float,
        typer.Option(
            min=1e-9,
            max=0.5,
            help="Share of comparisons without a difference in which one may be found.",
            rich_help_panel=SAMPLES,
        ),
    ] = ALPHA,
    at_least: Annotated[
        float,
        typer.Option(
            min=0, help="Smaller differences count as noise: 0.02 is 2 %.", rich_help_panel=SAMPLES
        ),
    ] = AT_LEAST,
    svg: Annotated[
        Path | None,
        typer.Option(metavar="OUT", help="Draw all points.", rich_help_panel=SAMPLES),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print haichi.comparison/1.", rich_help_panel=SAMPLES),
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="List all points.", rich_help_panel=SAMPLES)
    ] = False,
    repetitions: Annotated[
        int, typer.Option(min=1, help="How often each way is run.", rich_help_panel=PROGRAM)
    ] = 3,
    out: Annotated[
        Path,
        typer.Option(help="Directory for reports and the page.", rich_help_panel=PROGRAM),
    ] = paths.OUT / "compare",
    timeout: Annotated[
        float, typer.Option(help="Seconds that a run may take.", rich_help_panel=PROGRAM)
    ] = 3600,
) -> None:
    """Compare two sets of samples, or run a program with the MPI library alone and under haichi.

    haichi compare A B says where B is slower or faster than A, and by how much: a test of the
    launches' medians at each point, corrected for the number of points, outside a band of noise.
    Exit code 0: nothing is slower. 1: something is. 2: a file can't be read or compared.

    haichi compare -- mpiexec -n 16 ./app ARGS… runs it three times each way, in turns. Without
    haichi it is observed: haichi is loaded, measures, and leaves every call to the MPI library.
    The program writes its files each time. Exit code 1: a run failed. 2: the command is not
    understood.
    """
    program: list[str] | None = context.meta.get(PROGRAM_BEHIND)
    _refuse_mixed(context, of_samples=program is None)
    if program is not None:
        compare_ways(program, repetitions, out, timeout)
        return
    try:
        a, b = two_sets(files or [])
        apart = read_set(noise) if noise else None
        for each in (a, b):
            _leave_only(each, only or [])
        found = compare_sets(a, b, apart, alpha=alpha, at_least=at_least)
        if svg:
            write_text(svg, picture.picture(found))
    except ReportError as error:
        sys.stderr.write(f"haichi compare: {error}\n")
        raise typer.Exit(BAD_INPUT) from None
    if as_json:
        sys.stdout.write(found.model_dump_json(by_alias=True, indent=2) + "\n")
    else:
        print_comparison(console(), found, every=every)
    if found.of("slower"):
        raise typer.Exit(SLOWER)


def _refuse_mixed(context: typer.Context, *, of_samples: bool) -> None:
    """Options and words of the one use that were given for the other."""
    other = PROGRAM if of_samples else SAMPLES
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "")
        if given is None or given.name != "COMMANDLINE":
            continue
        if getattr(parameter, "rich_help_panel", None) == other:
            context.fail(
                f"{parameter.opts[0]} is for {'a program behind --' if of_samples else 'samples'}"
            )
    if not of_samples and context.params.get("files"):
        context.fail("give samples files, or a program behind --, not both")


def _leave_only(each: Set, names: list[str]) -> None:
    """Takes away what is of no measurement or group in `names`; nothing if these are none.

    Raises:
        ReportError: the set has nothing of a name.
    """
    if not names:
        return
    for name in names:
        if not any(name in (known.name, known.group) for known in each.descriptions.values()):
            raise ReportError(f"--only {name}: {each.files[0]} has no such measurement or group")
    kept = {
        known.name for known in each.descriptions.values() if {known.name, known.group} & {*names}
    }
    each.medians = {
        key: values for key, values in each.medians.items() if measurement_of(key) in kept
    }
