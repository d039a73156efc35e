"""The form `haichi.prediction/1`: what `haichi predict --json` prints.

Seconds are intervals, `low` to `high`. Of a part they are those of all ranks together.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from haichi.predict.span import Span


class Interval(BaseModel):
    """From the least to the most, in seconds unless a name says otherwise."""

    low: float = Field(description="Lower end.")
    high: float = Field(description="Upper end.")


def interval(span: Span) -> Interval:
    """As the form has it."""
    return Interval(low=span.low, high=span.high)


class PredictedPart(BaseModel):
    """Calls of one kind, of all ranks."""

    name: str = Field(description="The function; `messages` for all of point to point.")
    size: int | None = Field(description="Bytes as the record has them; null for several sizes.")
    where: str = Field(
        description="Placement classes of peers, ranks and nodes of the communicator, or `storage`."
    )
    calls: int = Field(description="Of all ranks.")
    seconds: Interval = Field(description="Of all ranks together.")
    recorded_s: float = Field(description="What the record has, waiting with it.")
    curve: str = Field(description="Of the profile: by which it was predicted.")


class Unknown(BaseModel):
    """Calls for which the profile has no curve."""

    name: str = Field(description="The function.")
    calls: int = Field(description="Of all ranks.")
    share_of_calls: float = Field(description="Of all calls of the record.")
    recorded_s: float = Field(description="What the record has, of all ranks.")
    share_of_time: float = Field(description="Of the time in MPI.")
    measure: str = Field(
        description="The measurement of `haichi measure` that would tell; or empty."
    )


class PredictedRank(BaseModel):
    """A rank."""

    rank: int = Field(description="Which.")
    compute_s: float = Field(description="Between calls, as recorded.")
    communication: Interval = Field(description="What its calls need, without waiting.")
    recorded_s: float = Field(description="In MPI, as recorded.")
    waiting_s: float = Field(description="Of `recorded_s`: what its calls do not need, at least.")


class Sensitivity(BaseModel):
    """How the time of the slowest rank changes with one placement class's numbers."""

    place: str = Field(description="`core`, `numa`, `node`, `network` or `storage`.")
    latencies: Interval = Field(
        description="How many latencies are one after the other: so many seconds a second of "
        "latency more."
    )
    latency_s: Interval = Field(
        description="What they take: half of it goes with half the latency."
    )
    bytes_s: Interval = Field(
        description="What the bytes take: half of it goes with twice the rate."
    )
    overhead_s: Interval = Field(description="What issuing and posting messages takes the rank.")
    added_latency_s: dict[str, Interval | None] = Field(
        description="Which latency more costs 1, 2 and 5 % of the time; null if none does."
    )


class Step(BaseModel):
    """What of the critical path one function has at one placement class."""

    what: str = Field(description="`compute`, or a function.")
    place: str | None = Field(None, description="Placement class of its messages.")
    seconds: float = Field(description="How long.")
    messages: int = Field(0, description="One after the other on the path.")
    bytes: int = Field(0, description="Of those.")


class Prediction(BaseModel):
    """What a recorded program would take on a machine."""

    model_config = ConfigDict(populate_by_name=True)

    form: Literal["haichi.prediction/1"] = Field(
        alias="schema", description="Name and major version of the form."
    )
    by: Literal["table", "sequence"] = Field(description="Which way.")
    record: str = Field(description="The file.")
    program: list[str] = Field(description="The command line.")
    ranks: int = Field(description="Of the job.")
    machine: str = Field(description="Name of the profile.")
    profile: str = Field(description="Its file.")
    same_machine: bool = Field(description="Whether the profile is of the machine of the record.")
    program_s: Interval | None = Field(
        description="From MPI_Init to MPI_Finalize; null where `why_not` says why."
    )
    why_not: str | None = Field(description="Why there is no `program_s`: a line.")
    recorded_s: float = Field(description="The same, as recorded.")
    changed: list[str] = Field(
        default_factory=list, description="What is different from the recorded run, a line each."
    )
    communication: Interval = Field(
        description="What the calls of the rank with most need, without waiting."
    )
    recorded_communication_s: float = Field(
        description="In MPI, as recorded, of that rank, waiting with it."
    )
    waiting_share: float = Field(
        description="Of the time in MPI: waiting and imbalance, by table as recorded and at least, "
        "by sequence as predicted."
    )
    parts: list[PredictedPart] = Field(description="By kind of calls, most time first.")
    unknown: list[Unknown] = Field(description="Without a curve, most time first.")
    by_rank: list[PredictedRank] = Field(description="In order of rank.")
    sensitivity: list[Sensitivity] | None = Field(None, description="With `--sensitivity`.")
    critical_path: list[Step] | None = Field(None, description="By sequence.")
    notes: list[str] = Field(description="What makes the figures less sure, in a line each.")
