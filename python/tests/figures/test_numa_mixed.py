"""`haichi figures numa-mixed`: layouts are drawn as it says, and read in all ways."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from haichi import paths
from haichi.figures import numa_mixed
from haichi.figures.numa_mixed import PAGE, READS

SIZE = 16 << 20


def test_layouts_are_of_all_kinds() -> None:
    random_ = random.Random(1)
    drawn = [numa_mixed.draw(random_, SIZE) for _ in range(300)]
    for layout in drawn:
        flat = [border for extent in layout.cached for border in extent]
        assert flat == sorted(flat)
        assert all(border % PAGE == 0 and 0 <= border <= SIZE for border in flat)
        assert layout.share * SIZE == pytest.approx(
            sum(end - begin for begin, end in layout.cached)
        )
    assert {layout.extents for layout in drawn} >= set(range(1, 8))
    assert min(layout.share for layout in drawn) < 0.1 < 0.9 < max(layout.share for layout in drawn)


def test_each_way_has_its_rounds() -> None:
    if not (paths.build() / "lib" / "libhaichi-io.so").exists():
        pytest.skip("no libhaichi-io.so (./haichi build, with libnuma-dev)")
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="haichi-mixed-") as folder:
        path = Path(folder) / "file"
        path.write_bytes(bytes(SIZE))
        layout = numa_mixed.draw(random.Random(3), SIZE)
        numa_mixed.measure(path, layout, random.Random(4), 2)
        assert {who: len(taken) for who, taken in layout.seconds.items()} == dict.fromkeys(READS, 2)
        assert len(layout.why) == 2
        assert layout.ratio(numa_mixed.PLAIN) == 1
