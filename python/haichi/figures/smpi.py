"""A cluster that SimGrid's SMPI simulates, for figures that hold something against it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from haichi import mpi, paths, programs

FLOPS = 1e10  # of each node


@dataclass(frozen=True)
class Cluster:
    """Nodes, and a link each way."""

    nodes: int
    bandwidth: str
    latency: str
    eager: int
    """Bytes from which sends wait for their receivers."""
    topology: str = ""
    """Further members of the platform's cluster; none: a crossbar."""
    options: tuple[str, ...] = ()
    """Further ones of SimGrid's."""
    per_node: int = 1
    """Ranks of each node, which are filled one after the other."""

    def run(
        self, folder: Path, program: str, ranks: int, words: Sequence[str], *, timeout: float
    ) -> str:
        """What a program of haichi's build prints; the folder is for SimGrid's files.

        Raises:
            mpi.Missing: SMPI or the program is not there, or fails.
        """
        smpirun = shutil.which("smpirun")
        if smpirun is None:
            raise mpi.Missing("no smpirun: apt install libsimgrid-dev, then ./haichi build")
        place = ["-platform", str(self._platform(folder)), "-hostfile", str(self._hosts(folder))]
        options = [
            *("--cfg=smpi/simulate-computation:no", f"--cfg=smpi/host-speed:{FLOPS}f"),
            *(
                f"--cfg=smpi/{name}-thresh:{self.eager}"
                for name in ("async-small", "send-is-detached")
            ),
            *(*self.options, "--log=root.thres:critical"),
        ]
        started = str(programs.built(paths.program(program)))
        return programs.output(
            Path(smpirun),
            *("-np", str(ranks), *place, *options, started, *words),
            timeout=timeout,
        )

    def _platform(self, folder: Path) -> Path:
        file = folder / "platform.xml"
        file.write_text(
            "<?xml version='1.0'?>\n"
            '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
            '<platform version="4.1">\n'
            f'  <cluster id="cluster" prefix="node" suffix="" radical="0-{self.nodes - 1}"\n'
            f'           speed="{FLOPS}f" bw="{self.bandwidth}" lat="{self.latency}"\n'
            f'           {self.topology} sharing_policy="SPLITDUPLEX"/>\n'
            "</platform>\n"
        )
        return file

    def _hosts(self, folder: Path) -> Path:
        file = folder / "hosts"
        file.write_text("".join(f"node{number}\n" * self.per_node for number in range(self.nodes)))
        return file
