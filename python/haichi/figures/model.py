"""The form `haichi.measure/1`: what a measurement leaves, as pydantic models.

Times are seconds, sizes bytes. Raw samples are kept; medians and spreads are computed from them.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, Field, NonNegativeInt, computed_field

SCHEMA: Final = "haichi.measure/1"


class Samples(BaseModel):
    """Seconds of one operation, one per repetition, of the slowest rank each."""

    seconds: list[float] = Field(default_factory=list)

    @computed_field  # type: ignore[prop-decorator]  # as pydantic has it
    @property
    def median(self) -> float | None:
        """None without samples."""
        return statistics.median(self.seconds) if self.seconds else None

    @computed_field  # type: ignore[prop-decorator]  # as pydantic has it
    @property
    def spread(self) -> tuple[float, float] | None:
        """The smallest and the largest sample."""
        return (min(self.seconds), max(self.seconds)) if self.seconds else None


class Case(BaseModel):
    """One program under one MPI with one choice of settings."""

    mpi: str = Field(description="Name of the MPI, as `haichi lab run` has it.")
    library: str = Field(description="What the MPI library says of itself.")
    program: str = Field(description="What ran, in words.")
    ranks: int
    variant: str = Field(description="`stock`, or what of haichi was set.")
    settings: dict[str, str] = Field(description="HAICHI_* variables of the ranks.")
    limit_s: float | None = Field(
        None, description="What the busiest link needs for the bytes that must cross it."
    )
    operations: dict[str, Samples] = Field(default_factory=dict)
    problems: list[str] = Field(
        default_factory=list, description="Why the result is not valid; empty if it is."
    )
    notes: list[str] = Field(default_factory=list)

    def median(self, op: str) -> float | None:
        """Median seconds of `op`, None if it has no sample."""
        samples = self.operations.get(op)
        return samples.median if samples else None


class Claim(BaseModel):
    """A figure that was to be reached."""

    what: str
    ratio: float | None = Field(description="What was measured; None if a part of it is missing.")
    wanted: float
    direction: Literal["at least", "at most"] = "at least"

    @computed_field  # type: ignore[prop-decorator]  # as pydantic has it
    @property
    def reached(self) -> bool:
        """Whether the measured ratio is where it should be."""
        if self.ratio is None:
            return False
        return (
            self.ratio >= self.wanted
            if self.direction == "at least"
            else (self.ratio <= self.wanted)
        )


class Environment(BaseModel):
    """What the figures depend on besides the programs."""

    haichi: str
    kernel: str
    cores: int
    load_before: float
    load_after: float | None = None
    started: str
    place: str = Field(description="Where the ranks ran: nodes, rate of their links, file system.")
    yields: str = Field(description="How ranks that wait give their core away.")


class Measurement(BaseModel):
    """The whole of a measurement."""

    schema_: Literal["haichi.measure/1"] = Field(SCHEMA, alias="schema")
    what: str
    repetitions: NonNegativeInt
    environment: Environment
    cases: list[Case]
    claims: list[Claim] = Field(default_factory=list)
    reports: list[str] = Field(default_factory=list, description="Run reports (haichi.report/1).")
    page: str | None = Field(None, description="The HTML page of the run reports.")

    @property
    def valid(self) -> bool:
        """Whether every case ran and every byte was right."""
        return not any(case.problems for case in self.cases)

    def save(self, path: Path) -> None:
        """Writes the form as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.model_dump_json(by_alias=True, indent=1) + "\n")
