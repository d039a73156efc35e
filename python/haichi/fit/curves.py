"""The curves of a profile: messages between two ranks with their pieces, collectives, copies."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypedDict, get_args

from haichi.fit import hockney
from haichi.fit.gather import Curve, Gathered, Way
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
    launches: int


def _columns(curve: Curve) -> _Columns:
    return {
        "bytes": list(curve),
        "seconds": [each.value for each in curve.values()],
        "low": [each.low for each in curve.values()],
        "high": [each.high for each in curve.values()],
        "launches": min(each.launches for each in curve.values()),
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


def other_pairs(found: Gathered, places: Iterable[Place]) -> list[PlaceCurve]:
    """What else two ranks did, and ping-pongs that were made in another way, at the places of which
    there is a ping-pong."""
    made = []
    for way, of in _ways(found):
        for (name, place), curve in sorted(of.pairs.items()):
            known = next((each for each in places if each == place), None)
            wanted = found.groups.get(name) in PAIR_GROUPS or name in PAIRS
            if known and (wanted or (name == PING_PONG and way)):
                made.append(PlaceCurve(name=name, place=known, **_columns(curve), **_made(way)))
    return made


def collectives(found: Gathered) -> list[CollectiveCurve]:
    """The calls of all ranks, each by shape of the job: blocking collectives first."""
    made = []
    for way, of in _ways(found):
        # Of several file systems the first.
        files = next((jobs for _, jobs in sorted(of.stores.items())), {})
        for (name, job), curve in sorted({**of.jobs, **files}.items()):
            if name in COLLECTIVES or _is_call(name, found.groups.get(name, "")):
                made.append(
                    CollectiveCurve(
                        name=name,
                        ranks=job.ranks,
                        nodes=job.nodes,
                        oversubscribed=any(each.oversubscribed for each in curve.values()) or None,
                        **_columns(curve),
                        **_made(way),
                    )
                )
    made.sort(key=lambda each: (each.name not in COLLECTIVES, each.buffers is not None))
    return made[:MOST_CURVES]


def _ways(found: Gathered) -> list[tuple[Way | None, Gathered]]:
    return [(None, found), *found.other_ways.items()]


class _HowMade(TypedDict):
    buffers: Literal["hot", "cold"] | None
    spacing: Literal["isolated", "back to back"] | None


def _made(way: Way | None) -> _HowMade:
    return {"buffers": way.buffers if way else None, "spacing": way.spacing if way else None}


def _is_call(name: str, group: str) -> bool:
    return group in JOB_GROUPS and not name.endswith(PARTS)


# What a program's calls are looked up by (`haichi predict`): groups of the catalogue, and which of
# their measurements are no whole call.
PAIR_GROUPS = frozenset({"rma"})
PAIRS = frozenset({"stream", "bidirectional"})
JOB_GROUPS = frozenset({"collective", "neighbourhood", "communicator", "window", "synchronisation",
                        "file", "file-handling"})  # fmt: skip
PARTS = ("-wait", "-persistent", "-init", "-halves", "-in-place", "-local", "-end", "-begin")
MOST_CURVES = 1000  # src/machine/profile.cpp refuses more than 1,024
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
