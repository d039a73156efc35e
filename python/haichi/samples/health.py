"""The form `haichi.health/1`: what `haichi measure --health --out FILE` found out about the nodes
and links of a job.

Times are seconds, sizes bytes, shares of 1. A member is a node, or a rank where there is one node
only; links are numbered by members. The file is written by src/measure/health_record.cpp.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, NonNegativeInt

AspectName = Literal["bandwidth", "latency", "compute", "copy"]


class HealthFinding(BaseModel):
    """One thing that is slower than its peers."""

    of: Literal["member", "link", "rank"] = Field(description="What it is.")
    aspect: AspectName = Field(description="In what.")
    member: int | None = Field(None, description="The slow member.")
    rank: int | None = Field(None, description="The slow rank.")
    from_: int | None = Field(
        None, alias="from", description="The member that a slow link is from."
    )
    to: int | None = Field(None, description="The member that it leads to.")
    sends: bool | None = Field(None, description="Whether what a member sends is slow.")
    receives: bool | None = Field(None, description="Whether what it receives is.")
    factor: float = Field(description="Its time over its peers'.")
    seen: int = Field(description="In how many of the visits.")
    distances: list[int] = Field(description="Of the shifts that show it; empty for own speed.")
    text: str = Field(description="All of this in a sentence.")


class HealthComparison(BaseModel):
    """How the units of one comparison stood."""

    aspect: AspectName = Field(description="What was compared.")
    units: Literal["sending", "receiving", "links", "members", "ranks"] = Field(
        description="Members by what they send or receive, single links, members or ranks by their "
        "own speed."
    )
    spread: float = Field(description="Between units: 1.48 times the MAD, as a share.")
    noise: float = Field(description="The same of the median unit between visits.")
    slowest: float = Field(description="Time of the slowest unit over that of the median one.")


class LinkTime(BaseModel):
    """One way of one pair of members."""

    from_: int = Field(alias="from", description="The sending member.")
    to: int = Field(description="The receiving member.")
    distance: int = Field(description="Of the shift.")
    seconds: float = Field(description="Median of the visits.")


class HealthAspect(BaseModel):
    """One thing that was measured of every link or rank."""

    name: AspectName = Field(description="What.")
    bytes: NonNegativeInt = Field(description="Of a message, or copied; 0 for computing.")
    limit: float = Field(description="Nothing is called slow by less than this share.")
    median: float = Field(description="Seconds, of all units and visits.")
    links: list[LinkTime] = Field(description="Empty for own speed.")
    ranks: list[float] = Field(description="Median seconds of each rank; empty for links.")


class Health(BaseModel):
    """What was compared, and what was found."""

    schema_: Literal["haichi.health/1"] = Field(
        alias="schema", description="Name and major version of the form."
    )
    verdict: Literal["fine", "slow"] = Field(description="`slow` if there is a finding.")
    members: Literal["nodes", "ranks"] = Field(description="What was compared.")
    names: list[str] = Field(description="Of the members.")
    member_of_rank: list[int] = Field(description="Which member each rank is, or is on.")
    visits: int = Field(description="How often each shift was made.")
    seconds: float = Field(description="That it took.")
    findings: list[HealthFinding] = Field(description="What is slow.")
    compared: list[HealthComparison] = Field(description="How all stood.")
    aspects: list[HealthAspect] = Field(description="What was measured.")
    haichi: str = Field(description="Version.")
    started: str = Field(description="UTC, ISO 8601.")
    library: str = Field(description="First line of what MPI_Get_library_version says.")
    oversubscribed: bool = Field(description="Whether a node has more ranks than cores for them.")
