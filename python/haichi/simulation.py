"""What `haichi simulate` reads and writes: the forms `haichi.machine/1`, `haichi.simulation/1` and
`haichi.schedule/1` as pydantic models.

The program that reads and writes them is native (src/offline/simulate*.cpp, src/patterns/); these
models are their definition for everybody else, and a test holds the program to them.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import ConfigDict, Field, NonNegativeFloat, NonNegativeInt, PositiveFloat

from haichi.report.placement import Form

StepName = Literal[
    "send",
    "receive",
    "copy",
    "file_read",
    "file_write",
    "file_wait",
    "wait",
    "node_meet",
    "round",
    "node_arrive",
]


class Machine(Form):
    """A machine, as far as a simulation must know it (`haichi.machine/1`). GB are 10^9 bytes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    form: Literal["haichi.machine/1"] = Field(
        alias="schema", description="Name and major version of the form."
    )
    network: str = Field(
        "crossbar",
        description="`crossbar`, `fattree:N:T` (N nodes a switch, N/T links up), "
        "`torus:AxBx...`, `mesh:AxBx...`, `dragonfly:P:A:H[:G]` (P nodes a router, A routers a "
        "group, H links of each to other groups, G groups) or `dragonfly+:P:L:S:H[:G]` (L leaves, "
        "S spines a group); a fat tree and the last two may end in `:adaptive`.",
    )
    seats: list[NonNegativeInt] = Field(
        default_factory=list,
        description="The place of each node in it; node n has place n if empty.",
    )
    send_ns: NonNegativeFloat = Field(200, description="To issue a send, on the rank's processor.")
    receive_ns: NonNegativeFloat = Field(100, description="To post a receive.")
    match_ns: NonNegativeFloat = Field(
        200, description="To match and complete a message that arrives."
    )
    copy_gbs: PositiveFloat = Field(5, description="Memory copy by one rank, GB/s.")
    eager_bytes: NonNegativeFloat = Field(
        12288, description="Larger messages are sent by rendezvous."
    )
    local_latency_ns: NonNegativeFloat = Field(200, description="From rank to rank inside a node.")
    search_ns: NonNegativeFloat = Field(
        0, description="For each entry of a queue that is looked at to match; 0: none."
    )
    rendezvous_words: NonNegativeInt = Field(
        3,
        description="Of a rendezvous between nodes, the first so many take the latency: the word "
        "that asks, the one that grants, the one that ends it.",
    )
    word_bytes: NonNegativeInt = Field(
        0, description="Of such a word on its way; 0: none, and it waits behind no bytes."
    )
    out_gbs: PositiveFloat = Field(3.4, description="A node's port towards the network, GB/s.")
    in_gbs: PositiveFloat = Field(3.4, description="A node's port from the network, GB/s.")
    latency_ns: NonNegativeFloat = Field(
        1000, description="First byte, from port to port, or between a port and a server."
    )
    link_gbs: PositiveFloat = Field(3.4, description="A link between switches or neighbours, GB/s.")
    hop_ns: NonNegativeFloat = Field(
        100, description="First byte over such a link, added to `latency_ns`."
    )
    buffer_bytes: NonNegativeInt = Field(
        0, description="Before each link of the network; 0: without a bound."
    )
    servers: NonNegativeInt = Field(
        64, description="Storage servers that each file is striped over; 0: no storage."
    )
    stripe_bytes: Annotated[int, Field(ge=1)] = Field(
        1 << 20, description="Of a file on one server before the next one's turn."
    )
    server_gbs: PositiveFloat = Field(0.25, description="What one server reads or writes, GB/s.")
    request_us: NonNegativeFloat = Field(
        100, description="Of a server, for each request beside its bytes."
    )
    handover_us: NonNegativeFloat = Field(
        0, description="Of a server, to turn to another node's request if one of the two writes."
    )
    storage_gbs: NonNegativeFloat = Field(
        3.4, description="A node's port for files, GB/s each way; 0: that of the messages."
    )
    client_gbs: NonNegativeFloat = Field(
        0, description="What one rank reads or writes at most, GB/s; 0: no such limit."
    )


class Result(Form):
    """One case. Beside these fields it has one for each parameter of the pattern that has a value
    at all, named as the option with `_` in place of `-`: `order`, `bytes`, `region_size`."""

    sweep: dict[str, str] = Field(
        default_factory=dict, description="The key of the sweep and its value here."
    )
    nodes: Annotated[int, Field(ge=1)] = Field(description="Nodes.")
    ranks: Annotated[int, Field(ge=1)] = Field(description="Ranks.")
    mean_us: NonNegativeFloat = Field(
        description="Mean over the ranks' times, each from its own start to its own end."
    )
    median_us: NonNegativeFloat = Field(description="Their median.")
    best_us: NonNegativeFloat = Field(description="Of the rank that took least.")
    worst_us: NonNegativeFloat = Field(description="Of the rank that took longest.")
    worst_rank: NonNegativeInt = Field(description="The lowest rank that took longest.")
    messages: NonNegativeInt = Field(description="Received.")
    network_bytes: NonNegativeInt = Field(description="Bytes that went from node to node.")
    file_bytes: NonNegativeInt = Field(description="Bytes read from and written to the servers.")
    program_bytes: NonNegativeInt = Field(
        0, description="Bytes that the program reads or writes; of patterns that access a file."
    )
    gbs: NonNegativeFloat = Field(
        0,
        description="`program_bytes` over the time from the first rank's start to the last one's "
        "end, GB/s.",
    )
    cycles: NonNegativeInt = Field(0, description="Cycles of the collective buffer.")
    why: list[str] = Field(
        default_factory=list, description="What the plan decided, and why, one clause each."
    )
    rank_us: list[NonNegativeFloat] = Field(
        default_factory=list, description="The time of each rank, with `--per-rank`."
    )


class Simulation(Form):
    """What-if of one pattern on one machine (`haichi.simulation/1`)."""

    form: Literal["haichi.simulation/1"] = Field(
        alias="schema", description="Name and major version of the form."
    )
    haichi: str = Field(description="Release of haichi that wrote it.")
    pattern: str = Field(description="What was simulated: `alltoall`, `hpio`, ...")
    placement: str = Field(description="`BK`, `RR`, or the file, as on the command line.")
    machine: Machine = Field(description="The machine's numbers, without the sweep's value.")
    skew_ns: NonNegativeFloat = Field(description="Ranks started within so many nanoseconds.")
    noise: NonNegativeFloat = Field(
        description="Mean share that what a rank's processor did took longer."
    )
    seed: NonNegativeInt = Field(description="Of skew and noise.")
    results: list[Result] = Field(
        description="One for each combination of the pattern's alternatives, at each value of the "
        "sweep."
    )


class ScheduleHead(Form):
    """The first line of a recorded schedule."""

    form: Literal["haichi.schedule/1"] = Field(
        alias="schema", description="Name and major version of the form."
    )
    ranks: Annotated[int, Field(ge=1)] = Field(description="Ranks.")
    window: NonNegativeInt = Field(
        description="Most sends that a rank has outstanding; 0 is no limit."
    )


class Slice(NamedTuple):
    """A run of bytes of one of the rank's buffers."""

    buffer: Annotated[int, Field(description="Number of the buffer, the pattern's own.")]
    begin: Annotated[int, Field(description="First byte.")]
    size: Annotated[int, Field(ge=0, description="Bytes.")]


class ScheduleStep(Form):
    """One step of one rank; see "Schedules" in docs/notes.md for what each does."""

    rank: NonNegativeInt = Field(description="Whose step it is.")
    step: StepName = Field(description="What it does.")
    round: NonNegativeInt = Field(description="Round (cycle of two-phase I/O) that it belongs to.")
    peer: NonNegativeInt = Field(0, description="Rank to send to or to receive from.")
    from_: Slice | None = Field(
        None, alias="from", description="What is sent, copied or written to the file."
    )
    to: Slice | None = Field(None, description="What is received, copied to or read.")
    file_begin: NonNegativeInt = Field(0, description="Where in the file.")


class Schedule(Form):
    """The schedules of all ranks, step by step (`haichi.schedule/1`)."""

    head: ScheduleHead = Field(description="The first line.")
    steps: list[ScheduleStep] = Field(
        description="The other lines; those of one rank in the order in which it takes them."
    )
