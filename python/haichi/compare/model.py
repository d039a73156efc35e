"""The form `haichi.comparison/1`: two sets of samples, point by point."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Verdict = Literal["slower", "faster", "same", "unclear", "one launch"]


class Side(BaseModel):
    """One of the sets."""

    files: list[str] = Field(description="Its samples files.")
    launches: int = Field(description="How many there are in them.")
    libraries: list[str] = Field(description="MPI libraries of these.")
    under: list[bool] = Field(description="Whether haichi was underneath, each answer once.")
    first: str = Field(description="When the first launch started, UTC.")
    last: str = Field(description="When the last launch started.")


class ComparedPoint(BaseModel):
    """A measurement at one placement class and size, in both sets. A launch is one value there, the
    median of its samples: those of one launch have too much in common."""

    name: str = Field(description="Of the measurement.")
    place: str = Field(description="Its placement class.")
    bytes: int = Field(description="0 where the measurement has no size.")
    a: float = Field(description="Median of A's launches, in seconds.")
    b: float = Field(description="Median of B's launches.")
    a_launches: int = Field(description="Launches of A that have the point.")
    b_launches: int = Field(description="Launches of B that have it.")
    far_out: int = Field(
        description="Launches of both that are left out of the ratio and the test, a tenth at "
        "most: they took twice the median of all launches or more."
    )
    speeds: int = Field(
        description="At how many speeds the launches of both ran, 15 % apart or more. If several, "
        "each launch is also held against those of its speed alone; what tells more counts, and p "
        "is twice as large for that."
    )
    ratio: float = Field(description="B ÷ A: the median of the ratios of all pairs of launches.")
    low: float | None = Field(
        description="The ratio's interval of 95 %; null if a set has one launch alone."
    )
    high: float | None = Field(description="The upper end of it.")
    superiority: float = Field(
        description="The size of the effect: share of pairs of launches in which B's is slower; "
        "0.5 where nothing differs."
    )
    p: float | None = Field(
        description="Of Mann and Whitney's test, two-sided; null if a set has one launch alone."
    )
    p_corrected: float | None = Field(
        description="The same, corrected for the number of points as Holm has it."
    )
    band: float = Field(description="A ratio between 1 ÷ (1 + this) and 1 + this counts as noise.")
    verdict: Verdict = Field(
        description="Of B. `slower`, `faster`: p_corrected is at most alpha, and the ratio is "
        "beyond the band. `same`: the interval is within it. `unclear`: neither."
    )


class Comparison(BaseModel):
    """What `haichi compare A B` finds."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    form: Literal["haichi.comparison/1"] = Field(
        "haichi.comparison/1", alias="schema", description="Name and major version of the form."
    )
    a: Side = Field(description="What is compared with.")
    b: Side = Field(description="What is compared.")
    alpha: float = Field(description="Share of comparisons without a difference that find one.")
    at_least: float = Field(description="Narrowest band.")
    noise: Side | None = Field(description="Runs in which nothing changed, if any were given.")
    points: list[ComparedPoint] = Field(description="In the order of A's files.")
    notes: list[str] = Field(description="What to know when reading the figures, a line each.")

    def of(self, verdict: Verdict) -> list[ComparedPoint]:
        """The points that have come to a verdict, the farthest from 1 first."""
        found = [point for point in self.points if point.verdict == verdict]
        return sorted(found, key=lambda point: -max(point.ratio, 1 / point.ratio))
