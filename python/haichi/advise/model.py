"""The form `haichi.advice/1`: what `haichi advise --json` prints."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from haichi.predict.model import Interval


class MappedBytes(BaseModel):
    """What goes between nodes with the ranks placed in one way."""

    between_nodes: int = Field(description="All nodes together, in bytes.")
    busiest_node: int = Field(description="In and out of the node with most of it, in bytes.")
    between_numa: int = Field(
        description="Between NUMA nodes of a node, in bytes; 0 where they are not known."
    )


class PlacementAdvice(BaseModel):
    """Where each rank belongs."""

    seats: list[int] = Field(
        description="Of each rank, the rank whose place of the recorded run it should have."
    )
    nodes: list[str] = Field(description="Of each rank, the name of its node then.")
    recorded: MappedBytes = Field(description="As the program ran.")
    advised: MappedBytes = Field(description="With these seats.")


class Advice(BaseModel):
    """One thing to change."""

    kind: Literal["placement", "program"] = Field(description="What is to be changed.")
    title: str = Field(description="What to do, in a line.")
    why: str = Field(description="What the record has that speaks for it.")
    recorded_s: float | None = Field(
        description="What that took, of the rank with most of it, in seconds; null if not known."
    )
    gain_s: Interval | None = Field(
        description="What it would take less, by the profile; null where that does not tell."
    )
    unknown: str = Field("", description="Why there is no gain; or empty.")
    paste: list[str] = Field(description="Lines to paste, with what each is for after a `#`.")


class AdviceList(BaseModel):
    """All advice on a record, what gains most first."""

    model_config = ConfigDict(serialize_by_alias=True)

    form: Literal["haichi.advice/1"] = Field(
        "haichi.advice/1", alias="schema", description="Name of the form."
    )
    program: list[str] = Field(description="The command line.")
    ranks: int = Field(description="Of MPI_COMM_WORLD.")
    recorded_s: float = Field(description="The program, from MPI_Init to MPI_Finalize.")
    machine: str = Field(description="The profile's name; or empty.")
    advice: list[Advice] = Field(description="What to change.")
    placement: PlacementAdvice | None = Field(
        description="Where each rank belongs; null if the record's placement is as good."
    )
    notes: list[str] = Field(description="What is missing or less sure, in a line each.")
