"""What the file system costs, from the MPI-IO measurements.

Those write and read one file by all ranks at once, each rank its own part, and time the slowest
one. Caches of the file system are warm: what is measured is what a program gets that stays within
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from haichi.fit.gather import Curve, Gathered, Job, Jobs, Store, jobs_of
from haichi.fit.model import ReadWrite, StorageCosts

WRITE, READ, ATOMIC = "file-write-at", "file-read-at", "file-write-at-atomic"
OPEN, CLOSE = "file-open", "file-close"
Shapes = Mapping[Job, Curve]
Figure = Callable[[Shapes], float]


def costs(found: Gathered) -> list[StorageCosts]:
    """All that is known of each folder that files were made in."""
    made = [_of_store(store, jobs) for store, jobs in sorted(found.stores.items())]
    return [each for each in made if each]


def _of_store(store: Store, jobs: Jobs) -> StorageCosts | None:
    write, read = jobs_of(jobs, WRITE), jobs_of(jobs, READ)
    opened, closed = jobs_of(jobs, OPEN), jobs_of(jobs, CLOSE)
    if not (write or read or opened or closed):
        return None
    shapes = sorted({*write, *read, *opened, *closed})
    return StorageCosts(
        path=store.directory or None,
        file_system=store.file_system or None,
        client_gbs=_both(read, write, _client_gbs),
        node_gbs=_both(read, write, _node_gbs),
        all_gbs=_both(read, write, _all_gbs),
        request_s=_both(read, write, _request_s),
        open_s=_smallest_job(opened),
        close_s=_smallest_job(closed),
        lock_s=_lock_s(write, jobs_of(jobs, ATOMIC)),
        from_="file-write-at, file-read-at, file-write-at-atomic, file-open, file-close; ranks on "
        f"nodes: {', '.join(f'{job.ranks} on {job.nodes}' for job in shapes)}; caches warm",
    )


def _both(read: Shapes, write: Shapes, figure: Figure) -> ReadWrite | None:
    if not read and not write:
        return None
    return ReadWrite(read=figure(read) if read else None, write=figure(write) if write else None)


def _best_rate(curve: Curve) -> float:
    """GB/s of one rank at the size at which it is highest."""
    return max(size / time.value for size, time in curve.items()) / 1e9


def _client_gbs(jobs: Shapes) -> float:
    """Of the smallest job, in which others disturb a rank least."""
    return _best_rate(next(iter(jobs.values())))


def _node_gbs(jobs: Shapes) -> float:
    return max(_best_rate(curve) * job.ranks / job.nodes for job, curve in jobs.items())


def _all_gbs(jobs: Shapes) -> float:
    return max(_best_rate(curve) * job.ranks for job, curve in jobs.items())


def _request_s(jobs: Shapes) -> float:
    """What is left of the smallest access when its bytes are taken at the client's rate."""
    curve = next(iter(jobs.values()))
    size = min(curve)
    return max(curve[size].value - size / (_best_rate(curve) * 1e9), 0.0)


def _smallest_job(jobs: Shapes) -> float | None:
    for curve in jobs.values():
        return curve[min(curve)].value
    return None


def _lock_s(plain: Shapes, atomic: Shapes) -> float | None:
    """What atomic mode adds to an access of the smallest size that both have."""
    for job in plain:
        if common := set(plain[job]) & set(atomic.get(job, {})):
            size = min(common)
            return max(atomic[job][size].value - plain[job][size].value, 0.0)
    return None
