"""What the links between nodes must carry for a collective access.

The file is cut into pieces, and each piece is given to a node, which gathers it from all ranks and
writes it. Then every byte of the piece that a rank of another node has leaves that node and enters
this one. Links are full duplex: each node has one in and one out. A read moves the same bytes the
other way, so that the busiest link is as busy. Sizes are bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from haichi.figures.patterns import Pattern
from haichi.lab import LabError

Bytes = NDArray[np.int64]
GRANULARITY = 64 << 10  # of pieces: what a node should at least write at a time
ROUNDS = 400


def cuts(pattern: Pattern) -> list[int]:
    """Sizes of pieces, GRANULARITY or little more, among which the best for the pattern should be:
    some lie across the border between two half planes, and others do not."""
    period = pattern.period
    if period < GRANULARITY:
        return [GRANULARITY, -(-GRANULARITY // period) * period]
    parts = next(n for n in range(period // GRANULARITY, 0, -1) if period % n == 0)
    return [GRANULARITY, period // parts]


def held(pattern: Pattern, node_of_rank: Sequence[int], piece: int = GRANULARITY) -> Bytes:
    """How many bytes of each piece of the file each node has: [piece][node]."""
    pieces = -(-pattern.file_bytes // piece)
    ends = np.arange(pieces + 1, dtype=np.int64) * piece
    found = np.zeros((pieces, max(node_of_rank) + 1), dtype=np.int64)
    for rank, node in enumerate(node_of_rank):
        begins = pattern.begins(rank)
        before = np.searchsorted(begins, ends, side="right")
        last = begins[np.maximum(before - 1, 0)]
        inside = np.clip(ends - last, 0, pattern.piece)
        below = np.where(before > 0, (before - 1) * pattern.piece + inside, 0)
        found[:, node] += np.diff(below)
    return found


def crossing(pieces: Bytes, owner: Sequence[int]) -> Bytes:
    """Bytes [from][to] between nodes in writing, if `owner` is the node of each piece; the
    diagonal stays where it is."""
    nodes = pieces.shape[1]
    matrix = np.zeros((nodes, nodes), dtype=np.int64)
    np.add.at(matrix.T, np.asarray(owner), pieces)
    return matrix


def busiest(matrix: Bytes) -> int:
    """The most bytes that one link carries."""
    between = matrix.copy()
    np.fill_diagonal(between, 0)
    return int(max(between.sum(axis=0).max(), between.sum(axis=1).max()))


def even_cut(pattern: Pattern, node_of_rank: Sequence[int], aggregators: Sequence[int]) -> Bytes:
    """The crossing bytes if the file is cut evenly over `aggregators` (ranks, in the order of their
    file domains)."""
    domain = -(-pattern.file_bytes // len(aggregators))
    owner = [node_of_rank[rank] for rank in aggregators]
    pieces = held(pattern, node_of_rank, domain)
    return crossing(pieces, owner[: len(pieces)])


def least_busiest(pieces: Bytes) -> float:
    """A lower bound, in bytes, of what the busiest link carries under the best assignment of pieces
    to nodes, pieces that are shared out in fractions included.

    By weak duality: with weights w of the links, of sum 1, the busiest link of an assignment
    carries at least the mean of all links weighted by w, and the least such mean is found piece by
    piece. Any w gives a bound; equal ones say that the bytes that must leave where they are are at
    best spread over all links. Multiplicative weights then look for better ones. The tests hold the
    result against all assignments of small cases.
    """
    kinds, counts = np.unique(pieces, axis=0, return_counts=True)
    amounts = kinds * counts[:, None].astype(float)
    enter = amounts.sum(axis=1, keepdims=True) - amounts  # if the node gets the piece
    nodes = pieces.shape[1]
    scale, regret, best = max(float(enter.max(axis=1).sum()), 1.0), np.zeros(2 * nodes), 0.0
    for turn in range(1, ROUNDS + 1):
        weights = np.exp(regret - regret.max())
        weights /= weights.sum()
        to, out = weights[:nodes], weights[nodes:]
        cost = enter * to + (amounts @ out)[:, None] - amounts * out
        owner = cost.argmin(axis=1)
        best = max(best, float(cost.min(axis=1).sum()))
        row = np.arange(len(owner))
        came = np.bincount(owner, enter[row, owner], minlength=nodes)
        kept = np.bincount(owner, amounts[row, owner], minlength=nodes)
        went = amounts.sum(axis=0) - kept
        step = np.sqrt(np.log(2 * nodes) / turn)
        regret += step * np.concatenate([came, went]) / scale
    return best


def aggregators(node_of_rank: Sequence[int], layout: str, wanted: int) -> list[int]:
    """Ranks that plan::choose_aggregators (src/plan/aggregators.h) takes, in its order."""
    nodes = range(max(node_of_rank) + 1)
    members = [[r for r, n in enumerate(node_of_rank) if n == node] for node in nodes]
    if layout == "packed":
        order = [rank for ranks in members for rank in ranks]
    else:
        deepest = max(len(ranks) for ranks in members)
        order = [ranks[i] for i in range(deepest) for ranks in members if i < len(ranks)]
    return order[: wanted or len(members)]


def bytes_per_second(rate: str) -> float:
    """tc's rate, such as 100mbit, in bytes per second.

    Raises:
        LabError: it has no unit, as what has no limit.
    """
    for unit, factor in (("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)):
        if rate.endswith(unit):
            return float(rate.removesuffix(unit)) * factor / 8
    raise LabError(f"{rate} is not the rate of a link: give one such as 100mbit")
