"""Calls of the program that cost more than they need, each by a rule of its own.

A rule looks at what the record has of a kind of call and says what to write in its place. What that
would cost here is taken from the profile's curves; where they do not tell, there is no gain and a
line that says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from haichi.advise.model import Advice
from haichi.predict.costs import cost_of
from haichi.predict.curves import Curves
from haichi.predict.model import interval
from haichi.predict.span import Span
from haichi.record.read import Key, Record
from haichi.units import format_seconds, plural

WORTH = 0.01  # of the program's time: below that nothing is said
SMALL = 256  # bytes of a collective that is all latency
MANY = 100  # calls of a rank
TOGETHER = 8  # small collectives that could be one
PIECE = 1 << 16  # bytes of a small access
POLLS = 10  # looks for each message that came
JOINABLE = frozenset({"Allreduce", "Reduce", "Bcast", "Allgather", "Alltoall", "Gather", "Scatter"})


@dataclass(frozen=True)
class Case:
    """A record, and the curves of its machine if there are any."""

    record: Record
    curves: Curves | None

    def keys(self, wanted: Callable[[str], bool]) -> list[Key]:
        """Those whose function is wanted, without `MPI_` and `_c`."""
        return [key for key in self.record.keys if wanted(key.name)]

    def worth(self, keys: Sequence[Key]) -> bool:
        """Whether the rank with most of it spends so much there that it matters."""
        return most_of_a_rank(keys) >= WORTH * self.record.wall_s

    def saved(self, keys: Sequence[Key], other: Callable[[Key], tuple[Key, float]]) -> Span | None:
        """What the rank with most of it would save if each of its calls were so many of another:
        what is recorded, less the other's cost. None if a curve is missing."""
        if self.curves is None:
            return None
        left: dict[int, Span] = defaultdict(lambda: Span(0.0, 0.0))
        for key in keys:
            changed, share = other(key)
            cost = cost_of(self.record, self.curves, changed)
            if cost is None:
                return None
            need = cost.span.times(key.call.count * share)
            spent = key.call.total_s
            for rank in key.ranks:
                left[rank] += Span(max(spent - need.high, 0.0), max(spent - need.low, 0.0))
        return max(left.values(), key=lambda span: span.high)


def most_of_a_rank(keys: Sequence[Key]) -> float:
    """What the rank with most of these calls spent in them."""
    seconds: dict[int, float] = defaultdict(float)
    for key in keys:
        for rank in key.ranks:
            seconds[rank] += key.call.total_s
    return max(seconds.values(), default=0.0)


def as_function(key: Key, function: str, size: int | None = None) -> Key:
    """The same calls by another function, of another size if one is given."""
    changes: dict[str, object] = {"function": function}
    if size is not None:
        changes["bytes"] = size
    return replace(key, call=key.call.model_copy(update=changes))


def _by(key: Key, function: str) -> tuple[Key, float]:
    """Each call by one of another function."""
    return as_function(key, function), 1.0


def advice_on_calls(case: Case) -> Iterator[Advice]:
    """By all rules."""
    for rule in (
        small_collectives,
        ordered_accesses,
        atomic_mode,
        independent_pieces,
        probe_loops,
    ):
        yield from rule(case)


def _advice(
    case: Case, keys: Sequence[Key], title: str, why: str, gained: Span | None, unknown: str
) -> Advice:
    return Advice(
        kind="program",
        title=title,
        why=why,
        recorded_s=most_of_a_rank(keys),
        gain_s=interval(gained) if gained else None,
        unknown="" if gained else unknown if case.curves else "there is no profile of the machine",
        paste=[],
    )


def small_collectives(case: Case) -> Iterator[Advice]:
    """Many calls of a few bytes: their time is latency, and several in one call have it once."""
    for name in sorted(JOINABLE):
        small = [
            key
            for key in case.keys({name}.__contains__)
            if (key.call.bytes or 0) <= SMALL and key.call.count >= MANY
        ]
        if not small or not case.worth(small):
            continue
        saved = case.saved(
            small,
            lambda key: (
                as_function(key, key.call.function, (key.call.bytes or 0) * TOGETHER),
                1 / TOGETHER,
            ),
        )
        calls = sum(key.call.count for key in small if small[0].ranks[0] in key.ranks)
        yield _advice(
            case,
            small,
            f"Put several MPI_{name} into one",
            f"rank {small[0].ranks[0]} made {plural(calls, 'call')} of at most {SMALL} bytes, "
            f"{format_seconds(small[0].call.total_s / small[0].call.count)} each; the gain is that "
            f"of {TOGETHER} in one call",
            saved,
            f"the profile has no curve of MPI_{name}: haichi measure --for RECORD",
        )


def ordered_accesses(case: Case) -> Iterator[Advice]:
    """The shared file pointer, in the order of ranks: offsets that the ranks know do the same."""
    keys = case.keys(lambda name: "_ordered" in name and not name.endswith("_end"))
    if not keys or not case.worth(keys):
        return
    saved = case.saved(
        keys,
        lambda key: (as_function(key, key.call.function.replace("_ordered", "_at_all")), 1.0),
    )
    yield _advice(
        case,
        keys,
        "Write at offsets (MPI_File_write_at_all) in place of ordered",
        f"{_functions(keys)} go through the shared file pointer; MPI_Exscan of the sizes tells "
        "each rank its offset once",
        saved,
        "the profile has no curve of collective accesses at offsets",
    )


def atomic_mode(case: Case) -> Iterator[Advice]:
    """In atomic mode each access locks what it covers, and nothing is collected."""
    set_at = case.keys(lambda name: name == "File_set_atomicity")
    if not set_at:
        return
    files = {key.call.file for key in set_at}
    keys = case.keys(
        lambda name: name.startswith(("File_write", "File_read", "File_iw", "File_ir"))
    )
    keys = [key for key in keys if key.call.file in files]
    if not keys or not case.worth(keys):
        return
    yield _advice(
        case,
        keys,
        "Leave atomic mode: MPI_File_sync and a barrier between writing and reading",
        f"MPI_File_set_atomicity was called, and {_functions(keys)} on that file may then go one "
        "after the other",
        None,
        "what the accesses need without locks is not recorded",
    )


def independent_pieces(case: Case) -> Iterator[Advice]:
    """Each rank alone, in pieces: together they are few large accesses."""
    for verb in ("write", "read"):
        names = {f"File_{verb}", f"File_{verb}_at", f"File_i{verb}", f"File_i{verb}_at"}
        keys = [
            key
            for key in case.keys(names.__contains__)
            if key.call.view not in (None, "", "contiguous")
            or ((key.call.bytes or 0) < PIECE and key.call.count >= MANY)
        ]
        if not keys or not case.worth(keys):
            continue
        strided = sum(key.count for key in keys if key.call.view not in (None, "", "contiguous"))
        saved = case.saved(keys, partial(_by, function=f"MPI_File_{verb}_at_all"))
        of_that = f", {strided} of them by a view with gaps" if strided else ""
        yield _advice(
            case,
            keys,
            f"Give pieces to a collective {verb} (MPI_File_{verb}_all)",
            f"{_functions(keys)}: {plural(sum(key.count for key in keys), 'access', 'accesses')} "
            f"of each rank alone{of_that}; all ranks together make few large ones of them",
            saved,
            f"the profile has no curve of MPI_File_{verb}_at_all",
        )


def probe_loops(case: Case) -> Iterator[Advice]:
    """Looking again and again whether something has come."""
    polls = case.keys(lambda name: name in ("Iprobe", "Improbe", "Test", "Testall", "Testany"))
    if not polls or not case.worth(polls):
        return
    received = case.keys(
        lambda name: name in ("Recv", "Mrecv", "Irecv", "Imrecv", "Sendrecv", "Isend")
    )
    looks, came = sum(key.count for key in polls), sum(key.count for key in received)
    if looks < POLLS * max(came, 1):
        return
    yield _advice(
        case,
        polls,
        "Wait in MPI (MPI_Mprobe, MPI_Waitany) in place of looking again and again",
        f"{_functions(polls)} were called {plural(looks, 'time')} for {plural(came, 'message')}",
        None,
        "how much of it was waiting for others the record does not tell",
    )


def _functions(keys: Sequence[Key]) -> str:
    """Their names, each once."""
    names = sorted({key.call.function for key in keys})
    return ", ".join(names[:4]) + (" and others" if len(names) > 4 else "")
