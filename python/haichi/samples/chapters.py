"""The page's chapters of figures: which measurements are drawn beside which others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from haichi.report.markup import Child, Markup, table, tag
from haichi.samples import curves, pictures
from haichi.samples.curves import Bound, Series
from haichi.samples.view import Job, Value
from haichi.units import format_bytes, format_seconds

Chapter = tuple[str, str, list[Markup | None]]
COPIERS = ("pack", "unpack", "file-read-at", "file-write-at")
WAYS = ("isend", "send", "send-barrier", "sendrecv", "put", "get", "neighbor", "alltoallv",
        "persistent")  # fmt: skip
SYNCS = ("fence", "pscw", "lock", "flush", "flush-local")
OPERATIONS = ("put", "get", "accumulate", "get-accumulate", "fetch-and-op", "compare-and-swap")
BLOCKING = ("bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall", "scan",
            "reduce-scatter-block")  # fmt: skip


def chapters(job: Job) -> Iterator[Chapter]:
    """Title, introduction and figures of each; figures are None where nothing was measured."""
    yield _point_to_point(job)
    yield (
        "Pairs of ranks",
        "Each pair that was measured, to see a node or link that is slower than its peers.",
        list(pictures.heat_maps(job)),
    )
    yield _collectives(job)
    yield _exchanges(job)
    yield _one_sided(job)
    yield _files(job)
    yield _lives(job)


def _best(values: Iterable[Value]) -> Value | None:
    return max(values, key=lambda value: value.rate, default=None)


def _copy_bound(job: Job) -> Bound | None:
    """The best rate at which a core copies: packing, or a file that is in memory."""
    best = _best(value for name in COPIERS for value in job.curve(name))
    return Bound(f"copy ({best.name} at best)", best.rate) if best else None


def _link_bound(job: Job) -> Bound | None:
    """The best rate between nodes that any way of sending reached; without nodes that of a copy."""
    if len(job.launch.node_names) < 2:
        return _copy_bound(job)
    ways = ("stream", "stream-pairs", "ping-pong")
    best = _best(value for name in ways for value in job.curve(name, "network"))
    return Bound(f"link ({best.name} at best)", best.rate) if best else None


def _disk_bound(job: Job) -> Bound | None:
    """Bytes that File_sync brings to the disk in its time."""
    best = _best(job.curve("file-sync"))
    return Bound("disk (File_sync at best)", best.rate) if best else None


def _charts(*made: Markup | None) -> Markup | None:
    shown = [each for each in made if each]
    return tag("div", shown, cls="charts") if shown else None


def _series(job: Job, names: Iterable[str], prefix: str = "", suffix: str = "") -> list[Series]:
    return [Series(name, job.curve(f"{prefix}{name}{suffix}")) for name in names]


def _point_to_point(job: Job) -> Chapter:
    bound = _link_bound(job)
    by_place = [Series(p, job.curve("ping-pong", p)) for p in job.places("ping-pong")]
    modes = [n for n in job.names("p2p") if n.startswith("ping-pong") and "(" not in n]
    others = [name for name in job.names("p2p") if name.startswith("ping-pong (")]
    small = min((value.bytes for value in job.curve("ping-pong")), default=0)
    costs = [(n, v) for n in modes if (v := job.at(n, small))]
    return (
        "Point to point",
        "Ping-pong by placement class, then what else moves the same bytes. Dashed: the best that "
        "a copy, the link or the disk gave in this file. A line is broken where a protocol "
        "changes.",
        [
            _charts(
                curves.times("Ping-pong: time", by_place, bound),
                curves.rates("Ping-pong: rate", by_place, bound),
                curves.rates(
                    "Ways to move bytes",
                    _series(job, ("ping-pong", "bidirectional", "stream", "stream-pairs",
                                  "sendrecv")),
                    bound,
                ),
                curves.times(
                    "Send modes",
                    _series(job, ("ping-pong", "ping-pong-isend", "ping-pong-ssend",
                                  "ping-pong-bsend", "ping-pong-rsend", "ping-pong-persistent",
                                  "ping-pong-probe", "ping-pong-any", "partitioned")),
                ),
                curves.times(
                    "Datatypes",
                    _series(job, ("contiguous", "vector", "indexed", "struct", "subarray"),
                            "ping-pong-"),
                ),
                curves.times(
                    "Ping-pong, buffers hot and cold",
                    _series(job, ["ping-pong", *others]) if others else [],
                ),
                curves.times("Packing", _series(job, ("pack", "unpack", "pack-external"))),
            ),
            pictures.bars(f"Ping-pongs of {format_bytes(small)}", _by_time(costs)),
        ],
    )  # fmt: skip


def _by_time(values: Iterable[tuple[str, Value]]) -> list[tuple[str, Value]]:
    return sorted(values, key=lambda each: each[1].median)


def _collectives(job: Job) -> Chapter:
    return (
        "Collectives",
        "The slowest rank's time behind a barrier. The table has the largest size that was "
        "measured in all forms: blocking; nonblocking as a whole, its issue and its wait apart; "
        "persistent.",
        [
            _charts(
                curves.times("Collectives", _series(job, BLOCKING)),
                curves.times(
                    "All-to-all",
                    _series(job, ("alltoall", "alltoallv", "alltoallw", "ialltoall",
                                  "alltoall-persistent", "neighbor-alltoall")),
                ),
                curves.times(
                    "Neighbours",
                    _series(job, [n for n in job.names("neighbourhood") if n.count("-") == 1]),
                ),
            ),
            _forms(job, BLOCKING),
        ],
    )  # fmt: skip


def _forms(job: Job, names: Sequence[str]) -> Markup | None:
    rows: list[list[Child]] = []
    for name in names:
        curve = job.curve(name)
        forms = (
            f"i{name}",
            f"i{name}-issue",
            f"i{name}-wait",
            f"{name}-persistent",
            f"{name}-init",
        )
        for value in reversed(curve):
            found = [job.at(form, value.bytes) for form in forms]
            if all(found[:3]):
                cells = [format_seconds(each.median) if each else "–" for each in found]
                size = format_bytes(value.bytes)
                rows.append([name, size, format_seconds(value.median), *cells])
                break
    head = ["", "#size", "#blocking", "#nonblocking", "#its issue", "#its wait", "#persistent",
            "#making it"]  # fmt: skip
    return table(head, rows) if rows else None


def _exchanges(job: Job) -> Chapter:
    bound = _link_bound(job)
    return (
        "Exchanges, way by way",
        "Each rank sends to each other (exchange) or to the next of a ring (shift), in every "
        "implementation of paper 001 and more.",
        [
            _charts(
                curves.times("Exchange", _series(job, WAYS, "exchange-"), bound),
                curves.times("Shift", _series(job, WAYS, "shift-"), bound),
            ),
            _side_by_side(job, "exchange-", WAYS, "alltoall"),
        ],
    )


def _side_by_side(job: Job, prefix: str, names: Sequence[str], also: str) -> Markup | None:
    """A row for each size, a column for each way; the fastest is marked."""
    known = [name for name in (f"{prefix}{each}" for each in names) if job.curve(name)]
    known += [also] if job.curve(also) else []
    sizes = sorted({value.bytes for name in known for value in job.curve(name)})
    rows: list[list[Child]] = []
    for size in sizes:
        found = [job.at(name, size) for name in known]
        best = min((each.median for each in found if each), default=0)
        cells: list[Child] = []
        for each in found:
            text = format_seconds(each.median) if each else "–"
            cells.append(tag("b", text) if each and each.median == best else text)
        rows.append([format_bytes(size), *cells])
    head = ["", *(f"#{name.removeprefix(prefix)}" for name in known)]
    return table(head, rows) if rows and len(known) > 1 else None


def _one_sided(job: Job) -> Chapter:
    waits = [(n, v) for n in job.names("synchronisation") if (v := job.at(n))]
    return (
        "One-sided operations",
        "By synchronisation, then synchronisation alone: fences with each assertion, locks and "
        "flushes without an operation.",
        [
            _charts(
                *(
                    curves.times(
                        f"{operation.capitalize()}, by synchronisation",
                        _series(job, SYNCS, f"{operation}-"),
                        _link_bound(job) if operation in ("put", "get") else None,
                    )
                    for operation in OPERATIONS
                )
            ),
            pictures.bars("Synchronisation alone, by assertion", _by_time(waits)),
        ],
    )


def _files(job: Job) -> Chapter:
    plain = ("", "-at", "-all", "-at-all", "-shared", "-ordered")
    copy, disk = _copy_bound(job), _disk_bound(job)
    views = [n for n in job.names("file-handling") if "view" in n]
    handling = [
        (n, v) for n in job.names("file-handling") if n not in views for v in job.curve(n)[-1:]
    ]
    return (
        "Files",
        "By function and by view. Accesses go to the page cache; the bound of the disk is what "
        "File_sync reaches.",
        [
            _charts(
                curves.rates(
                    "Writing", _series(job, [f"write{s}" for s in plain], "file-"), disk or copy
                ),
                curves.rates("Reading", _series(job, [f"read{s}" for s in plain], "file-"), copy),
                curves.times(
                    "Split collective writes",
                    _series(job, ("write-all", "write-all-split", "write-all-begin",
                                  "write-all-end"), "file-"),
                ),
                curves.times(
                    "Nonblocking writes",
                    _series(job, ("write-at", "iwrite-at", "iwrite-at-issue", "iwrite-at-wait",
                                  "iwrite-at-all", "iwrite-at-all-issue", "iwrite-at-all-wait"),
                            "file-"),
                ),
                curves.times(
                    "Sync, sizes, atomic mode",
                    _series(job, ("sync", "preallocate", "set-size", "write-at-atomic",
                                  "write-at"), "file-"),
                ),
            ),
            pictures.bars("Views", _by_time((n, v) for n in views if (v := job.at(n)))),
            pictures.bars("Calls on files, at their largest size", _by_time(handling)[-30:]),
        ],
    )  # fmt: skip


def _lives(job: Job) -> Chapter:
    windows = [(n, v) for n in job.names("window") for v in job.curve(n)[-1:]]
    others = [(n, v) for n in job.names("communicator") for v in job.curve(n)[-1:]]
    return (
        "Making and freeing",
        "Windows, communicators and groups: what a program pays before it sends a byte.",
        [
            pictures.bars("Windows, at their largest size", _by_time(windows)),
            pictures.bars("Communicators and groups", _by_time(others)[-30:]),
        ],
    )
