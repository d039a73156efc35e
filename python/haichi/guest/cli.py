"""`haichi lab numa`: runs a command on a machine of several NUMA nodes that is not there."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from haichi.guest import guest
from haichi.guest.machine import machine
from haichi.lab import LabError, variable

FAILED = 125  # the lab itself, as in `timeout`


def numa(
    command: Annotated[list[str], typer.Argument(help="The command and its arguments.")],
    nodes: Annotated[int, typer.Option("-n", "--nodes", help="NUMA nodes (1 to 16).")] = 4,
    cpus: Annotated[str, typer.Option(help="Processors of a node, or of each: 2,2,0,2.")] = "2",
    memory: Annotated[str, typer.Option(help="MiB of a node, or of each.")] = "384",
    distances: Annotated[
        str, typer.Option(help="ring (paper 003's machine for 4), flat, or N x N numbers.")
    ] = "ring",
    add: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE[:AS]", help="A file or folder for the guest; repeatable."),
    ] = None,
    module: Annotated[
        list[str] | None, typer.Option(help="A kernel module to load, such as xfs; repeatable.")
    ] = None,
    env: Annotated[list[str] | None, typer.Option(metavar="K=V", help="For the command.")] = None,
    traffic: Annotated[
        bool, typer.Option(help="Count bytes between nodes, between marks of the program.")
    ] = False,
    timeout: Annotated[float, typer.Option(help="Seconds until the guest is ended.")] = 120,
) -> None:
    """Run a command on a machine of N NUMA nodes in QEMU: haichi lab numa -n 4 numactl -H.

    Placement and bytes can be told from it, time can not. The exit code is the command's; 124 if
    the time was over, 125 if the guest could not be made.
    """
    try:
        variables = dict(map(variable, env or ()))
        done = guest.run(
            machine(nodes, cpus, memory, distances),
            command,
            files=add or (),
            modules=module or (),
            environment=variables,
            traffic=traffic,
            timeout=timeout,
        )
    except (LabError, OSError) as error:
        sys.stderr.write(f"haichi lab: {error}\n")
        raise typer.Exit(FAILED) from None
    sys.stdout.write(done.out)
    for number, each in enumerate(done.traffic, 1):
        sys.stdout.write(
            f"between marks {number}: {each.bytes / 2**20:.2f} MiB moved, "
            f"{100 * each.remote:.2f} % of it between nodes\n"
        )
    if done.timed_out:
        sys.stderr.write(f"haichi lab: the guest was ended after {timeout:g} s (--timeout)\n")
    raise typer.Exit(done.status)
