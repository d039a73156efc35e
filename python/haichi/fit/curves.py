"""The curves of a profile: messages between two ranks with their pieces, collectives, copies."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TypedDict, get_args

from haichi.fit import hockney
from haichi.fit.gather import Curve, Gathered
from haichi.fit.model import CollectiveCurve, CopyCurve, Piece, Place, PlaceCurve

PING_PONG = "ping-pong"
MEMORY_COPY = "memory-copy"
PLACES: tuple[Place, ...] = get_args(Place)
# Inside a node ranks of one NUMA node are the usual pair; others stand in where there is none.
LOCAL: tuple[Place, ...] = ("numa", "node", "core")
NETWORK: Place = "network"


@dataclass(frozen=True)
class Fitted:
    """A curve of two ranks with its lines."""

    place: Place
    curve: Curve
    lines: list[hockney.Line]

    @property
    def sizes(self) -> list[int]:
        """Ascending."""
        return list(self.curve)

    @property
    def seconds(self) -> list[float]:
        """Of each size."""
        return [each.value for each in self.curve.values()]

    def slope(self) -> tuple[float, float, float] | None:
        """Seconds for a byte of long messages: of the last piece; None where times do not grow.
        Its interval is as wide as those of the piece's points are in the median."""
        if not self.lines or self.lines[-1].per_byte <= 0:
            return None
        line = self.lines[-1]
        points = list(self.curve.values())[line.first : line.last + 1]
        low = statistics.median(each.low / each.value for each in points)
        high = statistics.median(each.high / each.value for each in points)
        return line.per_byte, low * line.per_byte, high * line.per_byte

    def range_of(self, line: hockney.Line) -> str:
        """The sizes of a piece in words."""
        return f"{self.sizes[line.first]} to {self.sizes[line.last]} B"


def ping_pongs(found: Gathered) -> dict[Place, Fitted]:
    """The ping-pong of each placement class that was measured."""
    fitted = {}
    for place in PLACES:
        if curve := found.pair(PING_PONG, place):
            columns = _columns(curve)
            widths = [(each.high - each.low) / 2 / each.value for each in curve.values()]
            lines = hockney.pieces(columns["bytes"], columns["seconds"], widths)
            fitted[place] = Fitted(place, curve, lines)
    return fitted


class _Columns(TypedDict):
    """What every curve by size has in a profile."""

    bytes: list[int]
    seconds: list[float]
    low: list[float]
    high: list[float]


def _columns(curve: Curve) -> _Columns:
    return {
        "bytes": list(curve),
        "seconds": [each.value for each in curve.values()],
        "low": [each.low for each in curve.values()],
        "high": [each.high for each in curve.values()],
    }


def place_curve(fitted: Fitted) -> PlaceCurve:
    """As the profile has it."""
    sizes, lines = fitted.sizes, fitted.lines
    residuals = hockney.residual(lines, sizes, fitted.seconds)
    made = [
        Piece(
            from_=0 if number == 0 else sizes[line.first],
            to=sizes[line.last],
            latency_s=line.latency,
            s_per_byte=line.per_byte,
            residual=residuals[number],
        )
        for number, line in enumerate(lines)
    ]
    return PlaceCurve(
        name=PING_PONG,
        place=fitted.place,
        **_columns(fitted.curve),
        pieces=made,
        switches=[sizes[line.last] for line in lines[:-1]],
    )


def collectives(found: Gathered) -> list[CollectiveCurve]:
    """The blocking collectives, each by shape of the job."""
    return [
        CollectiveCurve(
            name=name,
            ranks=job.ranks,
            nodes=job.nodes,
            **_columns(curve),
        )
        for (name, job), curve in sorted(found.jobs.items())
        if name in COLLECTIVES
    ]


COLLECTIVES = frozenset(
    {
        "allgather",
        "allgatherv",
        "allreduce",
        "alltoall",
        "alltoallv",
        "alltoallw",
        "barrier",
        "bcast",
        "exscan",
        "gather",
        "gatherv",
        "reduce",
        "reduce-scatter",
        "reduce-scatter-block",
        "scan",
        "scatter",
        "scatterv",
    }
)


def copies(found: Gathered) -> list[CopyCurve]:
    """What a rank copies, in the job whose ranks disturb each other least: the smallest."""
    for curve in found.jobs_of(MEMORY_COPY).values():
        gbs = [size / each.value / 1e9 for size, each in curve.items()]
        return [CopyCurve(bytes=list(curve), gbs=gbs)]
    return []
