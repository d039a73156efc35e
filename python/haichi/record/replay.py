"""The form `haichi.replay/1`: what `haichi replay --json` prints, a line. Seconds."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeInt

from haichi.report.model import Seconds
from haichi.report.placement import Form


class ReplayedTimes(Form):
    """What was recorded of calls that were made again, beside what passed then."""

    recorded_s: Seconds = Field(description="Of these calls and of computing before them.")
    recorded_mpi_s: Seconds = Field(description="The same in MPI.")
    replayed_s: Seconds = Field(description="What passed.")
    replayed_mpi_s: Seconds = Field(description="The same without what computing took.")
    calls: NonNegativeInt = Field(description="That were made.")


class ReplayedRank(ReplayedTimes):
    """A rank."""

    rank: NonNegativeInt = Field(description="Which.")


class Replay(Form):
    """A record's calls, made again."""

    form: Literal["haichi.replay/1"] = Field(
        alias="schema", description="Name and major version of the form."
    )
    record: str = Field(description="The file.")
    program: list[str] = Field(description="The command line that was recorded.")
    compute: Literal["busy", "idle", "none"] = Field(description="How computing was passed.")
    ranks: list[ReplayedRank] = Field(description="In order of rank.")
    slowest: ReplayedTimes = Field(
        description="The most of any rank, each figure by itself; `calls` of all together."
    )
    notes: list[str] = Field(description="What was left out, a line each.")
