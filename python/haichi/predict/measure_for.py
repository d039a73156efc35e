"""`haichi measure --for RECORD`: measures what a recorded program needs, and nothing else.

What a prediction would look up is asked of the suite: the measurements of the program's calls at
its own sizes, hot and cold. Names with the same sizes are one run of the native program, all into
one file.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from haichi_processes import runner
from pydantic import TypeAdapter, ValidationError

from haichi.mpi import Missing
from haichi.paths import program
from haichi.predict.costs import measured_size
from haichi.predict.curves import PING_PONG
from haichi.predict.kinds import MESSAGES, Kind, kind_of, measurement
from haichi.programs import output
from haichi.record.read import Key, Record, plain_name, read
from haichi.report.load import ReportError
from haichi.samples.model import Description
from haichi.samples.read import read as read_samples
from haichi.units import format_bytes, plural, printable

BAD_INPUT = 2
MOST_SIZES = 24  # of a measurement; of more those with most time
LEAST_S = 0.5  # of a run of the native program
SMALL = 8
STREAMED = 65536  # bytes from which messages in a row are a matter of bytes alone
# Ranks that a launcher started have one of these.
UNDER_A_LAUNCHER = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")
MESSAGE_COSTS = ("call-isend", "call-irecv", "call-recv")
SYNCHRONISATIONS = {
    "Win_fence": "fence",
    "Win_flush": "flush",
    "Win_flush_all": "flush",
    "Win_flush_local": "flush-local",
    "Win_flush_local_all": "flush-local",
    "Win_unlock": "lock",
    "Win_unlock_all": "lock",
    "Win_complete": "pscw",
}


@dataclass
class Needs:
    """What a record needs measured."""

    sizes: dict[str, dict[int, float]] = field(default_factory=lambda: defaultdict(dict))
    """Of each measurement the sizes, with the time that the program spends in such calls."""
    unknown: dict[str, None] = field(default_factory=dict)
    """Functions that the suite does not measure."""
    shapes: dict[tuple[int, int], dict[str, None]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    """Ranks and nodes of communicators other than the whole job's, and what is called on them."""
    of_shapes: dict[tuple[int, int], dict[str, dict[int, float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(dict))
    )
    """The same as measurements, as `sizes` has those of the whole job."""

    def chosen(self, shape: tuple[int, int] | None = None) -> dict[tuple[int, ...], list[str]]:
        """Measurements by their sizes, ascending; those with most time of too many. Of the whole
        job, or of the communicators of a shape."""
        made: dict[tuple[int, ...], list[str]] = defaultdict(list)
        of = self.of_shapes.get(shape, {}) if shape else self.sizes
        for name, sizes in sorted(of.items()):
            most = sorted(sizes, key=lambda size: -sizes[size])[:MOST_SIZES]
            made[tuple(sorted(most))].append(name)
        return dict(sorted(made.items()))


def needs_of(record: Record, catalogue: Iterable[str]) -> Needs:
    """What a prediction of the record would look up."""
    known, needs = set(catalogue), Needs()
    synchronised = {
        how for key in record.keys if (how := SYNCHRONISATIONS.get(key.name)) is not None
    }
    begun = _begun(record)
    for key in record.keys:
        kind, size = kind_of(key.name), key.call.bytes or 0
        if kind in (Kind.LOCAL, Kind.WAIT, Kind.POLL, Kind.SYNCHRONISE, Kind.START):
            continue
        if kind in MESSAGES:
            names = _of_messages(size, both=begun or kind is Kind.BOTH)
        elif kind is Kind.ACCESS:
            names = _of_access(key, synchronised)
        else:
            names = _of_all(key, kind)
            size = measured_size(record, key)
            _note_shape(record, key, size, names, known, needs)
        found = [name for name in names if name in known]
        if not found:
            needs.unknown[plain_name(key.name)] = None
        for name in found:
            at = SMALL if name in MESSAGE_COSTS else size
            needs.sizes[name][at] = needs.sizes[name].get(at, 0.0) + key.total_s
    if needs.sizes:
        # What a message takes before its first byte, and what follows it at once: there is no
        # profile of a machine without.
        for name in ("ping-pong", "stream"):
            needs.sizes[name].setdefault(SMALL, 0.0)
    return needs


def _begun(record: Record) -> bool:
    """Whether messages go both ways at once."""
    kinds = {kind_of(key.name) for key in record.keys}
    received = kinds & {Kind.RECEIVE_BEGUN, Kind.RECEIVE_KEPT}
    return bool(received and kinds & {Kind.SEND, Kind.SEND_BEGUN, Kind.SEND_KEPT})


def _of_messages(size: int, *, both: bool) -> list[str]:
    names = ["ping-pong", *MESSAGE_COSTS]
    if size < STREAMED:
        names.append("stream")
    return [*names, "bidirectional"] if both else names


def _of_access(key: Key, synchronised: set[str]) -> list[str]:
    name = measurement(key.name)
    if name.startswith(("rput", "rget", "raccumulate")):
        return [name]
    return [f"{name}-{how}" for how in sorted(synchronised or {"flush"})]


def _of_all(key: Key, kind: Kind) -> list[str]:
    if kind is Kind.COLLECTIVE_BEGUN:
        name = measurement(key.name)
        return [name, f"{name}-issue"]
    return [measurement(key.name)]


def _note_shape(
    record: Record, key: Key, size: int, names: list[str], known: set[str], needs: Needs
) -> None:
    shape = record.nodes_of(key.call.comm)
    if shape == record.nodes_of(None) or shape[0] < 2:
        return
    needs.shapes[shape][key.name] = None
    # Several parts of a job share the ports of its nodes: by the rate of messages.
    if PING_PONG in known:
        at = needs.sizes[PING_PONG]
        at[size] = at.get(size, 0.0) + key.total_s
    for name in known.intersection(names):
        of = needs.of_shapes[shape][name]
        of[size] = of.get(size, 0.0) + key.total_s


def measure_for(
    file: Annotated[
        Path,
        typer.Option("--for", metavar="RECORD", help="What `haichi run --record` wrote."),
    ],
    launcher: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[OPTIONS] -- LAUNCHER",
            help="Options of haichi measure; behind -- the launcher, as for its --launches. "
            "Without a launcher what would be measured is printed.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The samples file.")
    ] = None,
    launches: Annotated[int, typer.Option(min=1, help="How many launches, one by one.")] = 1,
    budget: Annotated[
        float, typer.Option(min=0.1, help="Seconds that all of it may take.")
    ] = 120.0,
    buffers: Annotated[
        str, typer.Option(help="hot, cold, or both: a prediction's interval is from one to other.")
    ] = "both",
    directory: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where files are made.")
    ] = None,
) -> None:
    """Measure exactly what a recorded program needs to be predicted.

    Exit code 1: something could not be measured. Exit code 2: a file could not be read.
    """
    try:
        record = read(file)
        needs = needs_of(record, catalogue())
        groups = needs.chosen()
        _tell(record, needs)
        if not groups:
            raise ReportError(f"{printable(str(file))}: none of its calls is one to measure")
        if not launcher:
            for words in _commands(groups, out, launches, budget, buffers, directory, None):
                sys.stdout.write(f"haichi measure {' '.join(words)}\n")
            return
        if any(name in os.environ for name in UNDER_A_LAUNCHER):
            raise ReportError("starts the launcher itself: haichi measure --for RECORD -- mpiexec")
        file_out = out or Path(f"samples-for-{record.path.stem}.jsonl")
        if file_out.exists():
            raise ReportError(f"{printable(str(file_out))}: is there already; name a new file")
        failed = 0
        for words in _commands(groups, file_out, launches, budget, buffers, directory, launcher):
            done = runner.run([program("haichi"), "measure", *words], capture=False)
            failed = failed or done.code
    except (ReportError, Missing) as error:
        sys.stderr.write(f"haichi measure: {error}\n")
        raise typer.Exit(BAD_INPUT) from None
    _compare_shapes(record, file_out)
    if failed:
        raise typer.Exit(failed if failed > 0 else 1)


def _commands(
    groups: dict[tuple[int, ...], list[str]],
    out: Path | None,
    launches: int,
    budget: float,
    buffers: str,
    directory: Path | None,
    launcher: Sequence[str] | None,
) -> list[list[str]]:
    """The words of `haichi measure` for each group, each with its share of the time."""
    made = []
    for number, (what, seconds) in enumerate(shared_out(groups, budget, LEAST_S)):
        words = [*what, "--budget", f"{seconds:.3g}"]
        words += ["--buffers", buffers, "--launches", str(launches)]
        words += ["--out", str(out)] if out else []
        words += ["--resume"] if out and number else []
        words += ["--directory", str(directory)] if directory else []
        made.append([*words, "--", *(launcher or ["mpiexec", "-n", "N"])])
    return made


def shared_out(
    groups: dict[tuple[int, ...], list[str]], budget: float, least: float
) -> list[tuple[list[str], float]]:
    """Names and sizes of each group as words of `haichi measure`, and its seconds: the share of its
    points in the budget, or the least."""
    points = [len(names) * max(len(sizes), 1) for sizes, names in groups.items()]
    seconds = [max(budget * each / sum(points), least) for each in points]
    words = [
        [*names, *(word for size in sizes if size for word in ("--size", str(size)))]
        for sizes, names in groups.items()
    ]
    return list(zip(words, seconds, strict=True))


def _compare_shapes(record: Record, out: Path) -> None:
    """A line if the job that was measured is not as large as the record's."""
    try:
        launches = read_samples(out).launches
    except ReportError:
        return  # nothing was measured: the native program has said why
    wanted = record.nodes_of(None)
    for each in launches:
        found = (each.job_ranks, len(each.node_names))
        if found != wanted:
            sys.stderr.write(
                f"haichi measure: {plural(found[0], 'rank')} on {plural(found[1], 'node')} were "
                f"started, and the record has {wanted[0]} on {wanted[1]}: collectives will be "
                "scaled, or have no curve\n"
            )
            return


def catalogue() -> list[str]:
    """What the suite measures.

    Raises:
        Missing: it is not built.
    """
    text = output(program("haichi"), "measure", "--list", "--json")
    try:
        return [each.name for each in TypeAdapter(list[Description]).validate_json(text)]
    except ValidationError:
        raise Missing(
            "haichi measure --list: cannot be read; build again: ./haichi build"
        ) from None


def _tell(record: Record, needs: Needs) -> None:
    ranks, nodes = record.nodes_of(None)
    sizes = [size for each in needs.sizes.values() for size in each]
    lines = [
        f"{plural(len(needs.sizes), 'measurement')} at {plural(len(set(sizes)), 'size')}, to be "
        f"made with {plural(ranks, 'rank')} on {plural(nodes, 'node')}, as the record's job"
    ]
    if needs.unknown:
        lines.append(f"no measurement of {', '.join(needs.unknown)}")
    for (ranks, nodes), names in needs.shapes.items():
        lines.append(
            f"{', '.join(names)} on communicators of {plural(ranks, 'rank')} on "
            f"{plural(nodes, 'node')}: measure again with such a job, else they are scaled"
        )
    cut = [name for name, of in needs.sizes.items() if len(of) > MOST_SIZES]
    if cut:
        lines.append(
            f"of {', '.join(cut)} the {MOST_SIZES} sizes with most time, up to "
            f"{format_bytes(max(sizes))}"
        )
    sys.stderr.write("".join(f"haichi measure: {line}\n" for line in lines))
