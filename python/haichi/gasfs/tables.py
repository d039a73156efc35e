"""What servers and dispatchers have done, as tables for people: once, or again and again with what
was done in between."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

from haichi.gasfs.job import Job, Numbers
from haichi.units import format_bytes


@dataclass(frozen=True)
class Seen:
    """What all have told at one time."""

    servers: list[Numbers]
    dispatchers: list[Numbers]
    at: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, job: Job) -> Seen:
        """Asks them."""
        return cls(job.server_numbers(), job.dispatcher_numbers())

    @property
    def whole(self) -> bool:
        """Whether all have answered."""
        return not any("error" in each for each in (*self.servers, *self.dispatchers))


def watch(job: Job, seconds: float, console: Console) -> None:
    """Shows them anew every so many seconds, until somebody interrupts it; where nobody sees a
    screen, one behind the other."""
    before: Seen | None = None
    with Live(console=console, auto_refresh=False, transient=False) as live:
        while True:
            now = Seen.of(job)
            if console.is_terminal:
                live.update(tables(now, before), refresh=True)
            else:
                console.print(tables(now, before))
            before = now
            time.sleep(seconds)


def tables(now: Seen, before: Seen | None = None) -> Group:
    """Both tables; with an earlier time also what was done each second since."""
    return Group(of_dispatchers(now, before), of_servers(now, before))


def of_dispatchers(now: Seen, before: Seen | None) -> Table:
    """A row for each mount of this node."""
    rates = ["written / s"] if before else []
    table = Table("dispatcher at", "written", *rates, "requests", "sent as", "merged", "waiting")
    for one in now.dispatchers:
        if "error" in one:
            table.add_row(str(one["mount"]), str(one["error"]))
            continue
        gathered, sent = number(one, "requests_gathered"), number(one, "requests_sent")
        earlier = find(before.dispatchers if before else [], "name", one)
        table.add_row(
            str(one["mount"]),
            format_bytes(number(one, "written_bytes")),
            *([rate(one, earlier, "written_bytes", now, before)] if before else []),
            f"{gathered:,}",
            f"{sent:,}",
            f"{gathered / sent:.1f} : 1" if sent else "",
            format_bytes(number(one, "waiting_bytes")),
        )
    return table


def of_servers(now: Seen, before: Seen | None) -> Table:
    """A row for each server."""
    rates = ["written / s", "read / s"] if before else []
    table = Table("server", "requests", "seeks", "as writes", "written", "read", *rates, "free")
    for one in now.servers:
        if "error" in one:
            table.add_row(str(one["index"]), str(one["error"]))
            continue
        earlier = find(before.servers if before else [], "index", one)
        kinds = ("written_bytes", "read_bytes")
        table.add_row(
            str(one["index"]),
            f"{number(one, 'write_requests'):,}",
            f"{number(one, 'write_seeks'):,}",
            f"{number(one, 'disk_writes'):,}",
            *(format_bytes(number(one, kind)) for kind in kinds),
            *([rate(one, earlier, kind, now, before) for kind in kinds] if before else []),
            format_bytes(number(one, "free_bytes")),
        )
    return table


def find(those: list[Numbers], key: str, one: Numbers) -> Numbers | None:
    """The one with the same name."""
    return next((other for other in those if other.get(key) == one.get(key)), None)


def rate(one: Numbers, earlier: Numbers | None, what: str, now: Seen, before: Seen | None) -> str:
    """Bytes each second; nothing of what has begun anew since."""
    if earlier is None or before is None or "error" in earlier:
        return ""
    done = number(one, what) - number(earlier, what)
    return format_bytes(done / (now.at - before.at)) if done >= 0 else ""


def number(one: Numbers, what: str) -> int:
    """One of the numbers; 0 where it is not told."""
    value = one.get(what, 0)
    return value if isinstance(value, int) else 0
