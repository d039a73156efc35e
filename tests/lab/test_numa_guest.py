"""What moves between NUMA nodes, counted byte by byte in a guest that has several of them.

The first use fetches a kernel from the Debian archive; without QEMU, or without the archive, these
tests skip.
"""

from __future__ import annotations

import re
from pathlib import Path

import mpis
import pytest
from haichi.guest import guest
from haichi.guest.guest import Outcome
from haichi.guest.kernel import kernel, missing
from haichi.guest.machine import machine
from haichi.lab import LabError
from split_io import LIBRARY, NUMAIO, POSIX, linked, needs

PLUGIN = mpis.BUILD / "lib" / "libnumatraffic.so"
AWARE = 0.01  # of all bytes, between nodes
BLOCK = 2 << 20  # of numa_split.c and copy_kernels.cpp
ROUNDS = 3  # there
PATIENCE = 240  # seconds; some ten on a machine that does nothing else


@pytest.fixture(scope="module", autouse=True)
def _guest() -> None:
    if absent := missing():
        pytest.skip(absent)
    needs(LIBRARY, PLUGIN, NUMAIO)
    try:
        kernel()
    except LabError as error:
        pytest.skip(f"no kernel for the guest: {error}")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(__file__).with_name("numa_split.c")
    return linked(source, tmp_path_factory.mktemp("numa-split"), "-lnuma")


def run(
    nodes: int, *command: str | Path, traffic: bool = False, preload: Path | None = None
) -> Outcome:
    words = [str(word) for word in command]
    variables = {"LD_PRELOAD": str(preload), "HAICHI_IO_SPLIT": "always"} if preload else {}
    variables["HAICHI_IO_SPLIT_FROM"] = "1M"
    return ended(
        guest.run(
            machine(nodes, "2", "256", "ring"),
            words,
            files=[str(preload), str(LIBRARY)] if preload else [],
            environment=variables,
            traffic=traffic,
            timeout=PATIENCE,
        )
    )


def ended(done: Outcome) -> Outcome:
    """The same, if the machine has let it end."""
    if done.timed_out:
        pytest.skip(f"the guest did not end within {PATIENCE} s: the machine has too much to do")
    return done


@pytest.mark.parametrize(
    ("nodes", "cases"),
    [
        pytest.param(2, ["one", "read"], marks=pytest.mark.slow),
        pytest.param(4, ["one", "read"], marks=pytest.mark.slow),
        pytest.param(4, ["parts", "copy"], marks=pytest.mark.slow),
        pytest.param(8, ["one", "read", "parts"], marks=pytest.mark.long),
    ],
)
def test_a_split_moves_nothing_between_nodes(program: Path, nodes: int, cases: list[str]) -> None:
    done = run(nodes, program, "/dev/shm", *cases, traffic=True)
    assert (done.status, done.out.splitlines()[-1]) == (0, "right"), done.out
    whole = nodes * BLOCK
    assert len(done.traffic) == ROUNDS * len(cases)
    for at, case in enumerate(cases):
        rounds = done.traffic[ROUNDS * at : ROUNDS * (at + 1)]
        for each in rounds:  # the guest copies for itself too
            assert each.bytes == pytest.approx(2 * whole, rel=0.05), case
        # A busy machine's guest may move the caller to another node within a piece.
        least = min(each.remote for each in rounds)
        if case == "one":
            # One thread has its own node's share near: the rest of both ends is far.
            assert least == pytest.approx(1 - 1 / nodes, abs=0.03)
        else:
            assert least < AWARE, case
    told = rf"^(read|copy) threads \d+ nodes {nodes} local {whole} of {whole}"
    assert re.search(told, done.out, re.MULTILINE), done.out


@pytest.mark.slow
@pytest.mark.parametrize("preload", [None, POSIX])
def test_a_program_that_nobody_changed(program: Path, preload: Path | None) -> None:
    needs(POSIX)
    done = run(4, program, "/dev/shm", "any", traffic=True, preload=preload)
    assert (done.status, done.out.splitlines()[-1]) == (0, "right"), done.out
    least = min(each.remote for each in done.traffic)
    if preload:
        assert least < AWARE
    else:
        assert least == pytest.approx(3 / 4, abs=0.03)


@pytest.mark.slow
def test_each_way_to_copy_moves_each_byte_once(tmp_path: Path) -> None:
    """Whichever is the fastest on a machine, or on a busy one."""
    made = tmp_path / "copy_kernels"
    sources = [Path(__file__).with_name("copy_kernels.cpp"), mpis.ROOT / "src/numaio/copy.cpp"]
    words = ["c++", "-std=c++20", "-O2", f"-I{mpis.ROOT / 'src'}", *sources, "-o", made]
    mpis.run_bounded(words, timeout=PATIENCE, check=True)
    done = ended(
        guest.run(machine(1, "1", "256", "flat"), [str(made)], traffic=True, timeout=PATIENCE)
    )
    assert done.status == 0, done.out
    ways = done.out.splitlines()
    assert {"memcpy", "rep movsb", "streams of 32 bytes"} <= set(ways)
    assert len(done.traffic) == len(ways)
    for way, each in zip(ways, done.traffic, strict=True):
        assert each.bytes == pytest.approx(2 * BLOCK, rel=0.05), way


@pytest.mark.slow
def test_untouched_memory_stays_the_callers(program: Path) -> None:
    done = run(4, program, "/dev/shm", "fresh", "interleaved")
    assert (done.status, done.out.splitlines()[-1]) == (0, "right"), done.out
    assert "split by the nodes of its pages" in done.out


@pytest.mark.slow
def test_where_says_on_which_nodes_a_file_is() -> None:
    script = (
        "for n in 0 1 2 3; do "
        "taskset -c $((2 * n)) dd if=/dev/zero of=/dev/shm/f bs=1M count=$((n + 1)) "
        "seek=$((4 * n)) conv=notrunc 2>/dev/null; done; "
        f"{NUMAIO} where --map /dev/shm/f"
    )
    done = ended(
        guest.run(
            machine(4, "2", "256", "ring"),
            ["sh", "-c", script],
            files=[str(NUMAIO)],
            timeout=PATIENCE,
        )
    )
    assert done.status == 0, done.out
    assert re.search(r"^ +1\.00 +2\.00 +3\.00 +4\.00 ", done.out, re.MULTILINE), done.out
    assert "4.000 to        6.000 MiB  node 1" in done.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("nodes", "cpus", "memory"),
    [
        (4, "2,2,0,2", "256"),  # memory alone
        (3, "2,2,2", "256,256,0"),  # none
        (1, "2", "512"),
    ],
)
def test_odd_machines(nodes: int, cpus: str, memory: str) -> None:
    script = (
        "dd if=/dev/urandom of=/dev/shm/f bs=1M count=16 2>/dev/null; "
        "echo 0 > /sys/devices/system/cpu/cpu1/online; "
        f"{NUMAIO} where --map /dev/shm/f && {NUMAIO} bench /dev/shm --size 16m --rounds 1 "
        "--patience 0"
    )
    done = ended(
        guest.run(
            machine(nodes, cpus, memory, "flat"),
            ["sh", "-c", script],
            files=[str(NUMAIO)],
            timeout=PATIENCE,
        )
    )
    assert done.status == 0, done.out
    assert '"what":"read"' in done.out


@pytest.mark.slow
def test_the_commands_end_is_told() -> None:
    assert run(2, "sh", "-c", "exit 3").status == 3
    late = guest.run(machine(1, "1", "256", "flat"), ["sleep", "100"], timeout=8)
    assert (late.status, late.timed_out) == (124, True)


@pytest.mark.parametrize(
    ("words", "said"),
    mpis.slow_after(
        2,
        [
            (["-n", "99", "true"], "--nodes 99: use 1 to 16"),
            (["--cpus", "2,2", "true"], "--cpus 2,2: use a number, or one for each of 4 nodes"),
            (["--cpus", "0", "true"], "node 0 needs a processor"),
            (["--distances", "odd", "true"], "--distances: use ring, flat"),
            (["--module", "nosuch", "true"], "the kernel has none of this name"),
            (["--add", "/nosuch", "true"], "/nosuch: no such file"),
            (["nosuchprogram"], "nosuchprogram: no such program"),
            (["--env", "X", "true"], "--env X: use NAME=VALUE"),
        ],
    ),
)
def test_wrong_words_are_one_line(words: list[str], said: str) -> None:
    done = mpis.run_bounded([mpis.ROOT / "haichi", "lab", "numa", *words], timeout=60)
    assert (done.returncode, done.stdout) == (125, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
