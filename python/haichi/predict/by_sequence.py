"""Prediction by sequence: the events of a record in the order in which they came, as the native
engine carries them out on a machine's costs (`haichi predict-sequence`).

The engine takes the interval from the curves' ends. Here they are made of all that the profile has
of a curve, as for a table: its points' ends, its line, and what was measured hot and cold.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from haichi_processes import runner
from pydantic import BaseModel, Field, ValidationError

from haichi.fit.model import CollectiveCurve, PlaceCurve, Profile
from haichi.fit.profile import text_of
from haichi.paths import program
from haichi.predict.basis import basis
from haichi.predict.by_table import unknown, without_curve
from haichi.predict.changes import Changed, unchanged
from haichi.predict.curves import Curves
from haichi.predict.kinds import MESSAGES, kind_of, measurement
from haichi.predict.machine import FoundProfile
from haichi.predict.model import (
    Interval,
    PredictedRank,
    Prediction,
    Sensitivity,
    Step,
    Unknown,
)
from haichi.predict.sensitivity import COSTS
from haichi.predict.stated import base_of, few_launches, misses, stated, too_wide
from haichi.predict.table import Lacking
from haichi.record.handled import handles
from haichi.record.read import Record, plain_name
from haichi.record.sites import Named
from haichi.record.view import View
from haichi.record.write import text_of_sequences
from haichi.report.load import ReportError, first_problem
from haichi.units import printable

ENGINE = "predict-sequence"
SECONDS = 1800.0
TRIALS = 8  # runs of the engine to find the latency that costs so much
CLOSE = 0.01  # of what it should cost


class EngineRank(BaseModel):
    """A rank, as the engine prints it."""

    rank: int
    total_s: float
    compute_s: float = 0.0
    waiting_s: float = 0.0
    transfer_s: float = 0.0


class EngineFunction(BaseModel):
    """A function, as the engine prints it."""

    function: str
    by_numbers: bool = False
    """Neither it nor some of its messages were measured: the machine's numbers alone tell."""


class Engine(BaseModel):
    """What the engine prints."""

    total_s: float
    low_s: float | None = None
    high_s: float | None = None
    complete: bool = True
    problems: list[str] = Field(default_factory=list)
    ranks: list[EngineRank] = Field(default_factory=list)
    functions: list[EngineFunction] = Field(default_factory=list)
    critical_path: list[Step] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @property
    def interval(self) -> Interval:
        """Of the whole."""
        low = self.total_s if self.low_s is None else min(self.low_s, self.total_s)
        high = self.total_s if self.high_s is None else max(self.high_s, self.total_s)
        return Interval(low=low, high=high)


@dataclass(frozen=True)
class Runs:
    """Runs the engine on one record."""

    record: Path
    folder: Path
    words: tuple[str, ...] = ()
    """Further options of the engine."""

    def __call__(self, profile: Profile) -> Engine:
        """By a profile.

        Raises:
            ReportError: the engine failed; it says why.
        """
        path = self.folder / "machine.json"
        path.write_text(text_of(profile), "utf-8")
        engine = program("haichi")
        if not engine.exists():
            raise ReportError("the sequence engine is not built: ./haichi build")
        words: list[str | Path] = [engine, ENGINE, self.record, "--machine", path, "--json"]
        words += self.words
        done = runner.run(words, timeout=SECONDS)
        if done.code != 0:
            raise ReportError(f"by sequence: {done.last_error or done.how}")
        try:
            return Engine.model_validate_json(done.out)
        except ValidationError as error:
            raise ReportError(
                f"by sequence: what the engine printed cannot be read: {first_problem(error)}"
            ) from None


def runs(changed: Changed, folder: Path) -> Runs:
    """The engine on what is wanted; a job of other ranks is a record of its own."""
    record, words = changed.record, []
    path = changed.was.path.absolute()
    if record.head.ranks != changed.was.head.ranks:
        path = folder / "record.jsonl"
        path.write_text(text_of_sequences(record), "utf-8")
    elif record is not changed.was and record.head.placement is not None:
        there = folder / "placement.json"
        there.write_text(record.head.placement.model_dump_json(by_alias=True, exclude_none=True))
        words += ["--placement", str(there)]
    if changed.algorithm:
        words += ["--algorithm", changed.algorithm]
    return Runs(path, folder, tuple(words))


def _of_recorded(
    was: Record, found: FoundProfile, home: FoundProfile, run: Runs, made: Engine
) -> Interval:
    """What the recorded run costs by the profile of its own machine; as it was made already, if it
    was the same run that the engine was asked for."""
    as_it_was = runs(unchanged(was), run.folder)
    if home is found and as_it_was == run:
        return made.interval
    return as_it_was(with_ends(home.profile)).interval


def predict(
    changed: Changed,
    found: FoundProfile,
    *,
    own: FoundProfile | None = None,
    sensitivity: bool = False,
) -> Prediction:
    """What the events of a record take on a machine.

    Args:
        own: the profile of the record's machine, where `found` is of another one: what it errs by
            of the recorded run is allowed for.
        sensitivity: whether it is told, which needs many runs of the engine.

    Raises:
        ReportError: the record has no events, or the engine failed; it says why.
    """
    record, was = changed.record, changed.was
    missing = [rank for rank in range(record.head.ranks) if rank not in record.sequences]
    if missing:
        raise ReportError(
            f"{printable(str(record.path))}: has no sequence of events of rank {missing[0]}; "
            "record it with haichi run --record --sequence, or predict by table"
        )
    with tempfile.TemporaryDirectory(prefix="haichi-predict-") as folder:
        run = runs(changed, Path(folder))
        profile = with_ends(found.profile)
        made = run(profile)
        ends = [run(at_end(profile, end)) for end in ("low", "high")]
        base = None
        if home := found if found.same else own:
            base = base_of(was, _of_recorded(was, found, home, run, made))
        of = _sensitivity(run, profile, made) if sensitivity and made.complete else None
    waiting = sum(each.waiting_s for each in made.ranks)
    in_mpi = sum(each.total_s - each.compute_s for each in made.ranks)
    transfers = _transfers([made, *ends])
    cut = [rank for rank, line in record.sequences.items() if line.cut]
    notes = [*record.notes, *made.notes]
    if cut:
        notes.append(f"the sequence of rank {cut[0]} is cut: what follows is not in the figure")
    on = basis(found.profile, record)
    notes += [*on.notes, *few_launches(found, on)]
    lacking, why_not = not_told(changed, made)
    instead = "what makes that difference is not in its order of calls"
    why_not = why_not or misses(base, "by sequence", instead)
    told = stated(made.interval, on, base)
    why_not = why_not or too_wide(
        told, "the machine was busy when its profile or the record was made; measure again"
    )
    return Prediction(
        form="haichi.prediction/1",
        by="sequence",
        record=printable(str(record.path)),
        program=record.head.program,
        ranks=record.head.ranks,
        machine=found.profile.name,
        profile=printable(str(found.path)),
        same_machine=found.same,
        program_s=None if why_not else told,
        why_not=printable(why_not) or None,
        recorded_s=was.wall_s,
        changed=list(changed.lines),
        communication=max(
            transfers.values(), key=lambda each: each.high, default=Interval(low=0.0, high=0.0)
        ),
        recorded_communication_s=max((line.mpi_s for line in record.ranks.values()), default=0.0),
        waiting_share=waiting / in_mpi if in_mpi > 0 else 0.0,
        parts=[],
        unknown=lacking,
        by_rank=[
            PredictedRank(
                rank=each.rank,
                compute_s=each.compute_s,
                communication=transfers[each.rank],
                recorded_s=record.ranks[each.rank].mpi_s if each.rank in record.ranks else 0.0,
                waiting_s=each.waiting_s,
            )
            for each in made.ranks
        ],
        sensitivity=of,
        critical_path=made.critical_path,
        notes=notes,
    )


def not_told(changed: Changed, made: Engine) -> tuple[list[Unknown], str]:
    """Calls of which the engine knows neither what they take nor what their messages do, and why
    there is no figure for the program; empty if there is one."""
    record = changed.record
    names = {plain_name(each.function) for each in made.functions if each.by_numbers}
    if changed.without_haichi:
        # The engine takes them as they were recorded, which was with haichi.
        names |= {key.name for key in record.keys if key.name.startswith("File_")
                  and handles(key.name)}  # fmt: skip
    view = View(record, Named())
    lacking = unknown(view, _lacking(record, names))
    if not made.complete:
        return lacking, f"the ranks' sequences do not fit together: {'; '.join(made.problems)}"
    return lacking, without_curve(view, lacking)


def _lacking(record: Record, names: set[str]) -> list[Lacking]:
    """Calls that no curve told the engine of, with the waiting for what they began."""
    found: dict[str, Lacking] = {}
    for key in record.keys:
        begun = plain_name(key.call.for_) if key.call.for_ else ""
        name = begun or key.name
        if name not in names:
            continue
        message = kind_of(name) in MESSAGES
        each = found.setdefault(
            name, Lacking(name, measure="ping-pong" if message else measurement(name))
        )
        each.calls += 0 if begun else key.count
        each.recorded += key.total_s
    return sorted(found.values(), key=lambda each: -each.recorded)


def with_ends(profile: Profile) -> Profile:
    """The profile with one curve of each thing, whose ends hold all that it has of it."""
    curves = Curves(profile)
    pairs: dict[tuple[str, str], PlaceCurve] = {}
    jobs: dict[tuple[str, int, int], CollectiveCurve] = {}
    for curve in profile.curves:
        if (curve.name, curve.place) not in pairs:
            spans = [curves.pair((curve.name,), curve.place, size) for size in curve.bytes]
            ends = [each.span for each in spans if each]
            low, high = [each.low for each in ends], [each.high for each in ends]
            made = curve.model_copy(update={"low": low, "high": high})
            pairs[curve.name, curve.place] = made
    for each in profile.collectives:
        shape = (each.name, each.ranks, each.nodes)
        if shape not in jobs:
            found = [curves.job(*shape, size) for size in each.bytes]
            ends = [one.span for one in found if one]
            low, high = [one.low for one in ends], [one.high for one in ends]
            jobs[shape] = each.model_copy(update={"low": low, "high": high})
    return profile.model_copy(
        update={"curves": list(pairs.values()), "collectives": list(jobs.values())}
    )


def at_end(profile: Profile, end: str) -> Profile:
    """The profile with all its times at their low or high ends, or in the middle. The engine runs
    once by it, and not for each end."""

    def moved(each: PlaceCurve | CollectiveCurve) -> dict[str, list[float] | None]:
        times = {"low": each.low, "high": each.high}.get(end)
        return {"seconds": times or each.seconds, "low": None, "high": None}

    return profile.model_copy(
        update={
            "curves": [each.model_copy(update=moved(each)) for each in profile.curves],
            "collectives": [each.model_copy(update=moved(each)) for each in profile.collectives],
        }
    )


def _transfers(runs: list[Engine]) -> dict[int, Interval]:
    """What each rank's calls take without waiting, over several runs."""
    found: dict[int, list[float]] = {}
    for made in runs:
        for each in made.ranks:
            found.setdefault(each.rank, []).append(each.transfer_s)
    return {rank: Interval(low=min(times), high=max(times)) for rank, times in found.items()}


def slower(profile: Profile, place: str, seconds: float) -> Profile:
    """The profile with so much more latency at a placement class: for a message once, for a
    collective as often as a tree of its ranks is deep."""

    def later(times: list[float] | None, more: float) -> list[float] | None:
        return None if times is None else [each + more for each in times]

    curves = []
    for curve in profile.curves:
        if curve.place == place:
            pieces = [
                piece.model_copy(update={"latency_s": piece.latency_s + seconds})
                for piece in curve.pieces
            ]
            ends = {
                name: later(getattr(curve, name), seconds) for name in ("seconds", "low", "high")
            }
            curve = curve.model_copy(update={**ends, "pieces": pieces})
        curves.append(curve)
    jobs = []
    for each in profile.collectives:
        if (each.nodes > 1) == (place == "network"):
            more = seconds * max(each.ranks - 1, 1).bit_length()
            ends = {name: later(getattr(each, name), more) for name in ("seconds", "low", "high")}
            each = each.model_copy(update=ends)
        jobs.append(each)
    return profile.model_copy(update={"curves": curves, "collectives": jobs})


def _sensitivity(run: Runs, profile: Profile, made: Engine) -> list[Sensitivity]:
    """Of each placement class on the critical path. What a latency more costs, the engine says:
    another path may be the longest then."""
    found = []
    curves = Curves(profile)
    middle = at_end(profile, "middle")
    for place in dict.fromkeys(step.place for step in made.critical_path if step.place):
        steps = [step for step in made.critical_path if step.place == place]
        many = sum(step.messages for step in steps)
        size = sum(step.bytes for step in steps)
        seconds = sum(step.seconds for step in steps)
        byte = curves.byte_s(place, size // many if many else 0) or 0.0
        in_bytes = min(byte * size, seconds)
        costs = {
            str(cost): _latency_that_costs(run, middle, place, made, cost / 100, many)
            for cost in COSTS
        }
        found.append(
            Sensitivity(
                place=place,
                latencies=Interval(low=many, high=many),
                latency_s=Interval(low=seconds - in_bytes, high=seconds - in_bytes),
                bytes_s=Interval(low=in_bytes, high=in_bytes),
                overhead_s=Interval(low=0.0, high=0.0),
                added_latency_s=costs,
            )
        )
    return found


def _latency_that_costs(
    run: Runs, profile: Profile, place: str, made: Engine, share: float, many: int
) -> Interval | None:
    """Between which two latencies more the program takes longer by a share, by the engine."""
    wanted = share * made.total_s
    if wanted <= 0:
        return None
    low, high, cost = 0.0, wanted / max(many, 1), 0.0
    # What is waited for may hide a latency at first: more of it then.
    for _ in range(TRIALS):
        cost = run(slower(profile, place, high)).total_s - made.total_s
        if cost >= wanted:
            break
        low, high = high, high * (2.0 if cost <= 0 else min(max(1.05 * wanted / cost, 1.05), 4.0))
    else:
        return None
    for _ in range(TRIALS):
        if cost - wanted <= CLOSE * wanted or high - low <= CLOSE * high:
            break
        middle = (low + high) / 2
        at_middle = run(slower(profile, place, middle)).total_s - made.total_s
        if at_middle >= wanted:
            high, cost = middle, at_middle
        else:
            low = middle
    return Interval(low=low, high=high)
