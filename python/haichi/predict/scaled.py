"""A record as if it had more or fewer ranks, each of which does what each does now (weak scaling).

That can be told only of a program whose ranks all make the same calls: on communicators of all
ranks, and with peers that are as far away for each of them, on a ring or on the grid of a
communicator. Whatever else it is, one line says what keeps the pattern from scaling.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from haichi.predict.kinds import TO_ALL
from haichi.predict.placed import ANYWHERE, Moves, moved
from haichi.predict.places import Places
from haichi.record.model import (
    Cart,
    RankLine,
    RecordedCall,
    SequenceEvent,
    SequenceLine,
    TrafficLine,
)
from haichi.record.read import Key, Record
from haichi.report.load import ReportError
from haichi.report.placement import Node, Placement
from haichi.units import plural

Step = tuple[int, ...]  # from a rank to another one, in each direction of the grid


class DoesNotScale(ReportError):
    """Why a pattern of one number of ranks does not tell that of another."""


@dataclass(frozen=True)
class Grid:
    """Ranks in rows; the last direction is the fastest, all directions close."""

    dims: tuple[int, ...]

    def place(self, rank: int) -> Step:
        """Where a rank is."""
        found = []
        for extent in reversed(self.dims):
            found.append(rank % extent)
            rank //= extent
        return tuple(reversed(found))

    def step(self, rank: int, to: int) -> Step:
        """How one gets from a rank to another one, the shorter way round.

        Raises:
            DoesNotScale: both ways round are as long.
        """
        made = []
        for here, there, extent in zip(self.place(rank), self.place(to), self.dims, strict=True):
            forward = (there - here) % extent
            if forward and 2 * forward == extent:
                raise DoesNotScale(
                    f"rank {rank} talks to rank {to}, half way round the "
                    f"{' x '.join(map(str, self.dims))} ranks: which way it is cannot be told"
                )
            made.append(forward - extent if 2 * forward > extent else forward)
        return tuple(made)

    def at(self, rank: int, step: Step) -> int:
        """The rank where a step ends."""
        found = 0
        for here, by, extent in zip(self.place(rank), step, self.dims, strict=True):
            found = found * extent + (here + by) % extent
        return found


def scaled(record: Record, ranks: int, placement: Placement | None) -> Record:
    """The record of so many ranks, filled up with nodes as they are unless a placement is given.

    Raises:
        DoesNotScale: it says why.
        ReportError: the placement is of another number of ranks.
    """
    try:
        return _scaled(record, ranks, placement or wider(record, ranks))
    except DoesNotScale as error:
        raise ReportError(
            f"--ranks {ranks}: {error}; its pattern does not scale: record it with {ranks}"
        ) from None


def _scaled(record: Record, ranks: int, placement: Placement) -> Record:
    given = len(placement.node_of_rank())
    if given != ranks:
        raise ReportError(f"--ranks {ranks}: the placement is of {plural(given, 'rank')}")
    _check_communicators(record)
    _check_calls(record)
    old, new = _grids(record, ranks)
    many = record.head.ranks
    traffic = _traffic(record, old, new, ranks)
    # Which of its peers are near, the new places tell and not the old.
    anywhere = [
        Key(_anywhere(key), tuple(r for own in key.ranks for r in range(own, ranks, many)))
        for key in record.keys
    ]
    whole = "0" if ranks == 1 else f"0-{ranks - 1}"
    made = replace(
        record,
        head=record.head.model_copy(update={"ranks": ranks}),
        communicators={
            number: each.model_copy(update={"members": whole, "cart": _cart(each.cart, new)})
            for number, each in record.communicators.items()
        },
        ranks={rank: _rank(record, rank) for rank in range(ranks)},
        traffic=traffic,
        sequences=_sequences(record, old, new, ranks),
    )
    return moved(made, placement, Moves.between(traffic, None, Places.of(placement)), anywhere)


def wider(record: Record, ranks: int) -> Placement:
    """So many ranks on nodes that each take as many as the record's, in the same way.

    Raises:
        DoesNotScale: nodes differ, or ranks lie in no order that goes on.
    """
    node_of = record.node_of_rank
    sizes = set(Counter(node_of).values())
    per_node = min(sizes)
    in_blocks = node_of == sorted(node_of)
    dealt_out = node_of == [rank % len(record.node_names) for rank in range(len(node_of))]
    if len(sizes) > 1 or not (in_blocks or dealt_out):
        raise DoesNotScale("its nodes are not filled alike: say by --placement where ranks are")
    nodes = -(-ranks // per_node)
    return Placement.seated(
        [rank // per_node if in_blocks else rank % nodes for rank in range(ranks)],
        [Node(name=f"node{n}", ranks="") for n in range(nodes)],
    )


def balanced(ranks: int, directions: int) -> tuple[int, ...]:
    """The grid of so many ranks that is least long, longest direction first, as MPI_Dims_create
    makes it."""
    factors = [n for n in range(1, ranks + 1) if ranks % n == 0]
    grids: list[list[int]] = [
        sorted((*rest, last), reverse=True)
        for rest in product(factors, repeat=directions - 1)
        if (last := _rest(ranks, rest)) is not None
    ]
    shortest, *_ = sorted(grids, key=_length)
    return tuple(shortest)


def _length(dims: list[int]) -> tuple[int, int]:
    return dims[0] - dims[-1], dims[0]


def _rest(ranks: int, taken: Sequence[int]) -> int | None:
    for each in taken:
        if ranks % each:
            return None
        ranks //= each
    return ranks


def _check_communicators(record: Record) -> None:
    everybody = tuple(range(record.head.ranks))
    for key in record.keys:
        comm = key.call.comm
        if comm is None or comm not in record.communicators:
            continue
        members = record.members[comm]
        if members != everybody:
            raise DoesNotScale(
                f"it calls {key.call.function} on a communicator of {len(members)} of its "
                f"{record.head.ranks} ranks"
                if len(members) != len(everybody)
                else f"it calls {key.call.function} on a communicator with ranks in another order"
            )
        if "eighbor" in key.name and record.communicators[comm].cart is None:
            raise DoesNotScale(
                f"it calls {key.call.function} on a graph, which the record does not tell"
            )
        if key.name in TO_ALL:
            raise DoesNotScale(
                f"of {key.call.function} the record has the bytes to all ranks together"
            )


def _check_calls(record: Record) -> None:
    """That all ranks make the same calls, wherever their peers are."""
    made: dict[int, Counter[tuple[object, ...]]] = {
        rank: Counter() for rank in range(record.head.ranks)
    }
    for key in record.keys:
        call = key.call
        kind: tuple[object, ...] = (
            *(call.function, call.for_, call.bytes, call.type, call.comm, call.file, call.view),
        )
        for rank in key.ranks:
            made[rank][kind] += call.count
    first = made[0]
    for rank, own in made.items():
        for kind in first | own:
            if first[kind] != own[kind]:
                size = "" if kind[2] is None else f" of {kind[2]} B"
                raise DoesNotScale(
                    f"rank 0 makes {plural(first[kind], f'{kind[0]}')}{size}, and rank {rank} "
                    f"{own[kind]}"
                )


def _grids(record: Record, ranks: int) -> tuple[Grid, Grid]:
    """Of the record and of the new ranks: the one grid of all ranks that it has, or a ring."""
    carts = {
        tuple(each.cart.dims)
        for each in record.communicators.values()
        if each.cart and len(record.members[each.id]) == record.head.ranks
    }
    if len(carts) > 1:
        raise DoesNotScale("it has several grids of all ranks")
    if not carts:
        return Grid((record.head.ranks,)), Grid((ranks,))
    dims = carts.pop()
    if dims != balanced(record.head.ranks, len(dims)):
        raise DoesNotScale(
            f"its grid is {' x '.join(map(str, dims))}, and not as MPI_Dims_create makes it"
        )
    return Grid(dims), Grid(balanced(ranks, len(dims)))


def _traffic(record: Record, old: Grid, new: Grid, ranks: int) -> list[TrafficLine]:
    """What each rank sends by steps, which have to be alike for all."""
    steps: dict[str, dict[Step, tuple[int, int]]] = {}
    seen: Counter[str] = Counter()
    for line in record.traffic:
        own = {
            old.step(line.rank, to): (messages, size)
            for to, messages, size in zip(line.to, line.messages, line.bytes, strict=True)
        }
        if own != steps.setdefault(line.way, own):
            raise DoesNotScale(
                f"rank {line.rank} sends other messages, or elsewhere, than other ranks"
            )
        seen[line.way] += 1
    for way, lines in seen.items():
        if lines != record.head.ranks:
            raise DoesNotScale(f"only {lines} of {record.head.ranks} ranks have a {way} to send")
    made = []
    for way, of_step in steps.items():
        for rank in range(ranks):
            sent: dict[int, list[int]] = {}
            for step, (messages, size) in of_step.items():
                of_peer = sent.setdefault(new.at(rank, step), [0, 0])
                of_peer[0] += messages
                of_peer[1] += size
            made.append(
                TrafficLine(
                    kind="traffic",
                    rank=rank,
                    way=way,
                    to=list(sent),
                    messages=[each[0] for each in sent.values()],
                    bytes=[each[1] for each in sent.values()],
                )
            )
    return made


def _anywhere(key: Key) -> RecordedCall:
    return key.call.model_copy(update={"place": None if key.call.place is None else ANYWHERE})


def _cart(cart: Cart | None, grid: Grid) -> Cart | None:
    return cart.model_copy(update={"dims": list(grid.dims)}) if cart else None


def _rank(record: Record, rank: int) -> RankLine:
    """That of a recorded rank, in turn."""
    line = record.ranks.get(rank % record.head.ranks)
    if line is None:
        raise DoesNotScale(f"it has no sums of rank {rank % record.head.ranks}")
    return line.model_copy(update={"rank": rank})


def _sequences(record: Record, old: Grid, new: Grid, ranks: int) -> dict[int, SequenceLine]:
    """Of each new rank that of a recorded one in turn, with peers by the same steps. None if the
    record has not those of all ranks."""
    many = record.head.ranks
    if len(record.sequences) < many:
        return {}
    steps = {rank: _Steps(line, old) for rank, line in record.sequences.items()}
    for rank, own in steps.items():
        if own.shape != steps[0].shape or own.line.program != steps[0].line.program:
            raise DoesNotScale(f"the order of calls of rank {rank} is another one than rank 0's")
    return {rank: steps[rank % many].at(rank, new) for rank in range(ranks)}


class _Steps:
    """A rank's sequence with steps in place of peers."""

    def __init__(self, line: SequenceLine, grid: Grid) -> None:
        self.line = line
        self.peers = [
            (_step(grid, line.rank, each.peer), _step(grid, line.rank, each.from_))
            for each in line.events
        ]
        without = {"peer", "from_", "compute_s", "compute_most_s", "took_s"}
        self.shape = [
            (peers, each.model_dump(exclude=without))
            for peers, each in zip(self.peers, line.events, strict=True)
        ]

    def at(self, rank: int, grid: Grid) -> SequenceLine:
        """The same of another rank."""
        events: list[SequenceEvent] = [
            event.model_copy(
                update={
                    "peer": grid.at(rank, peer) if isinstance(peer, tuple) else peer,
                    "from_": grid.at(rank, source) if isinstance(source, tuple) else source,
                }
            )
            for event, (peer, source) in zip(self.line.events, self.peers, strict=True)
        ]
        return self.line.model_copy(update={"rank": rank, "events": events})


def _step(grid: Grid, rank: int, peer: int | str | None) -> Step | str | None:
    return grid.step(rank, peer) if isinstance(peer, int) else peer
