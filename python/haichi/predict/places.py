"""Where the ranks of a job are, and how near two of them are to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from haichi.report.placement import Placement


@dataclass(frozen=True)
class Places:
    """The node of each rank, its NUMA node and the one core that it is bound to: -1 where that is
    not known."""

    node: list[int]
    numa: list[int]
    core: list[int]

    @classmethod
    def of(cls, placement: Placement) -> Places:
        """Of the ranks of a placement."""
        node = placement.node_of_rank()
        places = placement.places or []
        numa = [each.numa for each in places] or [-1] * len(node)
        core = [each.core if each.cores == 1 else -1 for each in places] or [-1] * len(node)
        return cls(node, numa, core)

    def between(self, a: int, b: int) -> str:
        """The placement class of two ranks, as src/placement/nearness.h has it."""
        if a == b:
            return "self"
        if self.node[a] != self.node[b]:
            return "network"
        if self.core[a] >= 0 and self.core[a] == self.core[b]:
            return "core"
        return "numa" if self.numa[a] >= 0 and self.numa[a] == self.numa[b] else "node"


def in_blocks(room: Sequence[int]) -> list[int]:
    """The node of each rank, one node after the other, where each takes so many."""
    return [node for node, many in enumerate(room) for _ in range(many)]


def dealt_out(room: Sequence[int]) -> list[int]:
    """The same, dealt out one by one."""
    return [node for turn in range(max(room)) for node, many in enumerate(room) if turn < many]
