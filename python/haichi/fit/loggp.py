"""The parameters of LogGP from what the suite measures.

As netgauge has it (Hoefler et al., Netgauge: a network performance measurement framework, 2007;
LogGP of Alexandrov et al., 1995): a message of s bytes takes L + o_send + o_receive + (s - 1) G,
and n of them one way L + o_send + o_receive + (n - 1) g. The overheads are the calls' own times,
many in a row.
"""

from __future__ import annotations

from haichi.fit.curves import Fitted
from haichi.fit.gather import Gathered
from haichi.fit.model import LogGP

ISEND, RECV, STREAM = "call-isend", "call-recv", "stream"
WINDOW = 64  # messages of a sample of `stream`


def parameters(found: Gathered, fitted: Fitted) -> LogGP | str:
    """LogGP at one placement class, or in words what it lacks."""
    place = fitted.place
    curves = {name: found.pair(name, place) for name in (ISEND, RECV, STREAM)}
    missing = [name for name, curve in curves.items() if not curve]
    if missing:
        return f"no samples of {', '.join(missing)} at {place}"
    common = set(fitted.curve).intersection(*curves.values())
    if not common:
        return f"ping-pong, {', '.join(curves)} at {place} have no size in common"
    slope = fitted.slope()
    if slope is None:
        return f"the ping-pong at {place} does not grow with its size"
    size = min(common)
    whole = fitted.curve[size].value
    o_send, o_receive = curves[ISEND][size].value, curves[RECV][size].value
    per_byte = slope[0]
    latency = max(whole - o_send - o_receive - (size - 1) * per_byte, 0.0)
    # A sample of the stream, times its messages, is all of them one way and an empty one back.
    gap = (WINDOW * curves[STREAM][size].value - 2 * whole) / (WINDOW - 1)
    off = [
        abs(latency + o_send + o_receive + (each - 1) * per_byte - time.value) / time.value
        for each, time in fitted.curve.items()
    ]
    return LogGP(
        place=place,
        latency_s=latency,
        o_send_s=o_send,
        o_receive_s=o_receive,
        gap_s=max(gap, 0.0),
        gap_s_per_byte=per_byte,
        residual=sum(off) / len(off),
        from_=f"{ISEND}, {RECV}, {STREAM} and ping-pong at {size} B; G of the ping-pong from "
        f"{fitted.range_of(fitted.lines[-1])}",
    )
