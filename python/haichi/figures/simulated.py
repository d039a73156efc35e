"""What `haichi simulate` says, for figures that hold something against it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from haichi import paths, programs


def simulated(
    words: Sequence[str],
    machine: Mapping[str, float] | None = None,
    algorithms: Collection[str] = (),
    *,
    timeout: float = 600,
) -> dict[str, float]:
    """Seconds of the slowest rank by algorithm; of none, "" has them.

    Args:
        words: the pattern and its parameters.
        machine: numbers that are not the default.

    Raises:
        Missing: haichi is not built, fails, or does not end.
    """
    further = [
        word for name, value in (machine or {}).items() for word in ("--set", f"{name}={value!r}")
    ]
    if algorithms:
        further += ["--sweep", "algorithm=" + ",".join(algorithms)]
    out = programs.output(
        paths.program("haichi"), "simulate", *words, *further, "--json", timeout=timeout
    )
    return {
        row.get("sweep", {}).get("algorithm", ""): row["worst_us"] / 1e6
        for row in json.loads(out)["results"]
    }
