"""The form `haichi.report/1` as pydantic models.

These models, with the placement's (report/placement.py), are the one definition: the JSON Schemas
in `haichi/schema/` and `docs/guide/formats.md` are generated from them (`python -m haichi.schema`).

Within a major version a form only grows: unknown fields are kept and ignored, so an older haichi
reads what a newer one wrote. A change of meaning is a new major version, which is refused.

Units are bytes, and seconds where a field's name ends in `seconds` or `_s`, microseconds where it
ends in `_us`. Source: paper 000, Fig. 11 (the phases Read, Exchange and Write of every rank).
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import Field, NonNegativeInt, model_validator

from haichi.report.placement import Form, Placement

PhaseName = Literal["read", "exchange", "write", "agree"]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Micros = Annotated[float, Field(allow_inf_nan=False)]
Bytes = NonNegativeInt


class Program(Form):
    """The program that ran."""

    command: str = Field(description="Command line of rank 0.")
    ranks: int = Field(ge=1, description="Ranks of MPI_COMM_WORLD.")
    started: str = Field(
        description="When MPI_Init returned, UTC, ISO 8601; `simulated` of a simulated run."
    )
    wall_s: Seconds = Field(description="From MPI_Init to MPI_Finalize on rank 0, in seconds.")
    job: str | None = Field(None, description="Job id of the batch system, or null.")


class Mpi(Form):
    """The MPI library that the program used."""

    abi: str = Field(description="ABI of the shim: `mpich`, `openmpi` or `mpiabi`; or `simulated`.")
    library: str = Field(description="What MPI_Get_library_version says.")


class MachineUse(Form):
    """By which numbers of the machine the run was planned."""

    use: Literal["defaults", "named", "found"] = Field(
        description="`named` by the setting machine, or `found` by haichi; else `defaults`."
    )
    file: str | None = Field(None, description="The profile; absent with defaults.")
    name: str | None = Field(None, description="What it calls the machine; absent if nothing.")
    made: str | None = Field(None, description="When it was made, UTC; absent if it does not say.")
    why: str = Field(description="Why this one, or why none, in words.")


class SettingValue(Form):
    """One setting in force."""

    key: str = Field(description="Key, as in haichi.toml and `haichi config`.")
    value: str = Field(description="Value, in the notation a user would write.")
    source: str = Field(
        description="Where it came from: `default` or `environment` (also for `haichi.toml` "
        "and `haichi run --set`)."
    )


class Windows(Form):
    """Windows (an aggregator's part of the file in a cycle) by how they were written."""

    whole: NonNegativeInt = Field(0, description="Without holes, in one piece.")
    separate: NonNegativeInt = Field(0, description="With holes, each piece by itself.")
    rmw: NonNegativeInt = Field(0, description="With holes, by read-modify-write under a lock.")


class Call(Form):
    """One collective file access. Sums are over all ranks of the file's communicator."""

    index: NonNegativeInt = Field(
        description="Number of the call within the run; `events` refer to it."
    )
    call: str = Field(description="Name of the MPI function, e.g. `MPI_File_write_all`.")
    handled: bool = Field(description="True if haichi did it, false if the MPI library did.")
    bytes: Bytes = Field(0, description="Bytes that the program read or wrote, sum over ranks.")
    file_begin: NonNegativeInt = Field(0, description="First byte of the file that was touched.")
    file_end: NonNegativeInt = Field(0, description="One past the last byte that was touched.")
    seconds: Seconds = Field(
        0.0,
        description="Time of the slowest rank in the call, in seconds; of rank 0 if no bytes "
        "were exchanged. With what it waited for a thread, if one did the call.",
    )
    thread_seconds: Seconds | None = Field(
        None,
        description="How long a thread accessed the file behind the program "
        "(`io.nonblocking=thread`), on the rank where that was longest; absent if all was done in "
        "the call.",
    )
    waited_seconds: Seconds | None = Field(
        None,
        description="How long the program was then in functions that look after the request, on "
        "the rank where that was longest.",
    )
    aggregators: list[NonNegativeInt] = Field(
        default_factory=list,
        description="Ranks (of MPI_COMM_WORLD) that accessed the file for all, in the order in "
        "which file domains were dealt to them.",
    )
    layout: str = Field("", description="Layout of the aggregators: `roundrobin` or `packed`.")
    order: str = Field(
        "", description="Issue order: `rank`, `pairwise`, `nd_shift`, `nd_rank_shift`."
    )
    window: NonNegativeInt = Field(
        0, description="Most sends that a rank had outstanding; 0 is no limit."
    )
    cycles: NonNegativeInt = Field(0, description="Cycles of the collective buffer.")
    holes: str = Field(
        "",
        description="How bytes that no rank gave were left alone: `none` (there were none), "
        "`separate` writes, or `rmw` (read-modify-write under a lock).",
    )
    windows: Windows = Field(
        default_factory=Windows, description="How many windows were written in which way."
    )
    why: list[str] = Field(
        default_factory=list, description="The reason of every choice, one clause each."
    )
    bytes_inside: Bytes = Field(0, description="Bytes exchanged between ranks of one node.")
    bytes_between: Bytes = Field(0, description="Bytes exchanged between ranks of two nodes.")
    messages_between: NonNegativeInt | None = Field(
        None, description="In how many messages these went."
    )
    bytes_must_cross: Bytes | None = Field(
        None,
        description="Bytes that go between nodes whichever node handles which part of the file: of "
        "each part all but its fullest node's. Absent where it was not counted.",
    )


class Flattening(Form):
    """What haichi keeps of a file's datatypes: strided blocks, not lists of regions. The largest of
    each over ranks and calls."""

    view_blocks: NonNegativeInt = Field(
        0, description="Contiguous blocks of one tile of the view; 0 if no view was set."
    )
    view_bytes: Bytes = Field(
        0, description="Memory that the view's tile takes, while the view is set."
    )
    memory_blocks: NonNegativeInt = Field(
        0, description="Contiguous blocks of the user's memory in a call."
    )
    memory_bytes: Bytes = Field(
        0, description="Memory that the datatype of a call takes, during the call."
    )
    others_bytes: Bytes = Field(
        0,
        description="Memory that the other ranks' accesses take on an aggregator, during a call.",
    )


class File(Form):
    """A file as the program opened it; one that is opened again may be listed again."""

    path: str = Field(description="Path, as the program gave it to MPI_File_open.")
    access: str = Field(
        description="`collective` if haichi looks after the file's collective "
        "accesses, `passed through` if the MPI library does."
    )
    opens: NonNegativeInt = Field(1, description="Openings that this entry stands for.")
    hints: dict[str, str] = Field(
        default_factory=dict, description="Hints in force that haichi honoured, key to value."
    )
    ignored_hints: list[str] = Field(
        default_factory=list, description="Hints that were given and not honoured."
    )
    calls: list[Call] = Field(
        default_factory=list, description="The collective accesses, in order of time."
    )
    calls_not_listed: NonNegativeInt = Field(
        0, description="Further accesses that the bounded record has no room for."
    )
    flattening: Flattening = Field(
        default_factory=Flattening, description="What is kept of its datatypes."
    )


class Candidate(Form):
    """One algorithm that a collective could take, or one order and window of an exchange."""

    name: str = Field(
        description="`library` is the MPI library's own; else as `haichi simulate --algorithm` "
        "takes it, e.g. `bruck(4)`. Of accesses to files order and window: `nd_rank_shift,32`."
    )
    trials: list[Seconds] = Field(
        default_factory=list,
        description="Time of each trial in seconds, mean over the ranks. Of accesses to files, of "
        "the slowest rank since the ranks met, as if it had accessed `block_at_least` bytes.",
    )
    dropped: bool = Field(False, description="True if it was too slow to be tried, or again.")
    steady_calls: NonNegativeInt = Field(
        0, description="Calls that took it and were no trials, nor the first."
    )
    steady_seconds: Seconds = Field(
        0.0, description="Time of the communicator's rank 0 in these, in seconds."
    )
    predicted_seconds: Seconds | None = Field(
        None, description="What the model of the machine predicts of a call; absent without one."
    )
    reason: str = Field("", description="Why the model let it be tried, or did not.")


class Collective(Form):
    """How calls of one collective on one communicator were carried out; calls with blocks of other
    sizes have entries of their own (paper 004, section 3.2). Or accesses of one kind by one group
    of ranks, whose order and window were chosen by trial (`io.tune`)."""

    collective: str = Field(
        description="Name of the MPI function, e.g. `MPI_Alltoall`; of accesses to files, what is "
        "alike of them: `two-phase write, 4 aggregators, messages from 16384 bytes`."
    )
    ranks: int = Field(ge=1, description="Ranks of the communicator.")
    nodes: int = Field(ge=1, description="Nodes that they are on.")
    block_at_least: Bytes | None = Field(
        None,
        description="The blocks from rank to rank have so many bytes or more, and less than twice "
        "as many; of accesses to files, what a rank accesses in the mean. Absent where blocks "
        "differ in size.",
    )
    calls: NonNegativeInt = Field(
        description="Calls that haichi counted: all but the communicator's first blocking one. Of "
        "persistent operations of haichi's, their starts. Of accesses to files, all but the first "
        "of their kind and those that failed."
    )
    seconds: Seconds = Field(
        description="Time of the communicator's rank 0 in them, in seconds; of nonblocking ones of "
        "haichi's, in the calls that start them, look at them and wait for them."
    )
    locked: bool = Field(description="True if the trials had come to an end.")
    retries: NonNegativeInt = Field(
        0, description="How often the trials began anew because calls had become slower."
    )
    chosen: str = Field("", description="The best candidate so far; empty before there is one.")
    why: str = Field("", description="How it was chosen.")
    candidates: list[Candidate] = Field(default_factory=list, description="All candidates.")


class Traffic(Form):
    """Bytes of haichi's own exchanges, node to node."""

    nodes: list[str] = Field(default_factory=list, description="Names of the nodes.")
    bytes: list[list[Bytes]] = Field(
        default_factory=list,
        description="`bytes[from][to]`; the diagonal never left its node.",
    )
    nodes_each: int = Field(
        1,
        ge=1,
        description="Of large jobs a row stands for so many nodes, one after the other, and its "
        "name tells the first and the last.",
    )

    @model_validator(mode="after")
    def _square(self) -> Traffic:
        if len(self.bytes) != len(self.nodes) or any(
            len(row) != len(self.nodes) for row in self.bytes
        ):
            raise ValueError(f"the matrix is not {len(self.nodes)} x {len(self.nodes)}")
        return self


class PhaseSeconds(Form):
    """Seconds that one rank spent in each phase, over all calls."""

    read: Seconds = Field(0.0, description="Reading the file (also for read-modify-write).")
    exchange: Seconds = Field(0.0, description="Exchanging data with other ranks.")
    write: Seconds = Field(0.0, description="Writing the file.")
    agree: Seconds = Field(
        0.0, description="Agreeing on offsets and errors, and waiting for one another there."
    )


class PhaseBytes(Form):
    """Bytes that one rank moved in each phase, over all calls."""

    read: Bytes = Field(0, description="Bytes read from files.")
    exchange: Bytes = Field(0, description="Bytes sent to other ranks and to itself.")
    write: Bytes = Field(0, description="Bytes written to files.")


class Event(NamedTuple):
    """One interval of one rank: exactly these six items, in this order."""

    call: Annotated[int, Field(description="`index` of the call that it belongs to.")]
    cycle: Annotated[int, Field(description="Cycle of the collective buffer, from 0.")]
    phase: Annotated[PhaseName, Field(description="What the rank did.")]
    begin_us: Annotated[Micros, Field(description="Begin, in microseconds.")]
    end_us: Annotated[Micros, Field(description="End, in microseconds.")]
    bytes: Annotated[Bytes, Field(description="Bytes that the rank moved.")]


class Message(NamedTuple):
    """Bytes that left a rank for another one in a collective file access."""

    call: Annotated[NonNegativeInt, Field(description="`index` of the collective call.")]
    cycle: Annotated[NonNegativeInt, Field(description="Cycle of the collective buffer.")]
    to: Annotated[NonNegativeInt, Field(description="Rank in MPI_COMM_WORLD that gets them.")]
    at_us: Annotated[float, Field(description="When, in microseconds since the start.")]
    bytes: Annotated[Bytes, Field(description="Bytes.")]


class Exchange(NamedTuple):
    """One call of a collective that haichi chooses an algorithm for."""

    collective: Annotated[str, Field(description="MPI function.")]
    begin_us: Annotated[float, Field(description="Begin, in microseconds since the start.")]
    end_us: Annotated[float, Field(description="End.")]
    block_bytes: Annotated[int, Field(description="Bytes of a block; -1 if they differ.")]


class CollectiveAccess(Form):
    """All collective file accesses of one rank, whoever carried them out, listed or not."""

    calls: NonNegativeInt = Field(0, description="How many; a split access is one.")
    seconds: Seconds = Field(
        0.0,
        description="Time in them, in seconds; of nonblocking ones that of the call alone.",
    )
    bytes: Bytes = Field(0, description="Bytes that the rank gave or wanted.")


class Rank(Form):
    """What one rank did."""

    rank: NonNegativeInt = Field(description="Rank in MPI_COMM_WORLD.")
    node: NonNegativeInt = Field(description="Index of its node in `placement.nodes`.")
    seconds: PhaseSeconds = Field(description="Totals of all events, dropped ones included.")
    bytes: PhaseBytes = Field(default_factory=PhaseBytes, description="The same for bytes.")
    collective_access: CollectiveAccess = Field(
        default_factory=CollectiveAccess, description="Its collective file accesses in all."
    )
    events: list[Event] = Field(
        default_factory=list,
        description="Intervals `[call, cycle, phase, begin_us, end_us, bytes]`, by begin. "
        "Microseconds since a start that the ranks share: each rank's clock is set to 0 when "
        "placement is agreed in MPI_Init, so two ranks compare as exactly as that ends together.",
    )
    events_dropped: NonNegativeInt = Field(
        0, description="Later events that the bounded record has no room for."
    )
    messages: list[Message] = Field(
        default_factory=list,
        description="The first messages of its collective file accesses, "
        "`[call, cycle, to, at_us, bytes]`.",
    )
    messages_dropped: NonNegativeInt = Field(0, description="Later ones.")
    exchanges: list[Exchange] = Field(
        default_factory=list,
        description="Its first calls of collectives that haichi chooses for, "
        "`[collective, begin_us, end_us, block_bytes]`.",
    )
    exchanges_dropped: NonNegativeInt = Field(0, description="Later ones.")


class PhaseOfAll(Form):
    """Time of one phase over all ranks that took part in it, listed or not."""

    ranks: NonNegativeInt = Field(description="How many took part: those with any time in it.")
    min: Seconds = Field(description="Of the rank that spent least.")
    max: Seconds = Field(description="Of the rank that spent most.")
    rank_of_max: NonNegativeInt = Field(description="The rank that spent most; it is listed.")


class NodeTotals(Form):
    """What the ranks of one node did."""

    node: NonNegativeInt = Field(description="Index in `placement.nodes`.")
    ranks: NonNegativeInt = Field(description="Ranks that this is of.")
    seconds: PhaseSeconds = Field(description="Of the rank that spent most in each phase.")
    bytes: PhaseBytes = Field(description="Of all of them.")
    collective_access: CollectiveAccess = Field(
        description="Calls and seconds of the rank with most, bytes of all."
    )


class Others(Form):
    """All ranks in sums, where there is no room to list each of them."""

    ranks: NonNegativeInt = Field(description="How many are not listed.")
    phases: dict[PhaseName, PhaseOfAll] = Field(description="Each phase that any took part in.")
    collective_access: CollectiveAccess = Field(
        description="Calls and seconds of the rank with most, bytes of all."
    )
    nodes: list[NodeTotals] = Field(
        default_factory=list, description="Each node, as far as there is room."
    )


class Storage(Form):
    """What the processes had of storage from MPI_Init to MPI_Finalize, by whatever means, as the
    kernel counts (`read_bytes` and `write_bytes` of proc(5)), beside their MPI files. Files in
    memory and what was in the page cache do not count; written bytes are those of whole pages."""

    ranks: NonNegativeInt = Field(description="How many have told; the others' kernels do not.")
    read: Bytes = Field(description="Bytes that they fetched.")
    written: Bytes = Field(description="Bytes that they wrote.")
    mpi_read: Bytes = Field(description="Bytes that they wanted in collective file accesses.")
    mpi_written: Bytes = Field(description="Bytes that they gave in collective file accesses.")


class Cut(Form):
    """How a run ended that did not come to MPI_Finalize. Its report is made of the logs that its
    ranks had written until then."""

    by: str | None = Field(
        None, description="`MPI_Abort` if the program called it; absent if nobody knows."
    )
    code: int | None = Field(None, description="Error code that it was given.")
    rank: NonNegativeInt | None = Field(None, description="The rank that called it.")
    last_s: Seconds = Field(
        description="When the last of what is here was written, in seconds since MPI_Init."
    )
    ranks_without_log: str = Field(
        "",
        description="Ranks that have left nothing, as they had recorded nothing or could not "
        "write: `0-3,8`.",
    )
    records_lost: NonNegativeInt = Field(
        0, description="Records that the bounded logs had no room for."
    )
    records_damaged: NonNegativeInt = Field(
        0, description="Records of the logs that were not whole, and are left out."
    )


class Report(Form):
    """What haichi did for one run of one program (`haichi.report/1`)."""

    form: Literal["haichi.report/1"] = Field(
        alias="schema", description="Name and major version of the form."
    )
    haichi: str = Field(description="Release of haichi that wrote it.")
    program: Program = Field(description="The program.")
    mpi: Mpi = Field(description="The MPI library.")
    machine: MachineUse | None = Field(
        None,
        description="By which profile of the machine; absent in reports before there were any.",
    )
    placement: Placement = Field(description="Who was where; `haichi.placement/1`.")
    settings: list[SettingValue] = Field(
        default_factory=list, description="All settings in force, sorted by key."
    )
    notes: list[str] = Field(
        default_factory=list,
        description="What fell through to the MPI library, and problems, each with its count.",
    )
    files: list[File] = Field(default_factory=list, description="The files, by first opening.")
    collectives: list[Collective] = Field(
        default_factory=list, description="The collectives whose algorithms haichi chose."
    )
    traffic: Traffic = Field(default_factory=Traffic, description="Bytes node to node.")
    ranks: list[Rank] = Field(
        default_factory=list,
        description="The ranks, in order; of large jobs those that there is room for, with the "
        "slowest of each phase.",
    )
    others: Others | None = Field(
        None, description="All ranks in sums, if some are not listed; else absent."
    )
    storage: Storage | None = Field(
        None, description="What they read and wrote beside MPI; absent if no kernel tells."
    )
    cut: Cut | None = Field(
        None, description="How the run was cut short; absent if it came to MPI_Finalize."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Report:
        node_of = self.placement.node_of_rank()
        if len(node_of) != self.program.ranks:
            raise ValueError(
                f"the placement has {len(node_of)} ranks, the program {self.program.ranks}"
            )
        for rank in self.ranks:
            if rank.rank >= len(node_of) or rank.node != node_of[rank.rank]:
                raise ValueError(f"rank {rank.rank} on node {rank.node}: not so in the placement")
        rows = -(-len(self.placement.nodes) // self.traffic.nodes_each)
        if self.traffic.nodes and len(self.traffic.nodes) != rows:
            raise ValueError(
                f"traffic of {len(self.traffic.nodes)} nodes, "
                f"{len(self.placement.nodes)} in the placement"
            )
        for call in self.calls():
            if any(rank >= len(node_of) for rank in call.aggregators):
                raise ValueError(f"call {call.index}: an aggregator is not a rank of the program")
        return self

    def calls(self) -> list[Call]:
        """All calls of all files."""
        return [call for file in self.files for call in file.calls]

    def access_calls(self) -> int:
        """Collective file accesses of a rank, listed or not."""
        if self.others:
            return self.others.collective_access.calls
        return max((rank.collective_access.calls for rank in self.ranks), default=0)

    def access_seconds(self) -> float:
        """Time in them of the rank that spent most there."""
        if self.others:
            return self.others.collective_access.seconds
        return max((rank.collective_access.seconds for rank in self.ranks), default=0.0)

    def access_bytes(self) -> int:
        """What all ranks gave or wanted in them."""
        if self.others:
            return self.others.collective_access.bytes
        return sum(rank.collective_access.bytes for rank in self.ranks)
