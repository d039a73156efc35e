"""Runs a command in a QEMU guest that has several NUMA nodes, without root and without network.

What can be told from it: which pages come to be where, which thread runs where, how many bytes move
between nodes (exactly, by the plug-in lab/numatraffic.c), and that nothing crashes on odd machines.
What can't: any time. The guest is interpreted, and all its nodes are the same memory.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from haichi_processes import runner

from haichi import paths
from haichi.guest import image
from haichi.guest.kernel import kernel
from haichi.guest.machine import Machine
from haichi.lab import LabError

ARGUMENTS = (
    "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off nokaslr tsc=unstable "
    "numa_balancing=disable transparent_hugepage=madvise"
)


@dataclass
class Traffic:
    """Bytes between two marks of the program, by (node of the processor, node of the memory)."""

    loaded: dict[tuple[int, int], int] = field(default_factory=dict)
    stored: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """Loads and stores of bulk copies."""
        return sum(self.loaded.values()) + sum(self.stored.values())

    @property
    def remote(self) -> float:
        """The part of them that went between nodes; 0 if there are none."""
        far = sum(
            amount
            for counts in (self.loaded, self.stored)
            for (processor, memory), amount in counts.items()
            if processor != memory
        )
        return far / self.bytes if self.bytes else 0.0


@dataclass(frozen=True)
class Outcome:
    """What became of the command."""

    status: int
    out: str  # standard output and errors
    traffic: list[Traffic]
    timed_out: bool


def run(
    machine: Machine,
    command: Sequence[str],
    *,
    files: Sequence[str] = (),
    modules: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    traffic: bool = False,
    timeout: float = 120,
) -> Outcome:
    """Boots, runs the command to its end, and stops; some seconds. `files` are SOURCE or
    SOURCE:TARGET, which the guest shall have, too.

    Raises:
        LabError: the guest can't be made, or ended without telling how the command ended.
    """
    with tempfile.TemporaryDirectory(prefix="haichi-guest-") as name:
        work = Path(name)
        fetched = kernel()
        initrd = image.build(fetched, command, files, modules, environment or {}, work)
        logs = {each: work / f"{each}.log" for each in ("kernel", "out", "control")}
        words = [
            *("qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-machine", "pc"),
            *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
            *(word for each in logs for word in ("-chardev", f"file,id={each},path={logs[each]}")),
            *(word for each in logs for word in ("-device", f"isa-serial,chardev={each}")),
            *("-kernel", str(fetched.image), "-initrd", str(initrd), "-append", ARGUMENTS),
            *machine.words(),
        ]
        if traffic:
            plugin = paths.build() / "lib" / "libnumatraffic.so"
            if not plugin.exists():
                raise LabError(f"{plugin} is not there: ./haichi build")
            words += machine.traffic_words(plugin)
        done = runner.run(words, timeout=timeout)
        out = _text(logs["out"])
        ended = re.search(r"^exit (\d+)", _text(logs["control"]), re.MULTILINE)
        if ended:
            return Outcome(int(ended[1]), out, _traffic(done.err), False)
        if done.timed_out:
            return Outcome(runner.TIMED_OUT, out, _traffic(done.err), True)
        told = (_text(logs["kernel"]) + done.err).strip().splitlines()[-3:]
        raise LabError(f"the guest ended early ({done.how}): {' | '.join(told)}")


def _text(file: Path) -> str:
    return file.read_text(errors="replace").replace("\r\n", "\n") if file.exists() else ""


def _traffic(errors: str) -> list[Traffic]:
    """A Traffic for each pair of marks."""
    found, open_ = [], Traffic()
    line = re.compile(r"traffic processors (\d+) memory (\d+) loaded (\d+) stored (\d+)")
    for text in errors.splitlines():
        if text == "traffic end":
            found.append(open_)
            open_ = Traffic()
        elif told := line.fullmatch(text):
            processor, memory, loaded, stored = map(int, told.groups())
            open_.loaded[processor, memory] = loaded
            open_.stored[processor, memory] = stored
    return found
