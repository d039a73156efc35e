"""The machine that the NUMA guest sees: nodes, their processors and memory, and how far apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from haichi.lab import LabError

MOST_NODES = 16
LOCAL, HOP = 10, 11  # of a distance, as ACPI has it: 10 on a node, 21 to the next one


@dataclass(frozen=True)
class Machine:
    """What each node has: processors (0: memory alone) and MiB (0: none)."""

    processors: tuple[int, ...]
    memory: tuple[int, ...]
    distances: str  # ring, flat, or N x N numbers between commas

    @property
    def nodes(self) -> int:
        """How many there are."""
        return len(self.processors)

    def distance(self, a: int, b: int) -> int:
        """Between two nodes. The ring of four is that of paper 003, Fig. 4: nodes 0 and 3 have no
        link, nor have 1 and 2."""
        if a == b:
            return LOCAL
        if self.distances == "flat":
            return LOCAL + HOP
        if self.distances != "ring":
            return int(self.distances.split(",")[a * self.nodes + b])
        if self.nodes == 4:
            return LOCAL + HOP + (LOCAL if a + b == 3 else 0)
        way = abs(a - b)
        return HOP + LOCAL * min(way, self.nodes - way)

    def node_of_processor(self) -> list[int]:
        """Of each processor; those of a node follow each other."""
        return [node for node, number in enumerate(self.processors) for _ in range(number)]

    def words(self) -> list[str]:
        """QEMU's arguments."""
        total = sum(self.processors)
        words = ["-smp", str(total), "-m", f"{sum(self.memory)}M"]
        first = 0
        for node, (number, mib) in enumerate(zip(self.processors, self.memory, strict=True)):
            entry = f"node,nodeid={node}"
            if number:
                entry += f",cpus={first}-{first + number - 1}"
            if mib:
                words += ["-object", f"memory-backend-ram,id=m{node},size={mib}M"]
                entry += f",memdev=m{node}"
            words += ["-numa", entry]
            first += number
        for a in range(self.nodes):
            for b in range(self.nodes):
                if a != b:
                    words += ["-numa", f"dist,src={a},dst={b},val={self.distance(a, b)}"]
        return words

    def traffic_words(self, plugin: Path) -> list[str]:
        """QEMU's arguments to count bytes between nodes.

        Raises:
            LabError: the nodes have not all the same memory.
        """
        if len(set(self.memory)) > 1:
            raise LabError("--traffic: all nodes must have the same memory")
        places = ":".join(map(str, self.node_of_processor()))
        return [
            "-plugin",
            f"file={plugin},nodes={self.nodes},memory={self.memory[0]},processors={places}",
        ]


def machine(nodes: int, processors: str, memory: str, distances: str) -> Machine:
    """As the options say; one number stands for all nodes.

    Raises:
        LabError: a value that will not do, and what would.
    """
    if not 1 <= nodes <= MOST_NODES:
        raise LabError(f"--nodes {nodes}: use 1 to {MOST_NODES}")

    def each(option: str, text: str) -> tuple[int, ...]:
        words = text.split(",")
        if not all(word.isdecimal() for word in words) or len(words) not in (1, nodes):
            raise LabError(f"{option} {text}: use a number, or one for each of {nodes} nodes")
        numbers = tuple(map(int, words))
        return numbers * nodes if len(numbers) == 1 else numbers

    made = Machine(each("--cpus", processors), each("--memory", memory), distances)
    if made.processors[0] == 0 or made.memory[0] < 128:
        raise LabError("node 0 needs a processor and 128 MiB at least: the guest starts there")
    if distances not in ("ring", "flat"):
        words = distances.split(",")
        if len(words) != nodes * nodes or not all(word.isdecimal() for word in words):
            raise LabError(f"--distances: use ring, flat, or {nodes} x {nodes} numbers")
    return made
