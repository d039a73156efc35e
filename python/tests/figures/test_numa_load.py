"""`haichi figures numa-load`: what loaders give is the same, and what is not there is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from haichi import paths
from haichi.figures import numa_load
from haichi.figures.numa_load import OWN, Loader

SIZE = 1 << 16


@pytest.fixture
def found() -> list[Loader]:
    if not (paths.build() / "lib" / "libhaichi-io.so").exists():
        pytest.skip("no libhaichi-io.so (./haichi build, with libnuma-dev)")
    return numa_load.loaders({})


def numbers(loaded: object) -> np.ndarray:
    """All that was loaded, as numbers in a row."""
    parts = list(loaded.values()) if isinstance(loaded, dict) else [loaded]
    return np.concatenate([np.frombuffer(np.asarray(each).tobytes()) for each in parts])


def test_loaders_give_the_same(tmp_path: Path, found: list[Loader]) -> None:
    files = numa_load.write_files(tmp_path, SIZE, dict.fromkeys(each.form for each in found))
    expected = np.fromfile(files["bytes"])
    assert expected.nbytes == SIZE
    for each in found:
        loaded = each.load(files[each.form])
        content = memoryview(loaded) if each.who.startswith("Arrow") else loaded  # type: ignore[arg-type]
        assert np.array_equal(numbers(content), expected), each.who


def test_each_has_its_rounds_and_the_first_does_not_count(
    tmp_path: Path, found: list[Loader]
) -> None:
    files = numa_load.write_files(tmp_path, SIZE, dict.fromkeys(each.form for each in found))
    numa_load.measure(found, files, 3, cached=0.5, say=lambda _: None)
    assert {len(each.seconds) for each in found} == {3}


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyarrow", "h5py", "safetensors.numpy"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    missing: dict[str, str] = {}
    left = numa_load.loaders(missing)
    assert {each.who for each in left} == {OWN, "one read(2)", "numpy.load"}
    assert set(missing) == {"pyarrow", "h5py", "safetensors.numpy"}
    assert all("requirements/peers.txt" in why for why in missing.values())
