"""The form `haichi.decisions/1`: what trials decided, kept for the next run.

Written and read by `src/collectives/decisions.cpp`; `haichi export` reads it too.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from haichi.report.placement import Form


class Decision(Form):
    """The choice for calls of one kind."""

    collective: str = Field(
        description="Name of the MPI function, e.g. `MPI_Alltoall`; or of accesses to files, as in "
        "`haichi.report/1`."
    )
    size_bin: Annotated[int, Field(ge=0, le=62)] | None = Field(
        None,
        description="log2 of the bytes of a block from rank to rank, rounded down; of accesses to "
        "files, of a rank's. Absent where blocks differ in size.",
    )
    chosen: str = Field(description="The candidate, as in `haichi.report/1`.")
    seconds: float = Field(
        gt=0,
        allow_inf_nan=False,
        description="Time of a call when it was chosen, in seconds, mean over the ranks; of "
        "accesses to files, of the slowest rank.",
    )


class Decisions(Form):
    """What runs with one MPI library and one placement decided (`haichi.decisions/1`)."""

    form: Literal["haichi.decisions/1"] = Field(
        alias="schema", description="Name and major version of the form."
    )
    library: str = Field(description="First line of what MPI_Get_library_version says.")
    placement: str = Field(
        pattern=r"^[1-9]\d*-ranks-[1-9]\d*-nodes-",
        description="Ranks, nodes and a hash of who is together: "
        "`16-ranks-4-nodes-1f2e3d4c5b6a7988`.",
    )
    decisions: list[Decision] = Field(description="One for each kind of call.")

    def ranks_and_nodes(self) -> tuple[int, int]:
        """How many ranks on how many nodes they are for."""
        ranks, _, nodes, *_ = self.placement.split("-")
        return int(ranks), int(nodes)
