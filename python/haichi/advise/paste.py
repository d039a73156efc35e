"""A mapping in the words of launchers: files, and the lines that use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from haichi.report.placement import Place, Placement


@dataclass(frozen=True)
class Notation:
    """One launcher's."""

    launcher: str
    file: str
    """Its name in the folder; "" if the line needs none."""
    content: str
    line: str
    """With {file} in place of the file's path."""

    def pasted(self, folder: Path) -> str:
        """The line, and whom it is for."""
        return f"{self.line.replace('{file}', str(folder / self.file))}  # {self.launcher}"


def write_files(folder: Path, files: Sequence[Notation]) -> None:
    """Writes those that have one."""
    for each in files:
        if each.file:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / each.file).write_text(each.content)


def notations(
    abi: str, nodes: Sequence[str], places: Sequence[Place] | None, program: str
) -> list[Notation]:
    """For the launcher of the MPI that was recorded, then for batch systems. `nodes` and `places`
    are those of each rank."""
    count = len(nodes)
    hosts = "".join(f"{node}\n" for node in nodes)
    own = {
        "openmpi": [_open_mpi(nodes, places, program)],
        "mpich": [
            Notation(
                "MPICH",
                "hosts",
                "".join(f"{node}:{len(list(run))}\n" for node, run in groupby(nodes)),
                f"mpiexec -n {count} -f {{file}} {program}",
            )
        ],
    }
    return [
        *own.get(abi, own["mpich"]),
        Notation(
            "Slurm",
            "slurm-hosts",
            hosts,
            f"SLURM_HOSTFILE={{file}} srun -n {count} --distribution=arbitrary {program}",
        ),
        Notation(
            "Flux", "", "", f"flux run -n {count} --taskmap='manual:{taskmap(nodes)}' {program}"
        ),
    ]


def of_prediction(placement: Placement, record: str) -> Notation:
    """Where ranks are then, for `haichi predict`."""
    return Notation(
        "what it takes there",
        "placement.json",
        placement.model_dump_json(by_alias=True, exclude_none=True) + "\n",
        f"haichi predict {record} --placement {{file}}",
    )


def _open_mpi(nodes: Sequence[str], places: Sequence[Place] | None, program: str) -> Notation:
    """A rank file where each rank was bound to one core, else one host for each rank in turn."""
    count = len(nodes)
    if places and all(place.cores == 1 and place.core >= 0 for place in places):
        lines = [
            f"rank {rank}={node} slot={place.core}\n"
            for rank, (node, place) in enumerate(zip(nodes, places, strict=True))
        ]
        line = f"mpiexec -n {count} --rankfile {{file}} {program}"
        return Notation("Open MPI", "rankfile", "".join(lines), line)
    content = "".join(f"{node}\n" for node in nodes)
    line = f"mpiexec -n {count} --hostfile {{file}} --map-by seq {program}"
    return Notation("Open MPI", "hosts", content, line)


def taskmap(nodes: Sequence[str]) -> str:
    """As Flux RFC 34 has it: blocks of node, number of nodes, ranks on each, repeats. Nodes are
    numbered in the order of their first rank."""
    number = {node: n for n, node in enumerate(dict.fromkeys(nodes))}
    runs = [(number[node], len(list(run))) for node, run in groupby(nodes)]
    blocks: list[list[int]] = []
    for node, ranks in runs:
        last = blocks[-1] if blocks else None
        if last and last[3] == 1 and last[2] == ranks and last[0] + last[1] == node:
            last[1] += 1
        else:
            blocks.append([node, 1, ranks, 1])
    repeated: list[list[int]] = []
    for block in blocks:
        if repeated and repeated[-1][:3] == block[:3]:
            repeated[-1][3] += 1
        else:
            repeated.append(block)
    inner = ",".join("[" + ",".join(map(str, block)) + "]" for block in repeated)
    return f'{{"version":1,"map":[{inner}]}}'
