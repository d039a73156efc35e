"""What the curves rest on that a record is predicted by: how many launches, and whether ranks had
to wait for a core when they were measured, where the program's had one of their own, or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from haichi.fit.model import CollectiveCurve, PlaceCurve, Profile
from haichi.predict.curves import PING_PONG
from haichi.predict.kinds import MESSAGES, Kind, kind_of, measurement
from haichi.record.read import Record, plain_name


@dataclass(frozen=True)
class Basis:
    """Of the curves together."""

    launches: int
    """Of the curve that rests on fewest."""
    curve: str
    """Which that is; empty where the profile says it of all together only."""
    notes: list[str]


def basis(profile: Profile, record: Record) -> Basis:
    """What the curves rest on that tell of a record's calls."""
    used = list(_used(profile, record))
    launches, curve = profile.made.launches, ""
    for each in used:
        if each.launches is not None and (each.launches < launches or not curve):
            launches, curve = each.launches, _told(each)
    return Basis(launches, curve, _crowds(used, record))


def _used(profile: Profile, record: Record) -> Iterator[PlaceCurve | CollectiveCurve]:
    """Each of a name that a call is looked up by; of those of all ranks the ones of as many ranks
    and nodes, if there are any."""
    names, accesses = set(), set()
    shapes: dict[str, set[tuple[int, int]]] = {}
    for key in record.keys:
        name = plain_name(key.call.for_) if key.call.for_ else key.name
        kind = kind_of(name)
        if kind in MESSAGES:
            names.add(PING_PONG)
        elif kind is Kind.ACCESS:
            accesses.add(f"{measurement(name)}-")
        elif kind is not Kind.LOCAL:
            shapes.setdefault(measurement(name), set()).add(record.nodes_of(key.call.comm))
    for pair in profile.curves:
        if pair.name in names or any(pair.name.startswith(each) for each in accesses):
            yield pair
    there = {(each.name, each.ranks, each.nodes) for each in profile.collectives}
    for job in profile.collectives:
        wanted = shapes.get(job.name, set())
        exact = {shape for shape in wanted if (job.name, *shape) in there}
        if wanted and (exact != wanted or (job.ranks, job.nodes) in exact):
            yield job


def _told(curve: PlaceCurve | CollectiveCurve) -> str:
    if isinstance(curve, PlaceCurve):
        return f"{curve.name} at {curve.place}"
    return f"{curve.name} of {curve.ranks} ranks on {curve.nodes}"


def _crowds(used: list[PlaceCurve | CollectiveCurve], record: Record) -> list[str]:
    """Where calls were measured with more ranks than cores and the program had not, or the other
    way round."""
    jobs = [each for each in used if isinstance(each, CollectiveCurve)]
    cores = record.head.signature.cores if record.head.signature else None
    if not jobs or not cores:
        return []
    crowded = max(Counter(record.node_of_rank).values(), default=0) > cores
    other = dict.fromkeys(_told(each) for each in jobs if bool(each.oversubscribed) != crowded)
    if not other:
        return []
    listed = ", ".join(list(other)[:3]) + (", ..." if len(other) > 3 else "")
    if crowded:
        return [
            f"the job has more ranks than cores, and {listed} was measured with cores enough: what "
            "ranks wait for their turn is in no curve"
        ]
    return [
        f"{listed} was measured with more ranks than cores, and the job has cores enough: that is "
        "what ranks wait for their turn, too, so it takes less here"
    ]
