"""The interval that is stated for a program, of what its calls cost by a machine's curves.

Curves tell no first touch and no connection that is made, and launches differ. What the record
itself shows of that is used where the profile is of its machine: the run as it was recorded is one
that the interval has to hold, and a run that is to be different errs at least as the same
prediction errs for the recorded one. Where that is much, there is no figure.

Time in which a rank that computes has no processor is in no call and no computing, and another run
may have none of it, or twice as much.
"""

from __future__ import annotations

from dataclasses import dataclass

from haichi.predict.basis import Basis
from haichi.predict.machine import FoundProfile
from haichi.predict.model import Interval
from haichi.record.read import Record
from haichi.units import format_seconds, plural

FEW_LAUNCHES = 3  # below, nothing tells how far launches are apart:
APART = 0.10  # so much is allowed for that, each way
MODEL = 0.02  # else what the engine itself errs by (docs/guide/predict-sequence.md, Against SMPI)
WIDEST = 0.5  # of its middle, half of an interval: beyond, it tells nothing
MISSES = 0.25  # of the time: who errs by more of the recorded run, tells nothing of another


@dataclass(frozen=True)
class Base:
    """The run as it was recorded."""

    recorded_s: float
    costs: Interval
    """What is predicted of it by costs alone."""
    lost_s: float = 0.0
    """Of `recorded_s`: what a rank had no processor for, at most."""

    @property
    def _took(self) -> float:
        return self.recorded_s - self.lost_s

    @property
    def longer(self) -> float:
        """How many times longer it took than it should at most; 1 if it did not."""
        return max(self._took / self.costs.high, 1.0) if self.costs.high > 0 else 1.0

    @property
    def shorter(self) -> float:
        """Which part it took of what it should at least; 1 if it did not take less."""
        return min(self._took / self.costs.low, 1.0) if self.costs.low > 0 else 1.0


def base_of(record: Record, costs: Interval) -> Base:
    """A record's run, of which that is predicted."""
    lost = (line.wall_s - line.mpi_s - line.compute_s for line in record.ranks.values())
    return Base(record.wall_s, costs, max(0.0, max(lost, default=0.0)))


def stated(costs: Interval, basis: Basis, base: Base | None) -> Interval:
    """What is stated of costs: with what the recorded run differs by from its own, if that is
    known, and with what launches and the model differ by."""
    low, high = costs.low, costs.high
    if base:
        low, high = low * base.shorter, high * base.longer + 2 * base.lost_s
    allowed = allowance(basis)
    return Interval(low=low * (1 - allowed), high=high * (1 + allowed))


def allowance(basis: Basis) -> float:
    """What is allowed each way for what launches and the model differ by."""
    return APART if basis.launches < FEW_LAUNCHES else MODEL


def few_launches(found: FoundProfile, basis: Basis) -> list[str]:
    """That much is allowed, and what to measure; nothing if launches are enough."""
    if basis.launches >= FEW_LAUNCHES:
        return []
    which = f"{basis.curve} of {found.profile.name}" if basis.curve else found.profile.name
    return [
        f"{which} rests on {plural(basis.launches, 'launch', 'launches')}: {APART:.0%} each way "
        f"are allowed for what launches differ by; measure {FEW_LAUNCHES}"
    ]


def misses(base: Base | None, by: str, instead: str) -> str:
    """Why there is no figure, as the prediction of the recorded run itself is far off; empty if it
    is not, or nothing tells."""
    if base is None or (base.longer <= 1 + MISSES and base.shorter >= 1 - MISSES):
        return ""
    size = f"{format_seconds(base.costs.low)} to {format_seconds(base.costs.high)}"
    return (
        f"{by} the run that was recorded takes {size}, and it took "
        f"{format_seconds(base.recorded_s - base.lost_s)}: {instead}"
    )


def too_wide(made: Interval, instead: str) -> str:
    """Why there is no figure, as it could be anything; empty if it is one."""
    if made.high - made.low <= WIDEST * (made.high + made.low):
        return ""
    return f"it would be from {format_seconds(made.low)} to {format_seconds(made.high)}: {instead}"
