"""The form `haichi.samples/1`: JSON lines that `haichi measure` writes as it goes, told apart by
their field `kind`.

Times are seconds, sizes bytes. The file is written by src/measure/records.cpp and
src/measure/run/launch_record.cpp.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, NonNegativeInt

FORM = "haichi.samples/1"


class Binding(BaseModel):
    """Where a rank may run on its host."""

    core: int = Field(description="First of its cores, by the kernel's number; -1 if not known.")
    cores: int = Field(description="How many; 0 if not known.")
    numa: int = Field(description="NUMA node of that core; -1 if not known.")


class Launch(BaseModel):
    """What the figures of one launch depend on: the first line of its part of the file."""

    schema_: Literal["haichi.samples/1"] = Field(
        alias="schema", description="Name and major version of the form."
    )
    kind: Literal["launch"] = Field(description="What the line is.")
    launch: int = Field(description="Number of the launch in this file, from 1.")
    repetition: int = Field(
        1,
        description="Which of the launches of `--launches` it is, from 1: one that goes on with "
        "what another has left (`--resume`) has its number.",
    )
    haichi: str = Field(description="Version.")
    source: str | None = Field(
        None,
        description="The program that printed the figures, if they are imported (`haichi import`). "
        "What its output does not tell is empty, 0 or -1 then.",
    )
    started: str = Field(description="UTC, ISO 8601.")
    library: str = Field(description="First line of what MPI_Get_library_version says.")
    mpi: str = Field(description="Version of the standard that the library says it has.")
    compiled_for: str = Field(description="That of the mpi.h which the program was compiled with.")
    job_ranks: int = Field(description="Ranks of MPI_COMM_WORLD.")
    node_names: list[str] = Field(description="In the order of the first rank on each.")
    nodes_of_ranks: list[int] = Field(description="Node of each rank, an index of `node_names`.")
    binding: list[Binding] = Field(description="Of each rank; empty if not known.")
    bound_by_haichi: bool = Field(
        description="Whether ranks that the launcher had not bound were given a core each."
    )
    host_cores: list[int] = Field(description="Cores of each rank's host.")
    oversubscribed: bool = Field(description="Whether a node has more ranks than cores for them.")
    reference: bool = Field(
        description="Whether the results may be held against others: not if oversubscribed, unless "
        "`--reference` said so."
    )
    under: bool = Field(description="Whether haichi was underneath (`--under`).")
    tuning: dict[str, str] = Field(
        description="Environment variables that tune MPI libraries, of rank 0."
    )
    kernel: str = Field(description="Name and release of the operating system, of rank 0.")
    processor: str = Field(description="Model, of rank 0.")
    governor: str = Field(description="Of core 0's frequency; empty where there is none.")
    load: str = Field(description="Mean number of runnable processes in the minute before.")
    directory: str = Field("", description="Where files were made (`--directory`), absolute.")
    file_system: str = Field("", description="Its kind, e.g. `ext4`; empty if not known.")
    cgroup_cpu: str = Field(description="cpu.max of the control group, if there is one.")
    cgroup_memory: str = Field(description="memory.max of it.")
    init_seconds: float = Field(description="What MPI_Init took, on the slowest rank.")
    clock: str = Field(description="That of the samples.")
    clock_cost: float = Field(description="What reading the clock of the samples takes.")
    clock_resolution: float = Field(description="The smallest step that was seen of it.")
    harness_cost: float | None = Field(
        None,
        description="What the harness itself takes for a sample without a call: clock, wrappers, "
        "keeping and counting it.",
    )
    wtime_cost: float = Field(description="The same of MPI_Wtime.")
    wtime_resolution: float = Field(description="The same of MPI_Wtime.")
    start: Literal["barrier", "window"] = Field(
        "barrier",
        description="How samples begin that do not follow each other: behind a barrier, or at one "
        "time of the ranks' common clock.",
    )
    clock_error: float = Field(
        0, description="What that clock may be wrong by at most; 0 where all ranks read one."
    )
    barrier: float | None = Field(None, description="What a barrier of all ranks takes.")
    seed: int = Field(description="Of the order in which points were measured.")
    within: float = Field(
        description="A point is narrow when half of its median's interval is this share of it."
    )


class Description(BaseModel):
    """A measurement of the catalogue, before its first point."""

    kind: Literal["measurement"] = Field(description="What the line is.")
    name: str = Field(description="Of the measurement.")
    group: str = Field(description="What `haichi measure` takes in place of all its names.")
    functions: list[str] = Field(description="The MPI functions that it is for.")
    section: str = Field(description="Of the MPI 4.1 standard.")
    timed: str = Field(description="The timed calls in words.")
    sample: str = Field(description="What one sample is.")
    formula: str = Field(
        description="What was made of a sample before it was kept, e.g. `sample / 2`; where a "
        "sample has several calls (`batch` of a point), it is divided by their number too."
    )
    buffers: str = Field(description="How memory or the file is used.")
    who: Literal["pair", "all"] = Field(description="Which ranks take part.")
    start: Literal["barrier", "back to back", "not told"] = Field(
        description="How ranks begin a sample."
    )
    over: Literal["slowest rank", "first rank", "mean of the ranks"] = Field(
        description="Whose time is the sample."
    )
    sized: bool = Field(description="Whether it is made for several sizes.")
    unit: Literal["s"] = Field(description="Of all times.")


class Point(BaseModel):
    """A measurement at one placement class and size."""

    kind: Literal["point"] = Field(description="What the line is.")
    launch: int = Field(description="The launch that it is of.")
    name: str = Field(description="Of the measurement.")
    place: str = Field(
        description="`core`, `numa`, `node` or `network`, which tell how near the two ranks of a "
        "pair are, or `all`; `pair` where imported output does not tell."
    )
    ranks: list[int] | None = Field(None, description="The pair.")
    bytes: NonNegativeInt = Field(description="0 where the measurement has no size.")
    role: Literal["grid", "refined", "switch"] = Field(
        "grid",
        description="Why it was measured: as one of the measurement's sizes, because a line "
        "between its neighbours erred (`--refine`), or on the way to a switch (`--switches`).",
    )
    samples: NonNegativeInt = Field(description="How many there are.")
    batch: int = Field(description="Calls in a sample: more than one where a call is too short.")
    visits: int = Field(description="How often it was come back to.")
    statistic: Literal["median", "mean"] = Field(
        "median",
        description="What `median` is: `mean` where imported output has a mean of the samples and "
        "no median.",
    )
    median: float = Field(description="The middle sample, as the histogram has it.")
    median_low: float | None = Field(
        description="The median's interval of 95 %, without assuming a distribution; null for "
        "fewer than 6 samples."
    )
    median_high: float | None = Field(description="The upper end of it.")
    narrow: bool = Field(description="Whether that is as narrow as was asked for (`within`).")
    p5: float | None = Field(
        description="Five of a hundred samples are below it; null, as the next four, where "
        "imported output does not tell."
    )
    p95: float | None = Field(description="95 of a hundred are.")
    p99: float | None = Field(description="99 of a hundred are.")
    least: float | None = Field(description="The smallest sample.")
    most: float | None = Field(description="The largest.")
    mean: float = Field(description="As others print it; one interrupted sample can double it.")
    first: float | None = Field(description="The first call of all.")
    buffers: Literal["hot", "cold"] = Field(
        "hot", description="Whether the memory used was in the caches when a sample began."
    )
    start: Literal["barrier", "window", "back to back"] | None = Field(
        None, description="How ranks began the samples of the last visit."
    )
    usual: bool = Field(
        True, description="Whether it is measured as it is without `--buffers` and `--spacing`."
    )
    missed: NonNegativeInt = Field(
        0, description="Samples that a rank was late for, of those begun by the clock: not kept."
    )
    involuntary_switches: NonNegativeInt = Field(
        0, description="How often the kernel took a core from a rank while samples were taken."
    )
    page_faults: NonNegativeInt = Field(0, description="Page faults of the ranks meanwhile.")
    steal_seconds: float = Field(
        0,
        description="What the host of this virtual machine gave to others meanwhile, of all cores.",
    )
    least_mhz: float | None = Field(
        None,
        description="The lowest frequency of a rank's core before and after; absent where "
        "the kernel tells none.",
    )
    most_mhz: float | None = Field(None, description="The highest.")
    bins: list[int] = Field(
        description="The histogram: bin b has samples from 2^(b/128) to 2^((b+1)/128) picoseconds."
    )
    counts: list[int] = Field(description="Samples in each of `bins`.")
    raw: list[float] | None = Field(
        None, description="All samples in the order of their time, with `--raw`."
    )

    def label(self) -> str:
        """Its measurement's name, and how it was measured if not as usual: another quantity."""
        if self.usual:
            return self.name
        return f"{self.name} ({self.buffers}{f', {self.start}' if self.start else ''})"


class Left(BaseModel):
    """What could not be measured, and why."""

    kind: Literal["left"] = Field(description="What the line is.")
    launch: int = Field(description="The launch that it is of.")
    name: str = Field(description="Of the measurement.")
    place: str | None = Field(None, description="Absent if it is so for the whole measurement.")
    ranks: list[int] | None = Field(None, description="The pair.")
    bytes: int | None = Field(None, description="Of the point.")
    reason: str = Field(description="In a line.")


class Switch(BaseModel):
    """A size at which the MPI library changes its way (`--switches`)."""

    kind: Literal["switch"] = Field(description="What the line is.")
    launch: int = Field(description="The launch that it is of.")
    name: str = Field(description="Of the measurement.")
    place: str = Field(description="As of a point.")
    ranks: list[int] | None = Field(None, description="The pair.")
    buffers: Literal["hot", "cold"] = Field(description="As of a point.")
    below: NonNegativeInt = Field(description="The largest size of the one way.")
    above: NonNegativeInt = Field(description="The smallest of the other, 4 bytes more.")
    median_below: float = Field(description="What the one takes.")
    median_above: float = Field(description="What the other takes.")
    ratio: float = Field(description="The other over the one.")


class End(BaseModel):
    """That a launch came to its end: without it the launch was killed."""

    kind: Literal["end"] = Field(description="What the line is.")
    launch: int = Field(description="The launch that it is of.")
    stated_seconds: float = Field(description="What it said it would take, before it began.")
    seconds: float = Field(description="What it took, without starting and ending MPI.")
    points: NonNegativeInt = Field(description="That it was to measure.")
    failed: NonNegativeInt = Field(description="Of these it could not.")


class Samples(BaseModel):
    """A samples file: its first line, and all others in their order."""

    head: Launch = Field(description="The first line.")
    records: list[Launch | Description | Point | Left | Switch | End] = Field(
        description="All others."
    )
