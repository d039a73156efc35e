"""The form `haichi.usage/1`: what `haichi record --json` prints, the sums of a record."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from haichi.record.view import Sum, View
from haichi.units import printable


class Used(BaseModel):
    """Calls that belong together, of all ranks."""

    name: str = Field(description="The function, or where it is called from and the function.")
    calls: int = Field(description="Of all ranks.")
    bytes: int = Field(description="Calls times bytes, as the record counts the function's bytes.")
    size: int | None = Field(None, description="Bytes of each call, where they are of one size.")
    seconds: float = Field(description="Of all ranks together.")
    share: float = Field(description="Of the time in MPI.")
    least_s: float = Field(description="If each call had taken what the shortest of its kind took.")
    waiting_s: float = Field(description="Of `seconds` at least so much was waiting for others.")
    slowest_rank: int = Field(description="Which spent most.")
    slowest_s: float = Field(description="What that rank spent.")
    handled: bool = Field(description="Whether haichi can take part in such calls.")


class RankUse(BaseModel):
    """A rank as a whole."""

    rank: int = Field(description="Which.")
    node: int = Field(description="Index of its node.")
    wall_s: float = Field(description="From MPI_Init to MPI_Finalize.")
    mpi_s: float = Field(description="In calls of MPI.")
    compute_s: float = Field(description="Between calls.")


class Usage(BaseModel):
    """What a program did with MPI."""

    model_config = ConfigDict(populate_by_name=True)

    form: Literal["haichi.usage/1"] = Field(
        alias="schema", description="Name and major version of the form."
    )
    record: str = Field(description="The file.")
    program: list[str] = Field(description="The command line.")
    ranks: int = Field(description="Of the job.")
    node_names: list[str] = Field(description="Of the job.")
    wall_s: float = Field(description="Of the longest rank.")
    mpi_s: float = Field(description="In MPI, of all ranks.")
    calls: int = Field(description="Of all ranks.")
    waiting_s: float = Field(description="Of `mpi_s` at least so much was waiting in collectives.")
    compute_mean_s: float = Field(description="Between calls, mean of the ranks.")
    compute_most_s: float = Field(description="Between calls, of the rank with most.")
    handled_calls: int = Field(description="Calls that haichi can take part in.")
    handled_s: float = Field(description="Seconds of those.")
    functions: list[Used] = Field(description="By function, most time first.")
    sizes: list[Used] = Field(description="By function and size, most time first.")
    places: list[Used] = Field(description="By place of the program, most time first.")
    by_rank: list[RankUse] = Field(description="In order of rank.")
    node_bytes: list[list[int]] = Field(description="`node_bytes[from][to]`.")
    notes: list[str] = Field(description="What is missing or does not agree.")


def usage(view: View) -> Usage:
    """The sums of a record in the form that is printed."""
    record = view.record
    mean, most, _ = view.compute_spread
    calls, seconds = view.handled
    return Usage(
        form="haichi.usage/1",
        record=printable(str(record.path)),
        program=record.head.program,
        ranks=record.head.ranks,
        node_names=record.node_names,
        wall_s=record.wall_s,
        mpi_s=view.seconds,
        calls=view.calls,
        waiting_s=view.waiting,
        compute_mean_s=mean,
        compute_most_s=most,
        handled_calls=calls,
        handled_s=seconds,
        functions=[_used(view, each) for each in view.functions],
        sizes=[_used(view, each, size) for each, size in view.sizes],
        places=[_used(view, each) for each in view.places],
        by_rank=[
            RankUse(
                rank=rank,
                node=record.node_of_rank[rank],
                wall_s=line.wall_s,
                mpi_s=line.mpi_s,
                compute_s=line.compute_s,
            )
            for rank, line in sorted(record.ranks.items())
        ],
        node_bytes=[[int(size) for size in row] for row in view.nodes],
        notes=view.notes,
    )


def _used(view: View, each: Sum, size: int | None = None) -> Used:
    rank, most = each.most
    return Used(
        name=each.name,
        calls=each.calls,
        bytes=each.bytes,
        size=size,
        seconds=each.seconds,
        share=each.seconds / view.seconds if view.seconds > 0 else 0.0,
        least_s=each.least,
        waiting_s=each.waiting,
        slowest_rank=rank,
        slowest_s=most,
        handled=each.handled,
    )
