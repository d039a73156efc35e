"""What each MPI function is to a prediction: which curve tells its time, or why none does."""

from __future__ import annotations

import re
from enum import Enum, auto


class Kind(Enum):
    """How the time of a function comes about."""

    SEND = auto()  # a message out, the call returns when it is sent
    RECEIVE = auto()  # a message in, the call returns when it is there
    SEND_BEGUN = auto()  # a message out, something else waits for it
    RECEIVE_BEGUN = auto()  # a message in, something else waits for it
    SEND_KEPT = auto()  # a message out, each time that its request is started
    RECEIVE_KEPT = auto()  # a message in, each time that its request is started
    START = auto()  # begins what the last two describe
    BOTH = auto()  # a message out and one in
    WAIT = auto()  # completes what others began; their messages have the time
    POLL = auto()  # looks whether something is there: waiting
    COLLECTIVE = auto()  # all ranks of a communicator
    COLLECTIVE_BEGUN = auto()  # the same, something else waits for it
    ACCESS = auto()  # one-sided access to another rank's memory
    SYNCHRONISE = auto()  # between one-sided accesses
    FENCE = auto()  # between one-sided accesses, all ranks of a window
    READ = auto()  # a file, this rank alone
    WRITE = auto()  # a file, this rank alone
    READ_ALL = auto()  # a file, all ranks of its communicator
    WRITE_ALL = auto()  # a file, all ranks of its communicator
    OPEN = auto()  # a file is opened
    CLOSE = auto()  # a file is closed
    MAKE = auto()  # communicators, windows, files, requests: all ranks agree
    LOCAL = auto()  # nothing leaves the rank


MESSAGES = frozenset(
    {
        Kind.SEND,
        Kind.RECEIVE,
        Kind.SEND_BEGUN,
        Kind.RECEIVE_BEGUN,
        Kind.SEND_KEPT,
        Kind.RECEIVE_KEPT,
        Kind.START,
        Kind.BOTH,
        Kind.WAIT,
        Kind.POLL,
    }
)
_TABLE: dict[str, Kind] = {
    **dict.fromkeys(("Send", "Ssend", "Bsend", "Rsend"), Kind.SEND),
    **dict.fromkeys(("Recv", "Mrecv"), Kind.RECEIVE),
    **dict.fromkeys(("Isend", "Issend", "Ibsend", "Irsend"), Kind.SEND_BEGUN),
    **dict.fromkeys(("Irecv", "Imrecv"), Kind.RECEIVE_BEGUN),
    **dict.fromkeys(
        ("Sendrecv", "Sendrecv_replace", "Isendrecv", "Isendrecv_replace"), Kind.BOTH
    ),
    **dict.fromkeys(("Send_init", "Ssend_init", "Bsend_init", "Rsend_init"), Kind.SEND_KEPT),
    "Recv_init": Kind.RECEIVE_KEPT,
    **dict.fromkeys(("Start", "Startall"), Kind.START),
    **dict.fromkeys(("Wait", "Waitall", "Waitany", "Waitsome"), Kind.WAIT),
    **dict.fromkeys(
        ("Test", "Testall", "Testany", "Testsome", "Probe", "Iprobe", "Mprobe", "Improbe"),
        Kind.POLL,
    ),
    **dict.fromkeys(
        ("Put", "Get", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap",
         "Rput", "Rget", "Raccumulate", "Rget_accumulate"),
        Kind.ACCESS,
    ),
    **dict.fromkeys(
        ("Win_lock", "Win_unlock", "Win_lock_all", "Win_unlock_all", "Win_flush", "Win_flush_all",
         "Win_flush_local", "Win_flush_local_all", "Win_start", "Win_complete", "Win_post",
         "Win_wait", "Win_test"),
        Kind.SYNCHRONISE,
    ),
    "Win_fence": Kind.FENCE,
    "File_open": Kind.OPEN,
    "File_close": Kind.CLOSE,
}  # fmt: skip
_COLLECTIVES = re.compile(
    r"(I?)(barrier|bcast|gatherv?|scatterv?|allgatherv?|alltoall[vw]?|reduce|allreduce|"
    r"reduce_scatter|reduce_scatter_block|scan|exscan|neighbor_all\w+)",
    re.IGNORECASE,
)
_FILE = re.compile(r"File_(i?)(read|write)(_at)?(_all|_ordered|_shared)?(_begin|_end)?")
_MAKERS = re.compile(
    r"Comm_(dup\w*|idup\w*|split\w*|create\w*|free|spawn\w*|accept|connect|disconnect)|"
    r"(Cart|Graph|Dist_graph)_(create\w*|sub)|Intercomm_\w+|Win_(create|allocate|free)\w*|"
    r"File_(set_view|set_size|preallocate|sync|set_info|set_atomicity|seek_shared|delete)|"
    r"P(send|recv)_init|Pready\w*|Parrived|\w+_init"
)


def kind_of(name: str) -> Kind:
    """Of a function without `MPI_` and `_c`."""
    if found := _TABLE.get(name):
        return found
    if collective := _COLLECTIVES.fullmatch(name):
        return Kind.COLLECTIVE_BEGUN if collective[1] else Kind.COLLECTIVE
    if access := _FILE.fullmatch(name):
        together = access[4] in ("_all", "_ordered")
        if access[2] == "read":
            return Kind.READ_ALL if together else Kind.READ
        return Kind.WRITE_ALL if together else Kind.WRITE
    return Kind.MAKE if _MAKERS.fullmatch(name) else Kind.LOCAL


def measurement(name: str) -> str:
    """What the suite calls the measurement of a function: `Reduce_scatter` is `reduce-scatter`. An
    access to a file that is begun, and waited for later, has that of the whole access."""
    whole = name.removesuffix("_begin").removesuffix("_end").replace("File_i", "File_")
    return _OTHERWISE.get(whole, whole.lower().replace("_", "-"))


_OTHERWISE = {
    "Win_fence": "fence",
    "Win_free": "win-create-free",
    "File_set_view": "file-set-view-vector",
}


# Their bytes are all that a rank sends, and the suite's what it sends to each.
TO_ALL = frozenset({"Alltoallv", "Alltoallw", "Ialltoallv", "Ialltoallw", "Reduce_scatter",
                    "Ireduce_scatter"})  # fmt: skip
