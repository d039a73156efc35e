"""The mapping solver of src/plan/mapping.h, by `haichi map`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import BaseModel, Field, ValidationError

from haichi import paths, programs
from haichi.advise.model import MappedBytes
from haichi.mpi import Missing
from haichi.record.model import Cart
from haichi.report.placement import Placement


class Mapped(BaseModel):
    """What `haichi map` prints. What a mapping costs is in bytes; of a grid in messages."""

    seats: list[int] = Field(description="Of each rank, a rank of the placement.")
    given: MappedBytes = Field(description="Of each rank in its own place.")
    mapped: MappedBytes = Field(description="Of the seats.")
    seconds: float = Field(description="What finding them took.")


def map_ranks(
    placement: Placement,
    edges: Sequence[tuple[int, int, int]] | None = None,
    grid: Cart | None = None,
) -> Mapped:
    """The best seats for ranks that exchange these bytes, or that are a grid.

    Raises:
        Missing: haichi is not built, or refuses.
    """
    question: dict[str, object] = {
        "placement": placement.model_dump(by_alias=True, exclude_none=True)
    }
    if grid is not None:
        question["grid"] = {
            "dims": grid.dims,
            "periods": grid.periods or [False] * len(grid.dims),
        }
    else:
        question["edges"] = list(edges or ())
    answer = programs.output(paths.program("haichi"), "map", stdin=json.dumps(question))
    try:
        return Mapped.model_validate_json(answer)
    except ValidationError as error:
        raise Missing(
            f"haichi map: its answer can't be read ({error.error_count()} errors)"
        ) from None
