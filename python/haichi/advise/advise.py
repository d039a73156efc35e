"""All advice on a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from haichi.advise.calls import Case, advice_on_calls
from haichi.advise.foreseen import Foreseen, foresee
from haichi.advise.gain import Times, gain
from haichi.advise.mapping import Mapped, map_ranks
from haichi.advise.model import Advice, AdviceList, PlacementAdvice
from haichi.advise.paste import Notation, notations, of_prediction
from haichi.advise.traffic import Traffic, traffic_of
from haichi.predict.curves import Curves
from haichi.predict.machine import FoundProfile
from haichi.predict.model import interval
from haichi.predict.places import Places
from haichi.record.read import Record
from haichi.report.load import ReportError
from haichi.report.placement import Placement
from haichi.units import format_bytes


@dataclass
class Advised:
    """All advice, and what belongs to it."""

    made: AdviceList
    files: list[Notation] = field(default_factory=list)
    """That its lines name, and which belong into the folder."""
    foreseen: Foreseen | None = None
    """What the placement gains by the order of events, where that tells."""


def advise(record: Record, found: FoundProfile | None, folder: Path) -> Advised:
    """What to change.

    Raises:
        Missing: the mapping solver is not built.
    """
    curves = Curves(found.profile) if found else None
    made = AdviceList(
        program=record.head.program,
        ranks=record.head.ranks,
        recorded_s=record.wall_s,
        machine=found.profile.name if found else "",
        advice=list(advice_on_calls(Case(record, curves))),
        placement=None,
        notes=list(record.notes),
    )
    if found is None:
        made.notes.append(
            "no profile of the record's machine: what is gained in time can't be said; make one by "
            "haichi measure and haichi fit, and name it by --machine"
        )
    elif not found.same:
        made.notes.append(f"the profile is of another machine: {found.difference}")
    advised = Advised(made)
    _placement(record, found, curves, folder, advised)
    made.advice.sort(key=_order)
    return advised


def _order(advice: Advice) -> tuple[float, float]:
    """Most gain first; what has none behind it, by what was recorded."""
    gained = advice.gain_s.low + advice.gain_s.high if advice.gain_s else 0.0
    return -gained, -(advice.recorded_s or 0.0)


def _placement(
    record: Record,
    found: FoundProfile | None,
    curves: Curves | None,
    folder: Path,
    advised: Advised,
) -> None:
    """Adds what the mapping solver finds."""
    placement, made = record.head.placement, advised.made
    if placement is None:
        return
    traffic = traffic_of(record)
    made.notes += traffic.notes
    edges = traffic.edges()
    if not edges:
        made.notes.append("the record has no messages between ranks: any placement is as good")
        return
    mapped = map_ranks(placement, edges)
    if mapped.mapped == mapped.given:
        made.notes.append(
            "placement: none was found with less than the "
            f"{format_bytes(mapped.given.between_nodes)} that go between nodes"
        )
        return
    node_of = placement.node_of_rank()
    nodes = [placement.name_of(node_of[seat]) for seat in mapped.seats]
    places = [placement.places[seat] for seat in mapped.seats] if placement.places else None
    made.placement = PlacementAdvice(
        seats=mapped.seats,
        nodes=nodes,
        recorded=mapped.given,
        advised=mapped.mapped,
    )
    there = placed_anew(placement, mapped.seats)
    advised.files = [
        *notations(record.head.abi, nodes, places, " ".join(record.head.program)),
        of_prediction(there, str(record.path)),
    ]
    advice = _placement_advice(record, curves, traffic, mapped, advised.files, folder)
    if found is not None and (foreseen := _by_events(record, found, there, made.notes)):
        # That knows who waits for whom.
        advised.foreseen = foreseen
        gain = interval(foreseen.gain(record.wall_s))
        advice = advice.model_copy(update={"gain_s": gain, "unknown": ""})
    made.advice.append(advice)


def placed_anew(placement: Placement, seats: Sequence[int]) -> Placement:
    """The placement with each rank on the seat of another one."""
    node_of, places = placement.node_of_rank(), placement.places
    return Placement.seated(
        [node_of[seat] for seat in seats],
        placement.nodes,
        [places[seat] for seat in seats] if places else None,
    )


def _by_events(
    record: Record, found: FoundProfile, there: Placement, notes: list[str]
) -> Foreseen | None:
    """What the placement gains by the order of events, where that tells."""
    try:
        foreseen = foresee(record, found, there)
    except ReportError as error:
        notes.append(f"what the placement gains is told without the order of events: {error}")
        return None
    notes += [f"by sequence: {note}" for note in foreseen.notes]
    return foreseen


def _placement_advice(
    record: Record,
    curves: Curves | None,
    traffic: Traffic,
    mapped: Mapped,
    files: list[Notation],
    folder: Path,
) -> Advice:
    placement = record.head.placement
    assert placement is not None
    given, advised = mapped.given, mapped.mapped
    why = (
        f"{format_bytes(advised.between_nodes)} go between nodes in place of "
        f"{format_bytes(given.between_nodes)}, {format_bytes(advised.busiest_node)} in place of "
        f"{format_bytes(given.busiest_node)} in and out of the busiest node"
    )
    if given.between_numa:
        why += (
            f", {format_bytes(advised.between_numa)} in place of "
            f"{format_bytes(given.between_numa)} between NUMA nodes"
        )
    gained = None
    if curves is not None:
        times = Times(traffic, Places.of(placement), curves)
        before, after = times.of(range(record.head.ranks)), times.of(mapped.seats)
        most = max((line.mpi_s for line in record.ranks.values()), default=0.0)
        if before is not None and after is not None:
            gained = gain(before, after, most)
    no_curve = "the profile has no curve of messages there"
    return Advice(
        kind="placement",
        title="Place ranks that talk to each other on one node",
        why=why,
        recorded_s=None,
        gain_s=interval(gained) if gained else None,
        unknown="" if gained else no_curve if curves else "there is no profile of the machine",
        paste=[each.pasted(folder) for each in files],
    )
