"""`haichi gasfs`: the commands."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from haichi.gasfs.broadcasting import broadcast
from haichi.gasfs.command import FAILED, one_line
from haichi.gasfs.daemons import GasfsError, seconds_since_start
from haichi.gasfs.job import STRIPE, Job, Numbers, set_copies, set_stripe
from haichi.gasfs.launch import Launch
from haichi.gasfs.staging_commands import stage_in, stage_out
from haichi.gasfs.starting import Start, make, stay
from haichi.gasfs.tables import Seen, tables, watch
from haichi.units import plural, size_of

app = typer.Typer(
    no_args_is_help=True,
    help="A file system in user space that gathers what a node's processes write, arranges it and "
    "sends few large requests to its servers (docs/guide/gasfs.md).",
)
app.command()(broadcast)
app.command("stage-in")(stage_in)
app.command("stage-out")(stage_out)

Folder = Annotated[Path, typer.Argument(help="Where the file system has its stores.")]
Patience = Annotated[float, typer.Option(min=0.1, help="Seconds until waiting is given up.")]
Seconds = Annotated[
    int, typer.Option("--for", min=0, help="Seconds after which the daemons end; 0: never.")
]
Unarranged = Annotated[
    bool, typer.Option("--unarranged", help="Send requests as they come, to compare.")
]
DurableClose = Annotated[
    bool, typer.Option("--durable-close", help="close(2) waits until all is on the disks.")
]
SubBuffer = Annotated[str, typer.Option(help="Bytes of a file that are gathered at first.")]
Memory = Annotated[str, typer.Option(help="Bytes of all files that may wait for the servers.")]
Cache = Annotated[str, typer.Option(help="Bytes that the node keeps of what it has read; 0: none.")]
Pinned = Annotated[str, typer.Option(help="Bytes of files that `broadcast` may place here.")]
Linger = Annotated[int, typer.Option(min=1, help="Milliseconds that gathered bytes may wait.")]
Traced = Annotated[
    bool, typer.Option("--trace", help="Keep what is written, for `haichi gasfs picture`.")
]
ServerPatience = Annotated[
    float, typer.Option(min=0.1, help="Seconds until a silent server is given up.")
]


def dispatcher_options(
    unarranged: bool,
    durable_close: bool,
    sub_buffer: str,
    memory: str,
    cache: str,
    pinned: str,
    linger_ms: int,
    server_patience: float,
    seconds: int,
) -> list[str]:
    """The words of `haichi-gasfs dispatcher` for what a user asked for."""
    words = ["--unarranged"] if unarranged else []
    words += ["--durable-close"] if durable_close else []
    words += ["--sub-buffer", str(size_of(sub_buffer)), "--memory", str(size_of(memory))]
    words += ["--cache", str(size_of(cache)), "--pinned", str(size_of(pinned))]
    words += ["--linger-ms", str(linger_ms), "--patience-ms", str(round(server_patience * 1000))]
    return [*words, "--for", str(seconds)]


@app.command()
def start(
    folder: Folder,
    mount: Annotated[
        Path | None, typer.Option(help="Folder on which the files are seen; FOLDER/mnt without.")
    ] = None,
    no_mount: Annotated[bool, typer.Option("--no-mount", help="Start the servers alone.")] = False,
    servers: Annotated[
        int,
        typer.Option(min=0, max=256, help="How many servers; 0: as before, or one a process."),
    ] = 0,
    store: Annotated[
        Path | None,
        typer.Option(help="Folder of each node's own for its servers' stores; FOLDER without."),
    ] = None,
    stripe: Annotated[str, typer.Option(help="Bytes of a stripe of new files.")] = f"{STRIPE}",
    listen: Annotated[
        str,
        typer.Option(
            help="Address or network interface at which the servers listen; without, 127.0.0.1, "
            "and under a launcher what the host's name stands for."
        ),
    ] = "",
    server_gather_us: Annotated[
        int,
        typer.Option(
            min=0,
            max=1_000_000,
            help="Microseconds that a server waits with a write for other nodes' beside it.",
        ),
    ] = 0,
    unarranged: Unarranged = False,
    durable_close: DurableClose = False,
    sub_buffer: SubBuffer = "4M",
    memory: Memory = "256M",
    cache: Cache = "64M",
    pinned: Pinned = "256M",
    linger_ms: Linger = 2000,
    server_patience: ServerPatience = 30,
    trace: Traced = False,
    patience: Patience = 30,
    seconds: Seconds = 0,
    remain: Annotated[
        bool, typer.Option("--stay", help="Return when all has ended, as a step of srun has to.")
    ] = False,
) -> None:
    """Start servers and a dispatcher on this machine, whose files are seen at FOLDER/mnt.

    What the folder has from before is there again. By mpiexec, srun or flux run with one process on
    each node, each starts a server and a mount of its own.
    """
    with one_line():
        options = dispatcher_options(
            unarranged,
            durable_close,
            sub_buffer,
            memory,
            cache,
            pinned,
            linger_ms,
            server_patience,
            seconds,
        )
        launch = Launch.of(os.environ)
        job = make(launch, folder, servers, size_of(stripe), patience)
        where = None if no_mount else mount or job.folder / "mnt"
        Start(launch, listen, store, where, options, seconds, patience, server_gather_us, trace).of(
            job
        )
    if launch.rank == 0:
        number = job.description.servers
        served = f"{number} server{'s' if number > 1 else ''}"
        seen = f", files at {where}" if where else ""
        sys.stdout.write(
            f"{served}{seen}, up in {seconds_since_start():.1f} s; haichi gasfs stop {folder} ends "
            "it\n"
        )
        sys.stdout.flush()
    if remain:
        tell_of_loss(stay(job, launch, patience))


@app.command()
def mount(
    folder: Folder,
    where: Annotated[Path, typer.Argument(help="Folder on which the files are seen.")],
    unarranged: Unarranged = False,
    durable_close: DurableClose = False,
    sub_buffer: SubBuffer = "4M",
    memory: Memory = "256M",
    cache: Cache = "64M",
    pinned: Pinned = "256M",
    linger_ms: Linger = 2000,
    server_patience: ServerPatience = 30,
    trace: Traced = False,
    patience: Patience = 30,
    seconds: Seconds = 0,
) -> None:
    """Start a dispatcher on this node, for servers that `start` has started, perhaps elsewhere."""
    with one_line():
        options = dispatcher_options(
            unarranged,
            durable_close,
            sub_buffer,
            memory,
            cache,
            pinned,
            linger_ms,
            server_patience,
            seconds,
        )
        Job.load(folder).mount(where, options, patience, trace=trace)
        sys.stdout.write(f"files at {where}, up in {seconds_since_start():.1f} s\n")


@app.command()
def stop(folder: Folder, patience: Patience = 600) -> None:
    """End what runs of it on this node, and return when all is stored.

    What is not stored is said, a line each; the exit code is 1 then. By the launcher that started
    it on several nodes, all are ended.
    """
    with one_line():
        wrong = Job.load(folder).stop(patience, Launch.of(os.environ))
    tell_of_loss(wrong)


def tell_of_loss(wrong: list[str]) -> None:
    """What is not stored, a line each, and the exit code."""
    for line in wrong:
        sys.stderr.write(f"haichi gasfs: not all is stored: {line}\n")
    if wrong:
        raise typer.Exit(FAILED)


@app.command()
def status(
    folder: Folder,
    as_json: Annotated[bool, typer.Option("--json", help="Print all numbers as JSON.")] = False,
    prometheus: Annotated[
        bool, typer.Option("--prometheus", help="Print them in Prometheus's text format.")
    ] = False,
    watch_seconds: Annotated[
        float,
        typer.Option(
            "--watch", min=0, help="Show them anew every so many seconds, until Ctrl-C; 0: once."
        ),
    ] = 0,
) -> None:
    """Print what servers and dispatchers have done: bytes, requests before and after."""
    with one_line():
        job = Job.load(folder)
        if watch_seconds and (as_json or prometheus):
            raise GasfsError("--watch is for people: leave out --json and --prometheus")
        if watch_seconds:
            with contextlib.suppress(KeyboardInterrupt):
                watch(job, watch_seconds, Console())
            return
        seen = Seen.of(job)
    if as_json:
        told = {"servers": seen.servers, "dispatchers": seen.dispatchers}
        sys.stdout.write(json.dumps(told) + "\n")
    elif prometheus:
        sys.stdout.write(prometheus_text(seen.servers, seen.dispatchers))
    else:
        Console().print(tables(seen))
    if not seen.whole:
        raise typer.Exit(FAILED)


def prometheus_text(servers: list[Numbers], dispatchers: list[Numbers]) -> str:
    """All numbers, each named haichi_gasfs_…, by server or mount."""
    lines: dict[str, list[str]] = {}
    for kind, label, each in [
        *(("server", f'server="{one.get("index")}"', one) for one in servers),
        *(("dispatcher", f'mount="{one.get("mount")}"', one) for one in dispatchers),
    ]:
        for name, value in each.items():
            if isinstance(value, int) and name not in ("index", "boot", "store"):
                full = f"haichi_gasfs_{kind}_{name}"
                lines.setdefault(full, []).append(f"{full}{{{label}}} {int(value)}")
    return "".join(
        f"# TYPE {name} gauge\n" + "".join(f"{line}\n" for line in of_name)
        for name, of_name in lines.items()
    )


@app.command()
def picture(
    folder: Folder,
    files: Annotated[
        list[Path] | None, typer.Argument(help="Files of its mount; the busiest without.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("gasfs.html"),
) -> None:
    """Draw what programs asked for and what went to the servers: file offset by time.

    Of what nodes that `start` or `mount` with --trace have kept; and why requests were not merged.
    """
    from haichi.gasfs.picture import draw  # and what it takes to load, for this command alone

    with one_line():
        drawn = draw(Job.load(folder), files or [], out)
    sys.stdout.write(f"{plural(drawn, 'file')} in {out}\n")


@app.command("set")
def set_(
    path: Annotated[Path, typer.Argument(help="A folder of the mount, or a file without bytes.")],
    stripe: Annotated[
        str | None, typer.Option(help="Bytes of a stripe, of files made from now on.")
    ] = None,
    copies: Annotated[
        int | None, typer.Option(help="On how many servers each stripe is, of the same: 1 or 2.")
    ] = None,
) -> None:
    """Set how files are dealt out over the servers, and on how many each byte is."""
    with one_line():
        if stripe is None and copies is None:
            raise GasfsError("say what to set: --stripe, --copies")
        if stripe is not None:
            set_stripe(path, size_of(stripe))
        if copies is not None:
            set_copies(path, copies)


@app.command()
def check(
    folder: Folder,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Remove objects of files that are not there, write stale copies anew."
        ),
    ] = False,
) -> None:
    """Look whether stores that nobody serves are sound; the exit code is 1 if not."""
    with one_line():
        result = Job.load(folder).check(repair=repair)
    left = f", {result['left_over']} left over{' and removed' if repair else ''}"
    stale = f", {result['stale']} stale{' and written anew' if repair else ''}"
    sys.stdout.write(
        f"{result['files']} files and folders, {result['objects']} objects"
        f"{left if result['left_over'] else ''}{stale if result['stale'] else ''}, "
        f"{len(result['problems'])} problems\n"
    )
    for problem in result["problems"]:
        sys.stdout.write(f"  {problem}\n")
    if result["problems"]:
        raise typer.Exit(FAILED)
