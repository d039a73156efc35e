"""The table as a prediction: the program's interval, or the line that says why there is none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from haichi.predict.basis import basis
from haichi.predict.changes import Changed
from haichi.predict.curves import Curves
from haichi.predict.machine import FoundProfile
from haichi.predict.model import PredictedPart, PredictedRank, Prediction, Unknown, interval
from haichi.predict.sensitivity import of_rank
from haichi.predict.span import NOTHING, Span
from haichi.predict.stated import base_of, few_launches, misses, stated, too_wide
from haichi.predict.table import Lacking, RankNeed, Table
from haichi.record.read import Record
from haichi.record.sites import Named
from haichi.record.view import View
from haichi.report.load import ReportError
from haichi.units import format_share, plural, printable

WAITING = 0.5  # of the time in MPI: from there on a table has no figure for the program
UNKNOWN = 0.2  # the same for calls without a curve
INSTEAD = "first touches or connections, of which a table knows nothing; predict by sequence"
MPI_COUNTS = 0.02  # of the program's time: below, what is in MPI does not change the figure


@dataclass(frozen=True)
class Told:
    """A rank's compute, need and waiting."""

    compute: float
    need: RankNeed
    waiting: float

    @property
    def seconds(self) -> Span:
        """From MPI_Init to MPI_Finalize; at most with the waiting that was recorded."""
        start = self.compute + self.need.kept
        return Span(start + self.need.span.low, start + self.need.span.high + self.waiting)


def predict(
    changed: Changed,
    found: FoundProfile,
    *,
    own: FoundProfile | None = None,
    sensitivity: bool = False,
) -> Prediction:
    """What the calls of a record need on a machine.

    Args:
        own: the profile of the record's machine, where `found` is of another one: what it errs by
            of the recorded run is allowed for.
        sensitivity: whether it is told.

    Raises:
        ReportError: the order of messages is to be another one, which no table has.
    """
    if changed.algorithm:
        raise ReportError(
            "no table tells in which order messages go: --algorithm and --order need --by sequence"
        )
    record, was = changed.record, changed.was
    table = Table(record, Curves(found.profile))
    view = View(record, Named())
    home = found if found.same else own
    at_home = table if was is record and home is found else None
    at_home = at_home or Table(was, Curves(home.profile) if home else table.curves)
    waited = _waited(was, at_home, home is not None)
    ranks = _ranks(record, table, waited)
    slowest = max(ranks, key=lambda rank: ranks[rank].seconds.high, default=None)
    busiest = max(ranks.values(), key=lambda each: each.need.span.high, default=None)
    program = _of_slowest(ranks)
    base = None
    if home:
        base = base_of(was, interval(_of_slowest(_ranks(was, at_home, waited))))
    waiting = sum(each.waiting for each in ranks.values()) / view.seconds if view.seconds else 0.0
    lacking = unknown(view, table.sorted_lacking())
    on = basis(found.profile, record)
    told = stated(interval(program), on, base)
    why_not = _why_not(view, lacking, waiting) or misses(base, "by table", INSTEAD)
    why_not = why_not or too_wide(told, "a table tells no nearer; predict by sequence")
    in_mpi = {rank: line.mpi_s for rank, line in record.ranks.items()}
    return Prediction(
        form="haichi.prediction/1",
        by="table",
        record=printable(str(record.path)),
        program=record.head.program,
        ranks=record.head.ranks,
        machine=found.profile.name,
        profile=printable(str(found.path)),
        same_machine=found.same,
        program_s=None if why_not else told,
        why_not=why_not or None,
        recorded_s=was.wall_s,
        changed=list(changed.lines),
        communication=interval(busiest.need.span if busiest else NOTHING),
        recorded_communication_s=busiest.need.recorded if busiest else 0.0,
        waiting_share=min(waiting, 1.0),
        parts=[
            PredictedPart(
                name=part.name,
                size=part.size,
                where=part.where,
                calls=part.calls,
                seconds=interval(part.span),
                recorded_s=part.recorded,
                curve=", ".join(part.curves),
            )
            for part in table.sorted_parts()
        ],
        unknown=lacking,
        by_rank=[
            PredictedRank(
                rank=rank,
                compute_s=each.compute,
                communication=interval(each.need.span),
                recorded_s=in_mpi.get(rank, each.need.recorded + each.need.kept),
                waiting_s=each.waiting,
            )
            for rank, each in ranks.items()
        ],
        sensitivity=of_rank(ranks[slowest].need, program)
        if sensitivity and slowest is not None
        else None,
        critical_path=None,
        notes=[*record.notes, *_differs(found), *on.notes, *few_launches(found, on), *table.notes],
    )


def _of_slowest(ranks: dict[int, Told]) -> Span:
    return Span(
        max((each.seconds.low for each in ranks.values()), default=0.0),
        max((each.seconds.high for each in ranks.values()), default=0.0),
    )


def _waited(record: Record, table: Table, same: bool) -> dict[int, float]:
    """What ranks waited when it was recorded: beyond what their calls need at most, if the profile
    is of this machine; else what collectives tell, whatever they need."""
    if same:
        return {
            rank: max(need.recorded - need.span.high, 0.0) for rank, need in table.ranks.items()
        }
    waited: dict[int, float] = {}
    for wait in View(record, Named()).waits:
        for rank, seconds in wait.of_rank.items():
            waited[rank] = waited.get(rank, 0.0) + seconds
    return waited


def _ranks(record: Record, table: Table, waited: dict[int, float]) -> dict[int, Told]:
    """Of each rank; of more ranks than were recorded, these wait in turn."""
    told = {}
    for rank in sorted({*record.ranks, *table.ranks}):
        line = record.ranks.get(rank)
        waiting = waited.get(rank % (max(waited, default=0) + 1), 0.0)
        told[rank] = Told(line.compute_s if line else 0.0, table.ranks[rank], waiting)
    return told


def unknown(view: View, lacking: Iterable[Lacking]) -> list[Unknown]:
    """Calls without a curve, beside all that the record has."""
    return [
        Unknown(
            name=each.name,
            calls=each.calls,
            share_of_calls=each.calls / view.calls if view.calls else 0.0,
            recorded_s=each.recorded,
            share_of_time=each.recorded / view.seconds if view.seconds else 0.0,
            measure=each.measure,
        )
        for each in lacking
    ]


def without_curve(view: View, lacking: list[Unknown]) -> str:
    """That there is no figure for want of curves; empty if enough is known."""
    if little_in_mpi(view) or sum(each.share_of_time for each in lacking) <= UNKNOWN:
        return ""
    many = sum(each.calls for each in lacking)
    seconds = sum(each.recorded_s for each in lacking)
    return (
        f"{plural(many, 'call')} with {format_share(seconds, view.seconds)} of the time in MPI "
        "have no curve in the profile"
    )


def little_in_mpi(view: View) -> bool:
    """Whether what is in MPI does not change the figure."""
    in_mpi = view.seconds / max(len(view.record.ranks), 1)
    return view.record.wall_s > 0 and in_mpi < MPI_COUNTS * view.record.wall_s


def _why_not(view: View, lacking: list[Unknown], waiting: float) -> str:
    """Why a table has no figure for the program; empty if it has."""
    if little_in_mpi(view):
        return ""
    if not view.record.keys:
        return "the record has no calls"
    if why := without_curve(view, lacking):
        return why
    if waiting > WAITING:
        return (
            f"{100 * min(waiting, 1.0):.0f} % of the time in MPI is waiting for others or "
            "imbalance, and not transfer: a table cannot tell how it changes; predict by sequence, "
            "or even out the work first"
        )
    return ""


def _differs(found: FoundProfile) -> list[str]:
    if found.same:
        return []
    why = found.difference or "its signature does not tell"
    return [
        f"the profile is not of the machine of the record ({why}): computing and calls without a "
        "curve are as recorded there"
    ]
