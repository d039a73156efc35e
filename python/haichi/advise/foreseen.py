"""What another placement gains by the order of events: the program with its ranks where they were
and where they are to be, each on the same costs of the machine.

What the costs err by, both have alike. So the interval is not that of both times: it is that of
their ratio, over the low ends, the middle and the high ends of the costs, and wider by what the
engine errs by, or launches of which there are too few. Of what the recorded run took beyond its
costs nobody knows whether it stays or goes with the messages: the interval holds both.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from haichi.predict.basis import basis
from haichi.predict.by_sequence import Engine, at_end, not_told, runs, with_ends
from haichi.predict.changes import Changed, unchanged
from haichi.predict.curves import PING_PONG
from haichi.predict.machine import FoundProfile
from haichi.predict.model import interval
from haichi.predict.placed import placed
from haichi.predict.span import Span
from haichi.predict.stated import allowance, base_of
from haichi.predict.text import span
from haichi.record.read import Record
from haichi.report.load import ReportError
from haichi.report.placement import Placement

ENDS = ("middle", "low", "high")


@dataclass(frozen=True)
class Foreseen:
    """Two placements; seconds."""

    before: Span
    after: Span
    ratio: Span
    """Of the time after to that before."""
    notes: tuple[str, ...]

    def gain(self, recorded: float) -> Span:
        """Of a program that took so long; less than nothing where it loses."""
        return Span(recorded * (1 - self.ratio.high), recorded * (1 - self.ratio.low))


def foresee(record: Record, found: FoundProfile, there: Placement) -> Foreseen:
    """What the order of events tells.

    Raises:
        ReportError: it does not, or the engine failed; it says why.
    """
    if len(record.sequences) < record.head.ranks or any(
        line.cut for line in record.sequences.values()
    ):
        raise ReportError("the order of events is not recorded, or cut: haichi run --sequence")
    if len(there.nodes) > 1 and not any(
        each.name == PING_PONG and each.place == "network" for each in found.profile.curves
    ):
        raise ReportError("the profile has no curve of messages between nodes")
    ways = (unchanged(record), Changed(placed(record, there), record, ("placement",)))
    profiles = [at_end(with_ends(found.profile), end) for end in ENDS]
    with tempfile.TemporaryDirectory(prefix="haichi-advise-") as folder:
        engines = [runs(changed, Path(folder)) for changed in ways]
        before, after = ([run(profile) for profile in profiles] for run in engines)
    for changed, engine in zip(ways, (before[0], after[0]), strict=True):
        if why := not_told(changed, engine)[1]:
            raise ReportError(why)
    allowed = allowance(basis(found.profile, record))
    ratios = [b.total_s / a.total_s for a, b in zip(before, after, strict=True) if a.total_s > 0]
    if not ratios:
        raise ReportError("the program takes no time")
    ratio = Span(min(ratios) * (1 - allowed), max(ratios) * (1 + allowed))
    notes = dict.fromkeys(note for each in (before[0], after[0]) for note in each.notes)
    if found.same:
        costs = _span(before)
        base = base_of(record, interval(costs))
        ratio = Span(ratio.low / base.longer, ratio.high / base.shorter)
        if base.longer > 1 + allowed or base.shorter < 1 - allowed:
            notes[
                f"as it was recorded it costs {span(interval(costs))}: the rest may stay or go"
            ] = None
    return Foreseen(_span(before), _span(after), ratio, tuple(notes))


def _span(made: list[Engine]) -> Span:
    return Span(min(each.total_s for each in made), max(each.total_s for each in made))
