"""What is odd in samples, in words: each with its number and the point that it comes from.

A finding needs intervals of medians that lie apart, so that noise makes none. Factors are how much
more something takes than what it is held against.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from haichi.samples.view import Job, Value
from haichi.units import format_bytes, format_seconds, plural

MOST = 20
MOST_OF_A_KIND = 3
WHOLE = (0.8, 1.25)  # of a call's time: as good as all of it; more is noise
SHORT = 5e-6  # s: what takes less has no time to hide
LONG = 0.05  # s: for one call on a file or a communicator
PARTS = ("-issue", "-wait", "-begin", "-end", "-init")  # of calls: no size of their own to speak of
SWITCH = 1.05  # the other way over the one, or its inverse
NEAR = 1.2  # sizes that are nearly the same, as a ratio


@dataclass(frozen=True)
class Finding:
    """One sentence; findings of more `weight` stand first."""

    weight: float
    words: str
    point: str


def findings(job: Job) -> list[Finding]:
    """The most remarkable, those of one kind kept to a few."""
    kinds: Sequence[Callable[[Job], Iterator[Finding]]] = (
        _found_switches,
        _switches,
        _larger_is_faster,
        _spikes,
        _slow_ends,
        _one_sided_pairs,
        _all_to_all,
        _split_begins,
        _issues,
        _nonblocking,
        _persistent,
        _types,
        _long_calls,
        _windows,
        _assertions,
        _syncs,
        _first_calls,
    )
    kept: list[Finding] = []
    for kind in kinds:
        kept += sorted(kind(job), key=lambda each: -each.weight)[:MOST_OF_A_KIND]
    return sorted(kept, key=lambda each: -each.weight)[:MOST]


def cautions(job: Job) -> list[str]:
    """What to know before the figures are believed."""
    launch = job.launch
    found = []
    if launch.source:
        return [
            f"Imported: as {launch.source} printed it, means unless each repetition was printed. "
            "What is not printed is not known here."
        ]
    if any(each.oversubscribed for each in job.launches):
        found.append("There were more ranks than cores: figures show the scheduler's turns too.")
    values = list(job.values.values())
    wide = sum(not value.narrow for value in values)
    if wide > len(values) / 10:
        found.append(
            f"At {wide} of {plural(len(values), 'point')} the interval of the median is wider than "
            f"{100 * launch.within:g} % to each side: the machine was busy (load {launch.load}) or "
            "the time short."
        )
    doubled = sum(value.mean >= 2 * value.median for value in values)
    if doubled > len(values) / 20:
        found.append(
            f"At {doubled} points the mean, which other benchmarks print, is twice the median or "
            "more: interrupted samples."
        )
    if len(job.launches) == 1:
        found.append(
            "One launch: how far launches differ is not known. Several, in turns, tell "
            "(haichi compare)."
        )
    found += [f"{name} is cut off: its last line is left out." for name in job.cut]
    return found


def _times(factor: float) -> str:
    return f"{factor:.0f}×" if factor >= 9.5 else f"{factor:.1f}×"


def _switches(job: Job) -> Iterator[Finding]:
    for name in job.names("p2p", "rma"):
        for place in job.places(name):
            curve = job.curve(name, place)
            for index, (small, large) in enumerate(zip(curve, curve[1:], strict=False), 1):
                if small.bytes == 0 or _is_spike(curve, index):
                    continue
                size = large.bytes / small.bytes
                cost = large.median / small.median / max(size, 1.0)
                enough = 1.25 if size < NEAR else 1.5
                if cost >= enough and large.above(small, size * enough):
                    yield Finding(
                        cost,
                        f"{name} ({place}): {_times(large.median / small.median)} the time from "
                        f"{format_bytes(small.bytes)} ({format_seconds(small.median)}) to "
                        f"{format_bytes(large.bytes)} ({format_seconds(large.median)}), which is "
                        f"{_times(cost)} more than in proportion: the protocol changes between, or "
                        "a cache ends",
                        large.point(),
                    )


def _found_switches(job: Job) -> Iterator[Finding]:
    """Those that `--switches` has searched for, to four bytes."""
    for each in job.switches:
        cost = max(each.ratio, 1 / each.ratio)
        if cost >= SWITCH:
            cold = ", cold" if each.buffers == "cold" else ""
            yield Finding(
                cost,
                f"{each.name} ({each.place}{cold}): the library changes its way at {each.above} "
                f"bytes, from {format_seconds(each.median_below)} to "
                f"{format_seconds(each.median_above)} ({each.ratio:.2f}×)",
                f"{each.name}, {each.place}, {each.below} and {each.above} bytes",
            )


def _larger_is_faster(job: Job) -> Iterator[Finding]:
    for name in job.names("p2p", "collective", "exchange", "rma", "file"):
        if name.endswith(PARTS):
            continue
        for place in job.places(name):
            curve = job.curve(name, place)
            for index, (small, large) in enumerate(zip(curve, curve[1:], strict=False)):
                if small.bytes == 0 or small.median <= SHORT or _is_spike(curve, index):
                    continue
                if small.above(large, 1.3):
                    yield Finding(
                        small.median / large.median,
                        f"{name} ({place}): {format_bytes(small.bytes)} take "
                        f"{format_seconds(small.median)}, {format_bytes(large.bytes)} only "
                        f"{format_seconds(large.median)}",
                        small.point(),
                    )


def _is_spike(curve: Sequence[Value], index: int) -> bool:
    """Whether a size takes longer than the next larger one and, by far, than the one before: this
    size alone, and no change of protocol."""
    before, after = curve[index - 1] if index else None, curve[index + 1 : index + 2]
    longer = bool(after) and curve[index].median > 1.3 * after[0].median
    return longer and (before is None or before.median < after[0].median)


def _spikes(job: Job) -> Iterator[Finding]:
    """All sizes at once that alone take long: a remark on the measuring as much as on MPI."""
    found = []
    for name, place in dict.fromkeys(key[:2] for key in job.values):
        curve = job.curve(name, place)
        for index, value in enumerate(curve[:-1]):
            if index and _is_spike(curve, index) and value.above(curve[index + 1], 2):
                found.append((value.median / curve[index + 1].median, value))
    if found:
        factor, worst = max(found, key=lambda each: each[0])
        yield Finding(
            1.1,
            f"{plural(len(found), 'size')} alone take twice the next larger one or more: "
            f"{worst.name} of {format_bytes(worst.bytes)} {_times(factor)}. If it is the same in "
            "another launch, the size is odd; else the machine was disturbed",
            worst.point(),
        )


def _slow_ends(job: Job) -> Iterator[Finding]:
    """A node, or a rank, all of whose pairs are slower than the others as near to each other."""
    nodes, names = job.launch.nodes_of_ranks, job.launch.node_names
    for (name, place, size), values in job.pairs.items():
        of_nodes = (
            place == "network" and len({nodes[rank] for each in values for rank in each.ranks}) > 2
        )
        pairs = {
            value: {nodes[rank] if of_nodes else rank for rank in value.ranks} for value in values
        }
        for end in sorted(set().union(*pairs.values())):
            own = [value for value, ends in pairs.items() if end in ends]
            rest = sorted((v for v, ends in pairs.items() if end not in ends), key=_median)
            if len(own) < 2 or not rest:
                continue
            best, middle = min(own, key=_median), rest[len(rest) // 2]
            if best.above(middle, 1.25):
                yield Finding(
                    2 * best.median / middle.median,
                    f"{'Node ' + names[end] if of_nodes else f'Rank {end}'} is slow: "
                    f"{name} of {format_bytes(size)} takes {format_seconds(best.median)} or more "
                    f"with each peer, {_times(best.median / middle.median)} what the other pairs "
                    f"take ({format_seconds(middle.median)})",
                    best.point(),
                )


def _median(value: Value) -> float:
    return value.median


def _one_sided_pairs(job: Job) -> Iterator[Finding]:
    """A pair that is slower in one direction than in the other."""
    for (name, _, size), values in job.pairs.items():
        by_ranks = {value.ranks: value for value in values}
        for ranks, value in by_ranks.items():
            back = by_ranks.get(ranks[::-1])
            if back and value.above(back, 1.25):
                yield Finding(
                    value.median / back.median,
                    f"{name}, {format_bytes(size)}: from rank {ranks[0]} to rank {ranks[1]} takes "
                    f"{_times(value.median / back.median)} the way back "
                    f"({format_seconds(value.median)}, {format_seconds(back.median)})",
                    value.point(),
                )


def _all_to_all(job: Job) -> Iterator[Finding]:
    ways = [n for n in job.names("exchange") if n.startswith("exchange-") and "(" not in n]
    for value in job.curve("alltoall"):
        others = [found for way in ways if (found := job.at(way, value.bytes))]
        best = min(others, key=lambda each: each.median, default=None)
        if best and value.above(best, 1.25):
            yield Finding(
                value.median / best.median,
                f"MPI_Alltoall of {format_bytes(value.bytes)} takes "
                f"{_times(value.median / best.median)} as long as the same exchange by {best.name} "
                f"({format_seconds(value.median)}, {format_seconds(best.median)})",
                value.point(),
            )


def _largest_shared(job: Job, part: str, whole: str) -> tuple[Value, Value] | None:
    """A part of a call and the whole at the largest size of both, if that takes a while."""
    for value in reversed(job.curve(whole)):
        found = job.at(part, value.bytes)
        if found and value.median >= SHORT:
            return found, value
    return None


def _is_whole(part: Value, whole: Value) -> bool:
    return WHOLE[0] * whole.median <= part.median <= WHOLE[1] * whole.median


def _split_begins(job: Job) -> Iterator[Finding]:
    for name in job.names("file"):
        if not name.endswith("-begin"):
            continue
        pair = _largest_shared(job, name, name.removesuffix("-begin") + "-split")
        if pair and _is_whole(*pair):
            begin, whole = pair
            yield Finding(
                2 * begin.median / whole.median,
                f"{_function(job, name)} takes {format_seconds(begin.median)} of the "
                f"{format_seconds(whole.median)} that begin and end take at "
                f"{format_bytes(whole.bytes)}: nothing is left to overlap",
                begin.point(),
            )


def _issues(job: Job) -> Iterator[Finding]:
    found = []
    for name in job.names("file", "collective"):
        if not name.endswith("-issue"):
            continue
        pair = _largest_shared(job, name, name.removesuffix("-issue"))
        if pair and _is_whole(*pair):
            found.append((name, *pair))
    for group, words in (("file", "file accesses"), ("collective", "collectives")):
        these = [each for each in found if job.descriptions[each[0]].group == group]
        if not these:
            continue
        name, issue, whole = max(these, key=lambda each: each[2].median)
        more = f", as {plural(len(these) - 1, 'other call')} of its kind" if len(these) > 1 else ""
        yield Finding(
            2.5,
            f"Nonblocking {words}: issuing {_function(job, name)} of {format_bytes(whole.bytes)} "
            f"takes {format_seconds(issue.median)} of {format_seconds(whole.median)}{more}: the "
            "call does the work, and nothing is left to overlap",
            issue.point(),
        )


def _function(job: Job, name: str) -> str:
    return job.descriptions[name].functions[0]


def _nonblocking(job: Job) -> Iterator[Finding]:
    """Nonblocking calls that take much longer than blocking ones."""
    for name in job.names("collective", "file"):
        base = name.replace("file-i", "file-", 1) if name.startswith("file-i") else name[1:]
        if not name.startswith(("i", "file-i")) or base not in job.descriptions:
            continue
        yield from _slower(job, name, base, 2.0, "with its wait")


def _persistent(job: Job) -> Iterator[Finding]:
    for name in job.names("collective", "p2p", "exchange"):
        base = name.removesuffix("-persistent")
        if base != name:
            yield from _slower(job, name, base, 1.3, "persistent, which should save time,")


def _types(job: Job) -> Iterator[Finding]:
    """A derived datatype against packing by hand: pack, send, unpack."""
    for name in job.names("datatype"):
        if not name.startswith("ping-pong-") or name == "ping-pong-contiguous":
            continue
        worst: tuple[float, Value, float] | None = None
        for value in job.curve(name):
            parts = [job.at(part, value.bytes) for part in ("pack", "ping-pong", "unpack")]
            known = [part for part in parts if part and part.high is not None]
            by_hand = sum(part.median for part in known)
            at_most = sum(part.high or 0 for part in known)
            if len(known) == 3 and value.low and value.low > 1.5 * at_most:
                factor = value.median / by_hand
                if worst is None or factor > worst[0]:
                    worst = (factor, value, by_hand)
        if worst:
            factor, value, by_hand = worst
            yield Finding(
                factor,
                f"{name} of {format_bytes(value.bytes)} takes {format_seconds(value.median)}, "
                f"{_times(factor)} packing, sending and unpacking ({format_seconds(by_hand)})",
                value.point(),
            )


def _slower(job: Job, name: str, base: str, factor: float, how: str) -> Iterator[Finding]:
    pairs = [(v, o) for v in job.curve(name) if (o := job.at(base, v.bytes))]
    worse = [(v, o) for v, o in pairs if v.above(o, factor)]
    if worse and 2 * len(worse) >= len(pairs):
        value, other = max(worse, key=lambda each: each[0].median / each[1].median)
        size = f" at {format_bytes(value.bytes)}" if value.bytes else ""
        yield Finding(
            value.median / other.median,
            f"{name} {how} takes {_times(value.median / other.median)} {base}{size} "
            f"({format_seconds(value.median)}, {format_seconds(other.median)})"
            + (f", and longer at {len(worse)} of {len(pairs)} sizes" if len(pairs) > 1 else ""),
            value.point(),
        )


def _long_calls(job: Job) -> Iterator[Finding]:
    for name in job.names("file-handling", "communicator", "window", "object"):
        curve = job.curve(name)
        worst = max(curve, key=lambda value: value.median, default=None)
        if worst and worst.median >= LONG:
            size = f" of {format_bytes(worst.bytes)}" if worst.bytes else ""
            yield Finding(
                worst.median / LONG + 1,
                f"{_function(job, name)}{size} takes {format_seconds(worst.median)} ({name})",
                worst.point(),
            )


def _windows(job: Job) -> Iterator[Finding]:
    for value in reversed(job.curve("win-allocate")):
        other = job.at("win-create", value.bytes)
        if other and value.above(other, 3):
            yield Finding(
                value.median / other.median,
                f"MPI_Win_allocate of {format_bytes(value.bytes)} takes "
                f"{_times(value.median / other.median)} MPI_Win_create "
                f"({format_seconds(value.median)}, {format_seconds(other.median)})",
                value.point(),
            )
            return


def _assertions(job: Job) -> Iterator[Finding]:
    plain, told = job.at("fence"), job.at("fence-all-assertions")
    if not plain or not told or plain.low is None:
        return
    if plain.above(told, 1.1):
        yield Finding(
            plain.median / told.median,
            f"Assertions of MPI_Win_fence pay: all four together take it from "
            f"{format_seconds(plain.median)} to {format_seconds(told.median)}",
            told.point(),
        )
    elif told.above(plain, 1.1):
        yield Finding(
            told.median / plain.median,
            f"MPI_Win_fence takes longer with all assertions ({format_seconds(told.median)}) than "
            f"without ({format_seconds(plain.median)})",
            told.point(),
        )


def _syncs(job: Job) -> Iterator[Finding]:
    for value in reversed(job.curve("file-sync")):
        write = job.at("file-write-at", value.bytes)
        if write and value.above(write, 10):
            yield Finding(
                min(value.median / write.median / 10, 3),
                f"MPI_File_sync behind {format_bytes(value.bytes)} takes "
                f"{format_seconds(value.median)}, {_times(value.median / write.median)} writing "
                "them into the page cache",
                value.point(),
            )
            return


def _first_calls(job: Job) -> Iterator[Finding]:
    values = [v for v in job.values.values() if (v.first or 0) > max(100 * v.median, 1e-3)]
    worst = max(values, key=lambda value: value.first or 0, default=None)
    if worst and worst.first:
        yield Finding(
            1.2,
            f"First calls: that of {worst.name} took {format_seconds(worst.first)}, later ones "
            f"{format_seconds(worst.median)}; {plural(len(values), 'point')} began with 100 times "
            "its median or more",
            worst.point(),
        )
