"""The form `haichi.machine/2`: a machine as it was measured, or as a paper tells of it.

`haichi.machine/1` is its numbers alone, without where they come from. Read by src/machine/. Source
of the models: Hockney's time of a message, latency + bytes x time of a byte, one line for each
protocol of the library (paper 001, Table 2 shows where one ends); LogGP of Alexandrov et al.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, NonNegativeInt, PositiveInt, model_validator

from haichi.report.model import Seconds
from haichi.report.placement import Form

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]  # in the unit that its name says
Rate = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Place = Literal["core", "numa", "node", "network"]
NumberName = Literal[
    "send_ns",
    "receive_ns",
    "match_ns",
    "copy_gbs",
    "eager_bytes",
    "local_latency_ns",
    "search_ns",
    "rendezvous_words",
    "word_bytes",
    "out_gbs",
    "in_gbs",
    "latency_ns",
    "link_gbs",
    "hop_ns",
    "buffer_bytes",
    "servers",
    "stripe_bytes",
    "server_gbs",
    "request_us",
    "handover_us",
    "storage_gbs",
    "client_gbs",
]


class Part(Form):
    """What a profile is made of. Python says `from_` where the form has `from`."""

    model_config = ConfigDict(populate_by_name=True)


class Made(Part):
    """How a profile came to be."""

    by: str = Field(description="Program and version, or who wrote it.")
    when: str = Field(description="UTC, ISO 8601.")
    from_: list[str] = Field(
        alias="from", description="The samples files, or the paper, that it was made from."
    )
    launches: NonNegativeInt = Field(description="How many launches count in it.")


class Signature(Part):
    """Of which machine a profile is. What is absent or null fits any machine."""

    library: str | None = Field(
        None, description="First line of what MPI_Get_library_version says."
    )
    processor: str | None = Field(None, description="Model.")
    cores: PositiveInt | None = Field(None, description="Of a node.")
    node_names: list[str] | None = Field(None, description="Nodes that were measured.")
    network: bool | None = Field(None, description="Whether messages between nodes were measured.")


class Number(Part):
    """A number of `haichi.machine/1`, in the unit that its name ends in."""

    value: Amount = Field(description="Of the number.")
    low: Amount | None = Field(None, description="Lower end of its interval.")
    high: Amount | None = Field(None, description="Upper end of its interval.")
    from_: str = Field(alias="from", description="Where it comes from, in words.")


class Piece(Part):
    """A line of a piecewise Hockney model: `latency_s + bytes x s_per_byte`. Where one piece ends
    and the next begins at a larger size, the library changes its protocol somewhere between."""

    from_: NonNegativeInt = Field(alias="from", description="Smallest size that it is for.")
    to: NonNegativeInt = Field(description="Largest size that it is for.")
    latency_s: Annotated[float, Field(allow_inf_nan=False)] = Field(
        description="The line at 0 bytes; below 0 where a piece that begins at a large size is "
        "steep."
    )
    s_per_byte: Seconds = Field(description="What a byte adds.")
    residual: Annotated[float, Field(ge=0)] | None = Field(
        None, description="Mean of |line - measured| / measured over the sizes of the piece."
    )


def _same_lengths(**lists: list[float] | list[int] | None) -> None:
    """Raises ValueError if lists that belong together differ in length."""
    lengths = {name: len(each) for name, each in lists.items() if each is not None}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"lists of one curve differ in length: {told}")


class SizeCurve(Part):
    """A time for each of some sizes."""

    bytes: Annotated[list[NonNegativeInt], Field(min_length=1)] = Field(
        description="Sizes, ascending."
    )
    seconds: list[Seconds] = Field(description="For each size the median of the launches' medians.")
    low: list[Seconds] | None = Field(None, description="Lower ends of their intervals.")
    high: list[Seconds] | None = Field(None, description="Upper ends of their intervals.")
    launches: NonNegativeInt | None = Field(
        None, description="How many launches count in the size that has fewest."
    )

    @model_validator(mode="after")
    def _is_a_curve(self) -> SizeCurve:
        _same_lengths(bytes=self.bytes, seconds=self.seconds, low=self.low, high=self.high)
        if any(a >= b for a, b in zip(self.bytes, self.bytes[1:], strict=False)):
            raise ValueError("bytes are not ascending")
        return self


class Variant(SizeCurve):
    """A curve that may be of a measurement made in another way than its own."""

    buffers: Literal["hot", "cold"] | None = Field(
        None, description="In the caches, or in none (`--buffers`); absent: as usual."
    )
    spacing: Literal["isolated", "back to back"] | None = Field(
        None, description="How samples followed each other (`--spacing`); absent: as usual."
    )


class PlaceCurve(Variant):
    """What two ranks need for a message, by how near they are to each other; one way. Other
    measurements of two ranks, which have no pieces, stand behind the ping-pongs."""

    name: str = Field(description="Of the measurement.")
    place: Place = Field(
        description="How near the two ranks are. Of several curves with pieces of one place the "
        "first is what a message takes."
    )
    pieces: list[Piece] = Field(
        default_factory=list, description="The Hockney model of it, ascending."
    )
    switches: list[NonNegativeInt] = Field(
        default_factory=list,
        description="Where the protocol changes: the largest size of each piece but the last.",
    )
    from_: str | None = Field(None, alias="from", description="Where it comes from, in words.")


class LogGP(Part):
    """The parameters of the LogGP model between two ranks."""

    place: Place = Field(description="How near the two ranks are.")
    latency_s: Seconds = Field(alias="L_s", description="L: a byte's way, without the ranks' work.")
    o_send_s: Seconds = Field(description="o of the sender.")
    o_receive_s: Seconds = Field(description="o of the receiver.")
    gap_s: Seconds = Field(alias="g_s", description="g: between two messages.")
    gap_s_per_byte: Seconds = Field(
        alias="G_s_per_byte", description="G: between two bytes of one message."
    )
    residual: Annotated[float, Field(ge=0)] = Field(
        description="Mean of |model - measured| / measured over the ping-pong's sizes for which "
        "the parameters hold."
    )
    from_: str | None = Field(
        None, alias="from", description="Which measurements they were made from, in words."
    )


class CollectiveCurve(Variant):
    """A call of all ranks by size, the slowest rank's time: a collective, or one on a communicator,
    a window or a file."""

    name: str = Field(description="Of the measurement.")
    ranks: PositiveInt = Field(description="Ranks of the job.")
    nodes: PositiveInt = Field(description="Nodes of the job.")
    oversubscribed: bool | None = Field(
        None,
        description="Whether the job had more ranks than cores: then it is what ranks wait for "
        "their turn, too, and no reference for a job that has cores enough.",
    )
    from_: str | None = Field(None, alias="from", description="Where it comes from, in words.")


class CopyCurve(Part):
    """What one rank copies in memory."""

    bytes: list[NonNegativeInt] = Field(description="Sizes, ascending.")
    gbs: list[Rate] = Field(description="GB/s for each; bytes that are read or written once.")

    @model_validator(mode="after")
    def _is_a_curve(self) -> CopyCurve:
        _same_lengths(bytes=self.bytes, gbs=self.gbs)
        return self


class ReadWrite(Part):
    """A figure for reading and one for writing."""

    read: Amount | None = Field(None, description="For reading.")
    write: Amount | None = Field(None, description="For writing.")


class StorageCosts(Part):
    """What a file system gives and takes."""

    path: str | None = Field(None, description="The folder that files were made in.")
    file_system: str | None = Field(None, description="Its kind, e.g. `ext4`.")
    client_gbs: ReadWrite | None = Field(None, description="GB/s of one rank.")
    node_gbs: ReadWrite | None = Field(None, description="GB/s of a node's ranks together.")
    all_gbs: ReadWrite | None = Field(None, description="GB/s of all ranks together.")
    request_s: ReadWrite | None = Field(None, description="Of a request, beside its bytes.")
    open_s: Seconds | None = Field(None, description="Of MPI_File_open.")
    close_s: Seconds | None = Field(None, description="Of MPI_File_close.")
    lock_s: Seconds | None = Field(
        None, description="What locking a range adds to a request: that of atomic mode."
    )
    from_: str | None = Field(None, alias="from", description="Where it comes from, in words.")


class NumaPaths(Part):
    """What moving bytes between the NUMA nodes of one machine costs. Nodes go by the kernel's
    numbers; rates are GB/s."""

    cores: Annotated[list[NonNegativeInt], Field(min_length=1)] = Field(
        description="Of each node; 0 where it is memory alone."
    )
    distance: list[list[PositiveInt]] = Field(
        description="Between nodes, relative, as ACPI's SLIT has it: 10 is local."
    )
    thread_gbs: list[list[list[Rate]]] = Field(
        description="What one thread moves while nothing else runs: by its node, the node that it "
        "reads from, the node that it writes to."
    )
    memory_gbs: list[Rate] = Field(description="What the memory of each node reads and writes.")
    served_gbs: list[Rate] = Field(
        description="What the memory of each node gives to and takes from threads of others."
    )
    write_weight: Rate = Field(
        1, description="What a byte that is written counts in these; 2 where it is read before."
    )

    @model_validator(mode="after")
    def _is_square(self) -> NumaPaths:
        nodes = len(self.cores)
        rows: list[Sized] = [self.memory_gbs, self.served_gbs, self.distance, *self.distance]
        rows += [
            self.thread_gbs,
            *self.thread_gbs,
            *(row for plane in self.thread_gbs for row in plane),
        ]
        if any(len(each) != nodes for each in rows):
            raise ValueError(f"all lists of numa have {nodes} entries, one for each node")
        return self


class Profile(Part):
    """A machine with where each number comes from (`haichi.machine/2`). GB are 10^9 bytes."""

    form: Literal["haichi.machine/2"] = Field(
        alias="schema", description="Name and major version of the form."
    )
    name: str = Field(description="For people.")
    made: Made = Field(description="How it came to be.")
    signature: Signature = Field(description="Of which machine it is.")
    source: Literal["measured", "paper", "assumed"] = Field(
        description="Of the whole; what a number says of itself counts before it."
    )
    network: str = Field("crossbar", description="As in `haichi.machine/1`.")
    seats: list[NonNegativeInt] | None = Field(
        None, description="The place of each node in it; node n has place n if left out."
    )
    numbers: dict[NumberName, Number] = Field(
        description="Those of `haichi.machine/1`; one that is not known is left out, and a reader "
        "takes its default."
    )
    curves: list[PlaceCurve] = Field(
        default_factory=list, description="Messages between two ranks by size."
    )
    loggp: list[LogGP] = Field(default_factory=list, description="LogGP by placement class.")
    collectives: list[CollectiveCurve] = Field(
        default_factory=list, description="Collective calls by ranks and nodes."
    )
    copy_: list[CopyCurve] = Field(
        default_factory=list, alias="copy", description="Copies in memory by size."
    )
    storage: list[StorageCosts] = Field(default_factory=list, description="File systems.")
    numa: NumaPaths | None = Field(None, description="Between the NUMA nodes of one node.")
