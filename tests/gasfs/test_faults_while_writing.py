"""What was closed without an error reads back, whatever ended, stopped or failed meanwhile; the
rest is told to the program."""

from __future__ import annotations

import errno
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest
from faults import Faulty, faulty, reads_back, while_writing
from mpis import slow_but

WRITING = 0.4  # seconds of each case
OPTIONS = ("--linger-ms", "50", "--sub-buffer", "16384")
TOGETHER = 5  # cases that are read back by one dispatcher
MANY = 200  # cases of each kind in the long run
AT_A_TIME = 20  # before the daemons' time is over, also beside much other work

Writer = subprocess.Popen[str]
Fault = Callable[[Faulty, random.Random, Writer], None]


@pytest.fixture(scope="module")
def system() -> Iterator[Faulty]:
    """One for all kinds."""
    with started() as made:
        yield made


def started() -> AbstractContextManager[Faulty]:
    """Two servers and a dispatcher, which the cases end and start again."""
    return faulty(2, *OPTIONS, stripe=4096, linked=True)


def server_killed(system: Faulty, draw: random.Random, _: Writer) -> None:
    """Either; the first has the names."""
    system.kill(system.job.servers[draw.randrange(2)])
    time.sleep(draw.uniform(0, 0.2))
    system.start_servers()


def all_servers_killed(system: Faulty, _: random.Random, __: Writer) -> None:
    for each in system.job.servers:
        system.kill(each)
    system.start_servers()


def server_stopped(system: Faulty, draw: random.Random, _: Writer) -> None:
    server = system.job.servers[draw.randrange(2)]
    system.kill(server, signal.SIGSTOP)
    time.sleep(draw.uniform(0, 0.5))
    system.kill(server, signal.SIGCONT)


def dispatcher_stopped(system: Faulty, draw: random.Random, _: Writer) -> None:
    dispatcher = system.dispatcher(system.mount)
    system.kill(dispatcher, signal.SIGSTOP)
    time.sleep(draw.uniform(0, 0.5))
    system.kill(dispatcher, signal.SIGCONT)


def dispatcher_killed(system: Faulty, _: random.Random, __: Writer) -> None:
    system.kill(system.dispatcher(system.mount))


def client_killed(_: Faulty, __: random.Random, writer: Writer) -> None:
    writer.kill()


def link_cut(system: Faulty, draw: random.Random, _: Writer) -> None:
    if not system.link:
        pytest.skip("no network of its own can be made here: run as root")
    for _cut in range(draw.randrange(1, 3)):
        system.link.set("down")
        time.sleep(draw.uniform(0, 0.3))
        system.link.set("up")
        time.sleep(draw.uniform(0, 0.1))


def ordered(*orders: str) -> Fault:
    """One of these for a while (faults.c)."""

    def fault(system: Faulty, draw: random.Random, _: Writer) -> None:
        system.order(draw.choice(orders))
        time.sleep(draw.uniform(0, 0.3))
        system.order("")

    return fault


@dataclass(frozen=True)
class Kind:
    """What happens, and what the program may be told of it."""

    fault: Fault
    errors: frozenset[int] = frozenset()


GONE = frozenset({errno.ENOTCONN, errno.ECONNABORTED, errno.EIO})
KINDS = {
    "server killed": Kind(server_killed),
    "all servers killed": Kind(all_servers_killed),
    "server stopped": Kind(server_stopped),
    "dispatcher stopped": Kind(dispatcher_stopped),
    "dispatcher killed": Kind(dispatcher_killed, GONE),
    "client killed": Kind(client_killed),
    "link cut": Kind(link_cut),
    "disk slow": Kind(ordered("s 5", "s 50")),
    "disk failing": Kind(ordered(f"e {errno.EIO}"), frozenset({errno.EIO})),
    "disk full": Kind(ordered(f"e {errno.ENOSPC}"), frozenset({errno.ENOSPC})),
    "clock stepped": Kind(ordered("c 3600", "c -3600", "c 400000000")),
}


def case(system: Faulty, name: str, seed: int) -> tuple[Path, dict[int, int]]:
    """One fault while a program writes."""
    kind = KINDS[name]
    draw = random.Random(f"{name} {seed}")
    folder = system.mount / f"{name}-{seed}"
    folder.mkdir()

    def fault(writer: Writer) -> None:
        time.sleep(draw.uniform(0, WRITING))
        kind.fault(system, draw, writer)

    closed = while_writing(folder, 1000 * seed, WRITING, fault)
    assert set(closed.values()) <= {0} | kind.errors
    if kind.fault is dispatcher_killed:
        system.start_dispatcher(system.mount, *OPTIONS)
    return folder, closed


def run(system: Faulty, name: str, seeds: range) -> None:
    """All of them, read back in turns."""
    for begin in seeds[::TOGETHER]:
        some = range(begin, min(begin + TOGETHER, seeds.stop))
        done = [case(system, name, seed) for seed in some]
        with system.another_mount() as other:
            for folder, closed in done:
                reads_back(folder, closed, other)
        for folder, _ in done:
            shutil.rmtree(folder)


# Quick tests of test_gasfs_faults.py have the others: a server that is silent, all killed, a disk
# that fails or is full.
QUICK = ("server killed", "dispatcher stopped", "dispatcher killed", "client killed", "link cut")
QUICK += ("disk slow", "clock stepped")


@pytest.mark.parametrize("name", slow_but(QUICK, KINDS))
def test_what_is_closed_reads_back(system: Faulty, name: str) -> None:
    run(system, name, range(2))


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", KINDS)
def test_what_is_closed_reads_back_in_many_cases(name: str) -> None:
    for begin in range(100, 100 + MANY, AT_A_TIME):
        with started() as system:
            run(system, name, range(begin, begin + AT_A_TIME))
