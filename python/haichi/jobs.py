"""Starting an MPI job and being sure of its end.

A job is many processes, some of them in other namespaces and other sessions, and a library can
leave ranks behind that never end (MPICH 4.0.2 over UCX hangs in MPI_Finalize in about 40 % of its
oversubscribed runs). So whatever it started is ended, wherever it went, once the launcher is gone
or the time is over. Times are in seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from haichi_processes import runner

POLITE = 2.0  # for a launcher to end its ranks


def run(
    words: Sequence[str],
    env: Mapping[str, str],
    *,
    timeout: float,
    capture: bool = True,
    grace: float | None = None,
) -> runner.Outcome:
    """Runs a launcher with exactly the environment `env`; the rest is as `runner.run` has it."""
    return runner.run(
        words,
        env=env,
        timeout=timeout,
        grace=grace,
        polite=POLITE,
        everywhere=True,
        capture=capture,
    )
