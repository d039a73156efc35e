"""The form `haichi.record/1`: JSON lines that tell what a program did with MPI, told apart by their
field `kind`.

One file a job. Times are seconds, sizes bytes, ranks those of MPI_COMM_WORLD. Without its last line
(`end`) the file is cut off. Written by src/record/.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, NonNegativeInt, PositiveInt, model_validator

from haichi.report.model import Seconds
from haichi.report.placement import Form, Placement

FORM = "haichi.record/1"


class RecordedMachine(Form):
    """On what the program ran, as a profile's signature has it."""

    library: str | None = Field(
        None, description="First line of what MPI_Get_library_version says."
    )
    processor: str | None = Field(None, description="Model.")
    cores: NonNegativeInt | None = Field(None, description="Of a node.")
    node_names: list[str] | None = Field(None, description="Of the job.")


class RecordHead(Form):
    """The first line: which program, where, and what was recorded of it."""

    kind: Literal["record"] = Field(description="What the line is.")
    form: Literal["haichi.record/1"] = Field(
        alias="schema", description="Name and major version of the form."
    )
    by: str = Field("", description="Program and version that recorded.")
    started: str = Field("", description="UTC, ISO 8601.")
    program: list[str] = Field(default_factory=list, description="The command line of rank 0.")
    abi: str = Field("", description="Of the MPI: `mpich`, `openmpi` or `mpiabi`.")
    ranks: PositiveInt = Field(description="Of MPI_COMM_WORLD.")
    placement: Placement | None = Field(None, description="Which rank was on which node.")
    signature: RecordedMachine | None = Field(None, description="Of the machine.")
    sync: bool = Field(
        False, description="Whether collectives had a barrier before them, so waiting is apart."
    )
    sequence: bool = Field(False, description="Whether the order of events was recorded, too.")


class Cart(Form):
    """The grid of a communicator."""

    dims: list[PositiveInt] = Field(description="Ranks in each direction.")
    periods: list[bool] = Field(
        default_factory=list, description="Whether it closes in each direction."
    )


class Communicator(Form):
    """A communicator that calls were made on."""

    kind: Literal["communicator"] = Field(description="What the line is.")
    id: NonNegativeInt = Field(description="By which calls name it.")
    name: str | None = Field(None, description="As MPI_Comm_get_name has it.")
    members: str = Field(description="Its ranks, in the order of the communicator: `0-3,8`.")
    remote: str | None = Field(None, description="Of an intercommunicator the other group.")
    cart: Cart | None = Field(None, description="Its grid, if it is one.")
    graph: bool = Field(False, description="Whether it is a graph.")


class RecordedFile(Form):
    """A file that was opened by MPI."""

    kind: Literal["file"] = Field(description="What the line is.")
    id: NonNegativeInt = Field(description="By which calls name it.")
    name: str = Field(description="As the program gave it.")


class Site(Form):
    """A place of the program from which MPI was called."""

    kind: Literal["site"] = Field(description="What the line is.")
    id: NonNegativeInt = Field(description="By which calls name it.")
    object: str = Field(description="Program or library that holds it.")
    offset: NonNegativeInt = Field(description="Return address, relative to where that begins.")


class RankLine(Form):
    """A rank as a whole, from the end of MPI_Init to the begin of MPI_Finalize."""

    kind: Literal["rank"] = Field(description="What the line is.")
    rank: NonNegativeInt = Field(description="Which.")
    wall_s: Seconds = Field(description="From MPI_Init to MPI_Finalize.")
    mpi_s: Seconds = Field(0.0, description="In calls of MPI.")
    compute_s: Seconds = Field(0.0, description="Between calls.")
    cpu_s: Seconds | None = Field(None, description="Of the processor, all threads.")
    calls: NonNegativeInt = Field(0, description="Calls of MPI.")
    finalized: bool = Field(True, description="Whether it came to MPI_Finalize.")
    full: bool = Field(False, description="Whether there were more kinds of calls than room.")
    calls_without_key: NonNegativeInt = Field(
        0, description="Calls that are in the sums of the rank only, as there was no room."
    )


class Histogram(Form):
    """Times of calls: bucket b has those of 2^(b/4) to 2^((b+1)/4) nanoseconds."""

    first: NonNegativeInt = Field(description="The bucket of `counts[0]`.")
    counts: list[NonNegativeInt] = Field(description="Calls in each bucket.")


class RecordedCall(Form):
    """All calls of one kind: same function, size, datatype, communicator, distance and place of the
    program."""

    kind: Literal["call"] = Field(description="What the line is.")
    ranks: str = Field(description="Of whom: `0-3,8`. Each has all numbers of the line.")
    function: str = Field(description="Such as `MPI_Send`; large-count forms end in `_c`.")
    for_: str | None = Field(
        None,
        alias="for",
        description="Of a call that completed requests: the function that began them; `mixed` if "
        "several did.",
    )
    bytes: NonNegativeInt | None = Field(
        None,
        description="Of the message or access; of the buffer (Bcast, Reduce, Allreduce, Scan); to "
        "each rank (Alltoall, Allgather, Gather, Scatter); all that the rank sends (v-forms).",
    )
    type: str | None = Field(
        None, description="Shape of the datatype: `contiguous`, `regular` or `irregular`."
    )
    comm: int | None = Field(None, description="Id of the communicator.")
    place: str | None = Field(
        None,
        description="How near the peer is: `self`, `core`, `numa`, `node` or `network`; absent of "
        "calls without one peer.",
    )
    first_use: bool = Field(False, description="Whether the buffer was used for the first time.")
    file: int | None = Field(None, description="Id of the file.")
    view: str | None = Field(None, description="Class of the file's view.")
    site: int | None = Field(None, description="Id of the place of the program.")
    count: PositiveInt = Field(description="Calls of each rank.")
    first_s: Seconds = Field(0.0, description="What the first call took.")
    total_s: Seconds = Field(description="What all calls of one rank took.")
    least_s: Seconds = Field(0.0, description="What the shortest took.")
    most_s: Seconds = Field(0.0, description="What the longest took.")
    wait_s: Seconds = Field(
        0.0,
        description="Of `total_s`: in the barrier before a collective call, or until the message "
        "of a receive was there (`--sync`).",
    )
    histogram: Histogram | None = Field(None, description="Of the times.")


class TrafficLine(Form):
    """What a rank sent to whom."""

    kind: Literal["traffic"] = Field(description="What the line is.")
    rank: NonNegativeInt = Field(description="Who sent, or accessed the others' memory.")
    way: str = Field("message", description="`message` or `one-sided`.")
    to: list[NonNegativeInt] = Field(description="The others.")
    messages: list[NonNegativeInt] = Field(description="To each.")
    bytes: list[NonNegativeInt] = Field(description="To each.")

    @model_validator(mode="after")
    def _parallel(self) -> TrafficLine:
        if not len(self.to) == len(self.messages) == len(self.bytes):
            raise ValueError("to, messages and bytes differ in length")
        return self


class SequenceEvent(Form):
    """A call in the sequence of a rank."""

    call: str = Field(description="The function.")
    bytes: NonNegativeInt | None = Field(None, description="As of a call.")
    comm: int | None = Field(None, description="Id of the communicator.")
    peer: int | Literal["any"] | None = Field(
        None, description="Rank; `any` for a source not known; absent if there is none."
    )
    tag: int | Literal["any"] | None = Field(
        None, description="Of the message; 0 if absent, `any` for a tag not known."
    )
    root: int | None = Field(None, description="Rank.")
    request: NonNegativeInt | None = Field(None, description="Slot of the request that began.")
    completes: list[NonNegativeInt] | None = Field(None, description="Slots that ended.")
    from_: int | Literal["any"] | None = Field(
        None, alias="from", description="Of Sendrecv: the source."
    )
    from_bytes: NonNegativeInt | None = Field(None, description="Of Sendrecv: received.")
    from_tag: int | Literal["any"] | None = Field(None, description="Of Sendrecv: its tag.")
    received: NonNegativeInt | None = Field(None, description="Of v-forms: received.")
    file: int | None = Field(None, description="Id of the file.")
    window: int | None = Field(None, description="Number of the window.")
    compute_s: Seconds = Field(0.0, description="Before the call; mean of all times it came.")
    compute_most_s: Seconds | None = Field(None, description="Before the call, at most.")
    took_s: Seconds = Field(0.0, description="The call; mean of all times it came.")


class SequenceLine(Form):
    """The order of a rank's calls, loops folded."""

    kind: Literal["sequence"] = Field(description="What the line is.")
    rank: NonNegativeInt = Field(description="Whose.")
    cut: bool = Field(False, description="Whether the end is missing, as there was no room.")
    events: list[SequenceEvent] = Field(description="Each different call.")
    program: list[int | list[object]] = Field(
        description="Numbers of events, and loops: `[times, [body]]`, whose body is such a list."
    )


class RecordEnd(Form):
    """The last line."""

    kind: Literal["end"] = Field(description="What the line is.")
    ranks: NonNegativeInt | None = Field(None, description="That wrote.")
    calls: NonNegativeInt | None = Field(None, description="Of all of them.")


Line = (
    Communicator
    | RecordedFile
    | Site
    | RankLine
    | RecordedCall
    | TrafficLine
    | SequenceLine
    | RecordEnd
)


class Recorded(BaseModel):
    """A record: its first line, and all others in their order."""

    head: RecordHead = Field(description="The first line.")
    records: list[Line] = Field(description="All others.")
