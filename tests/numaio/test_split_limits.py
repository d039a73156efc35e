"""Programs whose large reads are split where the kernel refuses what that needs: they see what the
plain calls give."""

from __future__ import annotations

import errno
import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import mpis
import numpy as np
import pytest
from split_io import LIBRARY, POSIX, compiled, needs, split

SIZE = 4 << 20
SEEDS = (3, 333)
NOBODY = "65534"
PAGES = "move_pages,get_mempolicy,cachestat,mincore"
# What split reads call, or might, and the programs here do not.
BEYOND = (
    *PAGES.split(","),
    *("set_mempolicy", "mbind", "madvise", "fstatfs", "statfs", "sched_getaffinity"),
    *("sched_setaffinity", "sched_yield", "clone", "clone3", "futex", "futex_waitv", "getcpu"),
    *("rt_sigprocmask", "getpid", "clock_gettime", "nanosleep", "getdents64", "uname", "sysinfo"),
    *("io_uring_setup", "tgkill"),
)
OWN = ("read", "pread64", "readv", "preadv", "preadv2", "fcntl", "mprotect")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs(LIBRARY, POSIX)
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor: nothing is split")
    return tmp_path_factory.mktemp("split-limits")


@pytest.fixture(scope="module")
def calls(folder: Path) -> Path:
    return compiled(Path(__file__).with_name("split_calls.c"), folder, "-pthread")


@pytest.fixture(scope="module")
def forbid(folder: Path) -> Path:
    return compiled(Path(__file__).with_name("forbid.c"), folder)


@pytest.fixture
def file() -> Iterator[Path]:
    with tempfile.NamedTemporaryFile(dir="/var/tmp", prefix="haichi-limits-") as made:
        yield Path(made.name)


def seen(words: list[str | Path], file: Path, how: str) -> tuple[int, str, str]:
    np.arange(SIZE // 8, dtype=np.uint64).tofile(file)
    done = mpis.run_bounded(words, timeout=60, env=split(how))
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def own_filter(folder: Path) -> Path:
    return compiled(Path(__file__).with_name("own_filter.c"), folder, "-pthread")


def same(words: list[str | Path], file: Path, *hows: str) -> tuple[int, str, str]:
    """What a program gave plainly, as it did with its reads split."""
    plain = seen(words, file, "off")
    if plain[0] == 77:
        pytest.skip("no filter of system calls may be set here")
    for how in hows:
        assert seen(words, file, how) == plain, f"{how}: {words[1:]}"
    return plain


@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOSYS])
@pytest.mark.parametrize(
    "forbidden", [PAGES, "sched_getaffinity", "fstatfs", "clone,clone3", f"{PAGES},clone,clone3"]
)
def test_a_filter_that_answers_with_errors(
    calls: Path, forbid: Path, file: Path, forbidden: str, error: int
) -> None:
    for seed in SEEDS:
        words = [forbid, str(error), forbidden, calls, file, "random", str(seed)]
        assert same(words, file, "on", "always")[1].endswith("right\n")


def drawn(seed: int, among: tuple[str, ...]) -> tuple[str, str]:
    """An answer, and the calls that it is given to: one, some or all of them."""
    draw = random.Random(seed)
    answer = draw.choice(["kill", "kill", "trap", str(errno.EPERM), str(errno.ENOSYS)])
    return answer, ",".join(draw.sample(among, draw.choice([1, 4, 12, len(among)])))


@pytest.mark.parametrize("seed", range(24))
def test_filters_that_a_program_is_started_under(
    calls: Path, forbid: Path, file: Path, seed: int
) -> None:
    """Of calls that the program makes itself, too: it ends then as it ends by itself."""
    answer, forbidden = drawn(seed, (*BEYOND, *OWN))
    same([forbid, answer, forbidden, calls, file, "random", str(seed)], file, "on")


@pytest.mark.parametrize("seed", range(8))
def test_a_program_lives_that_never_makes_what_it_would_be_killed_for(
    calls: Path, forbid: Path, file: Path, seed: int
) -> None:
    forbidden = drawn(seed, BEYOND)[1] if seed else ",".join(BEYOND)
    words = [forbid, "kill", forbidden, calls, file, "random", str(seed)]
    assert same(words, file, "on")[1].endswith("right\n")


@pytest.mark.parametrize("how", ["prctl", "seccomp", "all"])
@pytest.mark.parametrize("seed", range(12))
def test_filters_that_a_program_sets_itself(
    own_filter: Path, file: Path, how: str, seed: int
) -> None:
    """Between its reads, and for all its threads while one of them reads."""
    among = BEYOND if how == "all" else (*BEYOND, *OWN)
    answer, forbidden = drawn(seed, among)
    done = same([own_filter, file, answer, forbidden, how, str(seed)], file, "on", "always")
    assert how != "all" or done[1].endswith("right\n")


def test_no_thread_may_be_made(calls: Path, file: Path) -> None:
    words: list[str | Path] = ["prlimit", "--nproc=1", calls, file, "random", "5"]
    if os.geteuid() == 0:  # to whom the limit does not apply
        if shutil.which("setpriv") is None:
            pytest.skip("no setpriv (apt install util-linux)")
        caps = ("--inh-caps=+dac_override", "--ambient-caps=+dac_override")
        words = ["setpriv", f"--reuid={NOBODY}", "--clear-groups", *caps, *words]
    plain = seen(words, file, "off")
    assert plain[1].endswith("right\n"), plain
    assert seen(words, file, "always") == plain


def test_little_memory(file: Path) -> None:
    def read(kib: int, how: str) -> tuple[int, str, str]:
        limited = f'ulimit -v {kib}; exec dd if="$0" bs=4M status=none'
        return seen(["sh", "-c", f"({limited}) | sha256sum", file], file, how)

    whole = read(1 << 20, "off")
    least = next(kib for kib in range(4 << 10, 64 << 10, 1 << 10) if read(kib, "off") == whole)
    # From where the program and the preloaded object just fit: what split reads need on top of
    # that, libraries, stacks and plans, is not there or in part.
    for kib in range(least, least + (10 << 10), 768):
        assert read(kib, "always") == whole, f"{kib} KiB, of which {least} are needed"
