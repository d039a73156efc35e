"""`haichi figures`: the commands, where their results go, and their exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from haichi import mpi, paths
from haichi.figures import (
    a_a,
    advise,
    collectives,
    gasfs,
    gasfs_rates,
    hpio_network,
    issue_orders,
    job_regret,
    large_job,
    loop_command,
    mapping,
    network,
    never_slower_command,
    numa,
    numa_load,
    numa_mixed,
    numa_small,
    one_node,
    paper_001,
    paper_001_run,
    paper_004,
    predict_ports,
    predict_runs,
    predict_smpi,
    pruning,
    record,
    refined,
    regret,
    robust,
    scale,
    truth,
    tuned_io,
    validate,
)
from haichi.figures.command import (
    BAD_INPUT,
    MPIS,
    Mappings,
    Out,
    Rate,
    Repetitions,
    Which,
    Yields,
    choose,
    default_file,
    finish,
    keep,
    one_line,
    progress_on_errors,
)
from haichi.figures.places import OnLab, temporary_lab, temporary_machine

app = typer.Typer(
    no_args_is_help=True,
    help="Measure haichi against the MPI library alone; results go to out/figures/.",
)


for _name, _own in (
    ("a-a", a_a),
    ("robust", robust),
    ("refined", refined),
    ("loop", loop_command),
    ("advise", advise),
    ("predict-runs", predict_runs),
    ("predict-smpi", predict_smpi),
    ("predict-ports", predict_ports),
    ("validate", validate),
    ("paper-004", paper_004),
    ("mapping", mapping),
    ("never-slower", never_slower_command),
    ("numa", numa),
    ("numa-load", numa_load),
    ("numa-mixed", numa_mixed),
    ("numa-small", numa_small),
    ("gasfs-rates", gasfs_rates),
):
    app.command(_name)(_own.command)
app.command("gasfs-counts")(gasfs.counts_command)
app.command("gasfs-btio")(gasfs.btio_command)


@app.command("hpio-network")
def hpio_network_command(
    repetitions: Repetitions = 7,
    which: Which = None,
    rate: Rate = "100mbit",
    yields: Yields = "ucx",
    out: Out = None,
) -> None:
    """HPIO 3744/256 on 4 nodes x 4 ranks in the lab (root): stock, haichi, haichi's settings."""
    with one_line(), temporary_lab(hpio_network.NODES, rate) as place:
        measurement = hpio_network.measure(
            place,
            repetitions,
            which or MPIS,
            yields,
            progress_on_errors(),
        )
    finish(measurement, out)


@app.command("network")
def network_command(
    repetitions: Repetitions = 3,
    which: Which = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A pattern: hpio, cells, ghost or contiguous; repeatable."),
    ] = None,
    nodes: Annotated[list[int] | None, typer.Option(help="4 or 8, 16 ranks; repeatable.")] = None,
    mapping: Mappings = None,
    rate: Rate = "100mbit",
    yields: Yields = "ucx",
    out: Out = None,
) -> None:
    """Four patterns on 4 x 4 and 8 x 2 ranks in the lab (root): haichi against both stock libraries
    and what the busiest link needs."""
    with one_line(), ExitStack() as stack:
        patterns = choose("--only", only, network.PATTERNS)
        mappings = choose("--mapping", mapping, network.MAPPINGS)
        places = [
            stack.enter_context(temporary_lab(int(number), rate))
            for number in choose("--nodes", [str(n) for n in nodes or ()], map(str, network.NODES))
        ]
        measurement = network.measure(
            places,
            repetitions,
            which or MPIS,
            mappings,
            patterns,
            yields,
            progress_on_errors(),
        )
    finish(measurement, out, compare=True)


@app.command("collectives")
def collectives_command(
    rounds: Annotated[int, typer.Option(min=1, help="Trials of each algorithm.")] = 5,
    which: Which = None,
    nodes: Annotated[
        list[str] | None,
        typer.Option(help="4x4, 8x2, 16x1 or 1+3+5+7 (ranks of each node); repeatable."),
    ] = None,
    mapping: Mappings = None,
    function: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(collectives.FUNCTIONS)}; repeatable."),
    ] = None,
    size: Annotated[
        list[int] | None, typer.Option(help="Bytes of a block; repeatable. 4, 64, 256 KiB.")
    ] = None,
    rate: Rate = "100mbit",
    yields: Yields = "ucx",
    out: Out = None,
) -> None:
    """All-to-all collectives of 16 ranks in the lab (root): every algorithm, the library's own
    among them, and which of them haichi chooses."""
    with one_line(), ExitStack() as stack:
        mappings = choose("--mapping", mapping, collectives.MAPPINGS)
        functions = choose("--function", function, collectives.FUNCTIONS)
        shapes = choose("--nodes", nodes, collectives.SHAPES)
        measurement = collectives.measure(
            _labs(stack, shapes, rate),
            rounds,
            which or MPIS,
            mappings,
            functions,
            size or list(collectives.SIZES),
            yields,
            progress_on_errors(),
        )
    finish(measurement, out)


def _labs(stack: ExitStack, shapes: Sequence[str], rate: str) -> dict[str, OnLab]:
    """A lab for each shape; shapes of as many nodes share one."""
    nodes = {shape: len(collectives.SHAPES[shape]) for shape in shapes}
    labs = {
        number: stack.enter_context(temporary_lab(number, rate)) for number in set(nodes.values())
    }
    return {shape: labs[number] for shape, number in nodes.items()}


@app.command("job-regret")
def job_regret_command(
    repetitions: Repetitions = 3,
    which: Which = None,
    nodes: Annotated[
        list[str] | None, typer.Option(help="4x4 or 8x2, ranks of each node; repeatable. Both.")
    ] = None,
    mapping: Mappings = None,
    function: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(job_regret.FUNCTIONS)}; repeatable. All."),
    ] = None,
    size: Annotated[
        list[int] | None, typer.Option(help="Bytes of a block; repeatable. 1, 16 KiB.")
    ] = None,
    calls: Annotated[
        list[int] | None, typer.Option(min=1, help="Of a job; repeatable. 20, 200.")
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(min=0, help="Draw at random what is measured, for about as long."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of what is drawn.")] = 1,
    rate: Rate = "100mbit",
    yields: Yields = "ucx",
    out: Out = None,
) -> None:
    """Whole jobs of 20 and 200 all-to-alls of 16 ranks in the lab (root), trials and all, against
    stock's and against the best algorithm from the second call on. All of it takes more than an
    hour; `--minutes 15 --repetitions 1` draws what fits."""
    console = record.console()
    with one_line(), ExitStack() as stack:
        shapes = choose("--nodes", nodes, ("4x4", "8x2"))
        asked = job_regret.Asked(
            mpis=which or MPIS,
            mappings=choose("--mapping", mapping, job_regret.MAPPINGS),
            functions=choose("--function", function, job_regret.FUNCTIONS),
            sizes=size or job_regret.SIZES,
            calls=calls or job_regret.CALLS,
            repetitions=repetitions,
            yields=yields,
            minutes=minutes,
            seed=seed,
        )
        labs = _labs(stack, shapes, rate)
        all_cells = len(list(job_regret.cells(labs, asked)))
        measurement, rows = job_regret.measure(labs, asked, progress_on_errors())
    console.print(job_regret.table(rows))
    for line in job_regret.summary(rows, None if minutes is None else all_cells):
        console.print(line, markup=False)
    finish(measurement, out)


@app.command("issue-orders")
def issue_orders_command(
    repetitions: Repetitions = 7,
    which: Which = None,
    rate: Rate = "100mbit",
    yields: Yields = "ucx",
    out: Out = None,
) -> None:
    """An all-to-all of 16 ranks on 4 nodes in the lab (root) in the four issue orders, ranks in
    blocks and round robin."""
    with one_line(), temporary_lab(issue_orders.NODES, rate) as place:
        measurement = issue_orders.measure(
            place,
            repetitions,
            which or MPIS,
            yields,
            progress_on_errors(),
        )
    finish(measurement, out)


@app.command("tuned-io")
def tuned_io_command(
    repetitions: Repetitions = 3,
    which: Which = None,
    mapping: Mappings = None,
    exchange: Annotated[
        list[str] | None,
        typer.Option(help="Aggregators and buffer, as in `16 aggregators, 4 MiB`; repeatable."),
    ] = None,
    rate: Rate = "100mbit",
    yields: Yields = "ucx",
    out: Out = None,
) -> None:
    """HPIO of 16 ranks on 4 nodes in the lab (root): issue order and sends outstanding as set, by
    trial, and every pair that is tried."""
    with one_line(), temporary_lab(tuned_io.NODES, rate) as place:
        known = {each.name: each for each in tuned_io.EXCHANGES}
        measurement = tuned_io.measure(
            place,
            repetitions,
            which or MPIS,
            choose("--mapping", mapping, tuned_io.MAPPINGS),
            [known[name] for name in choose("--exchange", exchange, known)],
            yields,
            progress_on_errors(),
        )
    finish(measurement, out)


@app.command("one-node")
def one_node_command(
    repetitions: Repetitions = 7,
    which: Which = None,
    ranks: Annotated[list[int] | None, typer.Option(help="How many; repeatable.")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="A pattern: segments, hpio, cells, cyclic, ghost or contiguous; repeatable."
        ),
    ] = None,
    yields: Yields = "ucx",
    accesses: Annotated[
        int, typer.Option(min=1, help="Writes, and reads, in each start of the program.")
    ] = one_node.ACCESSES,
    out: Out = None,
) -> None:
    """Six patterns on this machine, 4 and 2 ranks: haichi against both stock libraries and against
    one contiguous pwrite or pread a rank."""
    with one_line(), temporary_machine() as place:
        measurement = one_node.measure(
            place,
            repetitions,
            which or MPIS,
            ranks or one_node.RANKS,
            choose("--only", only, one_node.PATTERNS),
            yields,
            accesses,
            progress_on_errors(),
        )
    finish(measurement, out, compare=True)


@app.command("pruning")
def pruning_command(
    kind: Annotated[
        str | None, typer.Option(help="Jobs of one kind alone, such as line, torus or 6-D.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The JSON file to write (haichi.pruning/1).")
    ] = None,
) -> None:
    """Every algorithm of an all-to-all simulated on 75 jobs of up to 384 nodes, against what the
    model leaves of them."""
    console = record.console()
    with one_line():
        cases = pruning.simulated(paths.program("pruning-study"), kind, progress_on_errors())
    found = pruning.all_figures(cases)
    console.print(pruning.table(found))
    console.print(
        f"{len(cases)} cases; the best kept in {100 * pruning.SURVIVAL:.0f} % at a trial cost "
        f"below {pruning.TRIAL_COST}: {'reached' if pruning.reached(found) else 'not reached'}"
    )
    keep(pruning.document(cases, found), out, "pruning")


@app.command("regret")
def regret_command(
    kind: Annotated[
        str | None, typer.Option(help="Jobs of one kind alone, such as line, torus or 6-D.")
    ] = None,
    cases: Annotated[
        Path | None, typer.Option(help="What `haichi figures pruning` has saved, to save its time.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The JSON file to write (haichi.regret/1).")
    ] = None,
) -> None:
    """200 calls of an all-to-all by haichi's selection with simulated times, on the jobs of
    `pruning`, against the best algorithm from the first call on."""
    console = record.console()
    with one_line():
        progress = progress_on_errors()
        known = (
            [each for each in regret.load_cases(cases) if kind in (None, each["kind"])]
            if cases
            else pruning.simulated(paths.program("pruning-study"), kind, progress)
        )
        rows = [
            row
            for noise in regret.NOISE
            for row in regret.carried_out(paths.program("regret-study"), known, noise)
        ]
    found = regret.figures(rows)
    console.print(regret.table(found))
    console.print(
        f"per cent; without noise at most {100 * regret.AIM:.0f} from 1 KiB, "
        f"{100 * regret.AIM_SMALL:.0f} below, {100 * regret.AIM_SECOND:.0f} in the second run: "
        f"{'reached' if regret.reached(found) else 'not reached'} in the mean"
    )
    keep(regret.document(rows, found), out, "regret")


@app.command("scale")
def scale_command(
    ranks: Annotated[
        list[int] | None, typer.Option(help="96, 384, 1024 or 4096; repeatable. The first three.")
    ] = None,
    sizes: Annotated[
        list[int] | None,
        typer.Option("--bytes", help="64, 1024, 16384 or 1048576; repeatable. All of them."),
    ] = None,
    networks: Annotated[
        list[str] | None,
        typer.Option("--network", help=f"{', '.join(scale.NETWORKS)}; repeatable. All of them."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The JSON file to write (haichi.scale/1).")
    ] = None,
) -> None:
    """The own rules of MPICH and Open MPI for an all-to-all against haichi's choice, simulated on
    four networks."""
    console = record.console()
    with one_line():
        progress = progress_on_errors()
        wanted = ranks or list(scale.RANKS)
        program = paths.program("scale-study")
        cells = scale.simulated(program, wanted, sizes or [None], networks or [None], progress)
    found = scale.choices(cells)
    console.print(scale.table(found))
    for each in scale.summary(found):
        console.print(
            f"{each['library']} ÷ haichi's choice, {each['cells']} cells: geometric mean "
            f"{each['mean']:.2f}, {each['least']:.2f} to {each['most']:.2f}"
        )
    keep(scale.document(cells, found), out, "scale")


@app.command("large-job")
def large_job_command(
    ranks: Annotated[int, typer.Option(min=1, help="Of the job.")] = large_job.RANKS,
    per_node: Annotated[int, typer.Option(min=3, help="Ranks.")] = large_job.PER_NODE,
    out: Annotated[
        Path | None, typer.Option(help="The JSON file to write (haichi.large-job/1).")
    ] = None,
) -> None:
    """What agreeing on and planning a collective file access costs each rank of a large job: the
    ranks' own code, timed, and its messages, simulated."""
    console = record.console()
    with one_line():
        rows = large_job.simulated(paths.program("large-job-study"), ranks, per_node)
    found = large_job.figures(rows, per_node)
    console.print(large_job.table(rows, found))
    for row in rows:
        if row["kind"] == "agreement":
            console.print(
                f"{row['pattern']}: {row['count']} messages in {row['simulated'] * 1e3:.2f} ms, "
                f"simulated; {row['cycles']} cycles"
            )
    for claim in large_job.claims(rows, found):
        console.print(claim.text())
    keep(large_job.document(rows, found), out, "large-job")


@app.command("paper-001")
def paper_001_command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[SAMPLES]...", help="Files of haichi measure; measured now if there are none."
        ),
    ] = None,
    which: Annotated[str, typer.Option("--mpi", help="openmpi, mpich or mpich5.")] = "mpich",
    ranks: Annotated[int, typer.Option(min=2, help="Ranks on this machine.")] = 2,
    launches: Annotated[int, typer.Option(min=1, help="Of each run.")] = 3,
    budget: Annotated[float, typer.Option(min=10, help="Seconds to measure in all.")] = 120,
) -> None:
    """Paper 001's Tables 2 to 4, protocol switches, fences and ways to exchange, with ours beside
    them."""
    console = record.console()
    with one_line():
        used = files or paper_001_run.measured(
            mpi.find(which),
            ranks,
            launches,
            budget,
            paths.OUT / "figures" / "paper-001",
            progress_on_errors(),
        )
        found = paper_001_run.of_files(used)
    console.print(paper_001_run.about(found), soft_wrap=True)
    for table in paper_001.tables(found):
        console.print(table)
    if not files:
        console.print(f"all samples: {used[0].parent}")


@app.command("truth")
def truth_command(
    saved: Annotated[
        Path | None, typer.Argument(help="What `haichi figures collectives` has saved.")
    ] = None,
) -> None:
    """What `haichi figures collectives` measured in the lab, beside what the simulator says of the
    same cluster: ratios between algorithms, from 64 KiB on."""
    console = record.console()
    rows: list[truth.Compared] = []
    near_pairs = pairs = 0
    with one_line():
        measured = truth.read(saved or default_file("collectives"))
        gbs = truth.gigabytes(measured.environment.place)
        for cell in truth.cells_of(measured.cases):
            found = truth.compared(cell, gbs, measured.environment.cores)
            console.print(truth.table(cell, found))
            rows += found
            near, of = truth.between_any_two(found)
            near_pairs, pairs = near_pairs + near, pairs + of
        if not rows:
            raise mpi.Missing("no MPI_Alltoall of 64 KiB or more was measured: --function alltoall")
    console.print(
        f"{sum(row.near for row in rows)} of {len(rows)} ratios within {100 * truth.NEAR:.0f} %, "
        f"{near_pairs} of {pairs} between any two algorithms"
    )


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
def overhead(context: typer.Context) -> None:
    """What MPI_Init and a call that is passed through cost more under haichi (bench/overhead)."""
    run_script("overhead", context.args)


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
def overlap(context: typer.Context) -> None:
    """What of a nonblocking write is hidden behind computing (bench/overlap)."""
    run_script("overlap", context.args)


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
def agreement(context: typer.Context) -> None:
    """Whether `haichi measure` agrees with what others measure with (bench/agreement)."""
    run_script("agreement", context.args)


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
def faces(context: typer.Context) -> None:
    """What mount and preload of the gather file system cost, beside tmpfs (bench/faces)."""
    run_script("faces", context.args)


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
def split(context: typer.Context) -> None:
    """What large reads of an unmodified program gain by io.split=on (bench/split)."""
    run_script("split", context.args)


def run_script(name: str, arguments: Sequence[str]) -> None:
    """Goes on as a measurement of `bench/` that has a command line of its own."""
    script = paths.ROOT / "bench" / name / "run.py"
    if not script.exists():
        sys.stderr.write(f"haichi figures: {script} is not here\n")
        raise typer.Exit(BAD_INPUT)
    os.execv(sys.executable, [sys.executable, str(script), *arguments])


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
def kernels(context: typer.Context) -> None:
    """What flattening, merging and simulating cost (bench/kernels, google-benchmark)."""
    program = paths.program("kernels")
    if not program.exists():
        sys.stderr.write(
            f"haichi figures: no {program}: install libbenchmark-dev, then ./haichi build\n"
        )
        raise typer.Exit(BAD_INPUT)
    out = default_file("kernels")
    out.parent.mkdir(parents=True, exist_ok=True)
    words = [f"--benchmark_out={out}", "--benchmark_out_format=json", *context.args]
    os.execv(program, [str(program), *words])
