"""A launcher's command line with an advised placement in the place of what it says of places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from haichi.advise.paste import Notation
from haichi.compare.launcher_line import Unclear, is_lab, options, programs

OPEN_MPI, MPICH, SLURM, LAB = "Open MPI", "MPICH", "Slurm", "haichi lab run"
# What says where ranks go, and would contradict.
_PLACES = {
    OPEN_MPI: "hostfile machinefile host H map-by rank-by npernode N npersocket rankfile rf "
    "bynode byslot bycore bysocket pernode nolocal",
    MPICH: "f hostfile machinefile host hosts ppn perhost",
    SLURM: "distribution m nodelist w ntasks-per-node",
    LAB: "ppn map hosts",
}


@dataclass(frozen=True)
class Line:
    """How to start a program."""

    words: list[str]
    env: Mapping[str, str] = field(default_factory=dict)


def launcher_of(command: Sequence[str], abi: str) -> str:
    """Whose command it is, of a program that has this MPI.

    Raises:
        Unclear: it is none that takes a placement.
    """
    if is_lab(command):
        return LAB
    name = Path(command[0]).name if command else ""
    if name.startswith("srun"):
        return SLURM
    if programs(command) == [0]:
        raise Unclear(f"{name} is no launcher that haichi knows: start it with mpiexec or srun")
    return OPEN_MPI if abi == "openmpi" else MPICH


def with_placement(
    command: Sequence[str], launcher: str, files: Sequence[Notation], folder: Path
) -> Line:
    """The command with its ranks where the files say.

    Raises:
        Unclear: it starts several programs, or there is no file for its launcher.
    """
    if len(programs(command)) > 1:
        raise Unclear("the command starts several programs: place their ranks by hand")
    wanted = "Slurm" if launcher == LAB else launcher
    file = next((each for each in files if each.launcher == wanted and each.file), None)
    if file is None:
        raise Unclear(f"the advice has no file for {launcher}")
    path = str((folder / file.file).absolute())
    (at,) = programs(command)
    begin = 3 if launcher == LAB else 1
    kept = _without(options(command, begin, at), launcher, file)
    more = {
        OPEN_MPI: ["--rankfile", path]
        if file.file == "rankfile"
        else ["--hostfile", path, "--map-by", "seq"],
        MPICH: ["-f", path],
        SLURM: ["--distribution=arbitrary"],
        LAB: ["--hosts", path],
    }[launcher]
    env = {"SLURM_HOSTFILE": path} if launcher == SLURM else {}
    return Line([*command[:begin], *more, *kept, *command[at:]], env)


def _without(found: list[list[str]], launcher: str, file: Notation) -> list[str]:
    """The options that say nothing of places. A rank file says to what ranks are bound, too."""
    names = set(_PLACES[launcher].split())
    if file.file == "rankfile":
        names.add("bind-to")
    return [
        word
        for each in found
        if each[0].lstrip("-").partition("=")[0] not in names
        for word in each
    ]
