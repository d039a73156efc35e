"""The form `haichi.placement/1` as a pydantic model, and the base of all forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, model_validator

from haichi.report.rank_list import parse_rank_list


class Form(BaseModel):
    """Base of everything read from a file: immutable, and open to fields of a later release."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Node(Form):
    """One node of the job."""

    name: str | None = Field(
        None,
        description="Host name, or the name that `HAICHI_PLACEMENT` gave the node; `node<n>` if "
        "absent.",
    )
    address: str | None = Field(
        None,
        min_length=1,
        description="Where the node sits in the network: `1,0,2`, `s0.s3.n17` or `17`; absent if "
        "nobody said.",
    )
    ranks: str = Field(
        description="Ranks on the node, ascending, compact: `0-3,8`.", examples=["0-3"]
    )


class Place(Form):
    """Where one rank runs inside its node."""

    core: int = Field(
        -1, description="First core (operating system index) the rank may run on; -1 if not known."
    )
    cores: NonNegativeInt = Field(0, description="How many cores it may run on; 0 if not known.")
    numa: int = Field(-1, description="NUMA node of that core; -1 if not known.")


class Placement(Form):
    """Who is where: the nodes of a job and the ranks on each of them (`haichi.placement/1`)."""

    form: Literal["haichi.placement/1"] = Field(
        alias="schema", description="Name and major version of the form."
    )
    nodes: list[Node] = Field(
        min_length=1,
        description="The nodes, in order of their lowest rank; other fields count nodes from 0 in "
        "this order.",
    )
    places: list[Place] | None = Field(
        None, description="One entry a rank, in order of rank; absent if not known."
    )

    @classmethod
    def seated(
        cls,
        node_of_rank: Sequence[int],
        nodes: Sequence[Node],
        places: Sequence[Place] | None = None,
    ) -> Placement:
        """With each rank on one of these nodes, whatever ranks they have; a node without a rank is
        left out."""
        members: dict[int, list[int]] = {}
        for rank, node in enumerate(node_of_rank):
            members.setdefault(node, []).append(rank)
        return cls(
            schema="haichi.placement/1",
            nodes=[
                nodes[node].model_copy(update={"ranks": ",".join(map(str, ranks))})
                for node, ranks in members.items()
            ],
            places=list(places) if places else None,
        )

    def name_of(self, node: int) -> str:
        """Name of a node, given its index."""
        return self.nodes[node].name or f"node{node}"

    def node_of_rank(self) -> list[int]:
        """Index of the node of every rank, in order of rank."""
        pairs = [(r, n) for n, node in enumerate(self.nodes) for r in parse_rank_list(node.ranks)]
        return [node for _, node in sorted(pairs)]

    @model_validator(mode="after")
    def _complete(self) -> Placement:
        ranks = sorted(r for node in self.nodes for r in parse_rank_list(node.ranks))
        for expected, rank in enumerate(ranks):
            if rank != expected:
                what = (
                    f"rank {rank} is on two nodes"
                    if rank < expected
                    else f"no node has rank {expected}"
                )
                raise ValueError(what)
        if self.places is not None and len(self.places) != len(ranks):
            raise ValueError(f"{len(self.places)} places for {len(ranks)} ranks")
        return self
