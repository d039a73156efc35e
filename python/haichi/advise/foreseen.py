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

from haichi.fit.model import Profile
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
from haichi.report.model import Placement

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
    elsewhere = Changed(placed(record, there), record, ("placement",))
    profile = with_ends(found.profile)
    with tempfile.TemporaryDirectory(prefix="haichi-advise-") as folder:
        before, after = (
            [_at(changed, Path(folder), profile, end) for end in ENDS]
            for changed in (unchanged(record), elsewhere)
        )
    for changed, engine in ((unchanged(record), before[0]), (elsewhere, after[0])):
        if why := not_told(changed, engine)[1]:
            raise ReportError(why)
    allowed = allowance(found)
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


def _at(changed: Changed, folder: Path, profile: Profile, end: str) -> Engine:
    return runs(changed, folder)(at_end(profile, end))


def _span(made: list[Engine]) -> Span:
    return Span(min(each.total_s for each in made), max(each.total_s for each in made))
