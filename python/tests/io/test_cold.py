"""Files that are not in memory, or in part: the same bytes, and from the first that storage has to
give on the plain call."""

from __future__ import annotations

import dataclasses
import os
import random
import tempfile
from collections.abc import Iterator

import numpy as np
import pytest
from haichi import io
from haichi.figures import numa_mixed
from haichi.figures.page_cache import keep_in_memory
from haichi.io import files
from haichi.io.files import Bytes

SIZE = 64 << 20
READ_AHEAD = 8 << 20
COLD = "on storage, almost from its beginning on"
MIXED = "split up to what is on storage, then the plain call"
HOT = "split by the nodes of its pages"
BY_TRIAL = "one thread is as fast, by trial"  # on a machine that others keep busy


@pytest.fixture(scope="module")
def content() -> Bytes:
    return np.arange(SIZE // 8, dtype=np.uint64).view(np.uint8)


@pytest.fixture(autouse=True)
def _as_is_best(_small_calls_are_split: None) -> None:
    """Others' tests here split whatever there is."""
    io.set_options(dataclasses.replace(io.get_options(), always=False))


@pytest.fixture
def opened(content: Bytes) -> Iterator[int]:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor: nothing is split")
    with tempfile.NamedTemporaryFile(dir="/var/tmp", prefix="haichi-cold-") as made:
        content.tofile(made.name)
        descriptor = os.open(made.name, os.O_RDWR)
        os.fsync(descriptor)
        yield descriptor
        os.close(descriptor)


def read(descriptor: int, offset: int = 0) -> tuple[Bytes, io.How]:
    into = np.full(SIZE - offset, 0x55, np.uint8)
    assert files.readinto_now(descriptor, into, offset) == into.nbytes
    return into, io.last()


@pytest.mark.parametrize(
    ("cached", "why"),
    [
        ((0, 0), COLD),
        ((0, SIZE // 4 * 3), MIXED),
        ((SIZE // 2, SIZE), COLD),
        ((SIZE // 4, SIZE // 2), COLD),
    ],
)
def test_bytes_are_the_files(
    opened: int, content: Bytes, cached: tuple[int, int], why: str
) -> None:
    keep_in_memory(opened, [cached])
    into, how = read(opened)
    assert np.array_equal(into, content)
    if how.why == HOT and cached == (0, 0):
        pytest.skip("/var/tmp keeps its files in memory: nothing is cold there")
    assert how.why == why or (why, how.why) == (MIXED, BY_TRIAL)
    assert (how.threads > 1) == (how.why == MIXED)
    again, how = read(opened, 4097)
    assert np.array_equal(again, content[4097:])
    assert how.why in (HOT, BY_TRIAL)


@pytest.mark.parametrize("seed", range(12))
def test_layouts_drawn_at_random(opened: int, content: Bytes, seed: int) -> None:
    """Storage gives what it gives to the plain call, also where no look has seen it before."""
    layout = numa_mixed.draw(random.Random(seed), SIZE)
    given = []
    for plainly in (True, False):
        keep_in_memory(opened, layout.cached)
        before, into = numa_mixed.stored_bytes(), np.full(SIZE, 0x55, np.uint8)
        if plainly:
            assert os.preadv(opened, [into], 0) == SIZE
        else:
            assert files.readinto_now(opened, into) == SIZE
        given.append(numa_mixed.stored_bytes() - before)
        assert np.array_equal(into, content)
    how = io.last()
    if given[0] == 0:
        pytest.skip("all of it was in memory, or storage is not told of")
    assert how.threads == 1 or how.why == MIXED
    assert given[1] <= given[0] + READ_AHEAD


def test_the_position_at_which_a_file_ends(opened: int, content: Bytes) -> None:
    keep_in_memory(opened, [(0, SIZE // 2)])
    into = np.full(2 * SIZE, 0x55, np.uint8)
    assert files.readinto_now(opened, into) == SIZE
    assert np.array_equal(into[:SIZE], content)
    assert (into[SIZE:] == 0x55).all()


def test_trials_split_cold_files_too_if_asked(opened: int, content: Bytes) -> None:
    io.set_options(dataclasses.replace(io.get_options(), always=True))
    keep_in_memory(opened, [])
    into, how = read(opened)
    assert np.array_equal(into, content)
    assert how.why == HOT
