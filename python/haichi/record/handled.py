"""Which calls haichi can carry out by itself when it is underneath.

As src/preload/functions.txt has them: functions whose calls one of haichi's own templates takes. A
test compares the two.
"""

from __future__ import annotations

_FILES = ("write_all", "read_all", "write_at_all", "read_at_all", "write_ordered", "read_ordered")
_EXCHANGES = ("alltoall", "alltoallv", "alltoallw")
HANDLED = frozenset(
    {
        *(f"File_{name}" for name in _FILES),
        *(f"File_{name}_{part}" for name in _FILES for part in ("begin", "end")),
        *(f"File_i{name}" for name in _FILES[:4]),
        *(name.capitalize() for name in _EXCHANGES),
        *(f"I{name}" for name in _EXCHANGES),
        *(f"{name.capitalize()}_init" for name in _EXCHANGES),
        *(f"Neighbor_{name}" for name in _EXCHANGES),
        *(f"Ineighbor_{name}" for name in _EXCHANGES),
        *(f"Neighbor_{name}_init" for name in _EXCHANGES),
        *(f"{name}_create" for name in ("Cart", "Graph", "Dist_graph")),
        "Dist_graph_create_adjacent",
        "Allgather",
        "Allgatherv",
        "Neighbor_allgather",
        "Neighbor_allgatherv",
    }
)


def handles(name: str) -> bool:
    """Whether haichi takes part in calls of a function, without `MPI_` and `_c`."""
    return name in HANDLED
