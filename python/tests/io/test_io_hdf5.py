"""haichi.io.load() of HDF5 files: what h5py reads, and which of it by threads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from haichi import io
from haichi.io import files, formats_hdf5

h5py = pytest.importorskip("h5py", reason="no h5py: .venv/bin/pip install h5py")


@pytest.fixture
def read_here(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of each read that is not h5py's."""
    seen: list[int] = []
    own = files.readinto_now

    def readinto_now(*words: object) -> int:
        got = own(*words)  # type: ignore[arg-type]
        seen.append(got)
        return got

    monkeypatch.setattr(formats_hdf5.files, "readinto_now", readinto_now)
    return seen


def alike(path: Path) -> dict[str, np.ndarray]:
    """What load() gives, after it was compared with what h5py gives."""
    loaded = io.load(path)
    assert isinstance(loaded, dict)
    expected: dict[str, np.ndarray] = {}
    with h5py.File(path) as tree:
        tree.visititems(
            lambda name, each: (
                expected.update({name: np.asarray(each[()])})
                if isinstance(each, h5py.Dataset)
                else None
            )
        )
    assert list(loaded) == list(expected)
    for name, each in expected.items():
        assert loaded[name].dtype == each.dtype, name
        assert loaded[name].shape == each.shape, name
        assert loaded[name].tobytes() == each.tobytes() or each.dtype.hasobject, name
    return loaded


@pytest.mark.parametrize(
    "dtype",
    ["<f8", ">i4", "?", "<c16", "<f2", ">f4", "u1", "S7", [("a", "<i4"), ("b", ">f8", 3)]],
)
@pytest.mark.parametrize("user_block", [0, 4096])
def test_in_one_piece(tmp_path: Path, read_here: list[int], dtype: object, user_block: int) -> None:
    array = np.zeros((100, 30, 7), dtype=dtype)  # type: ignore[call-overload]
    array.ravel().view(np.uint8)[::3] = 1
    with h5py.File(tmp_path / "a.h5", "w", userblock_size=user_block) as tree:
        tree["group/first"] = array
        tree["group/more/second"] = array[:5]
    alike(tmp_path / "a.h5")
    assert sorted(read_here) == sorted((array.nbytes, array[:5].nbytes))


def test_what_is_not_in_one_piece_is_h5pys(tmp_path: Path, read_here: list[int]) -> None:
    data = np.random.default_rng(4).random((200, 300))
    with h5py.File(tmp_path / "b.hdf5", "w") as tree:
        tree.create_dataset("chunked", data=data, chunks=(50, 50))
        tree.create_dataset("squeezed", data=data, compression="gzip")
        tree.create_dataset("unwritten", (70, 80), "<i4", fillvalue=7)
        tree.create_dataset("outside", data=data, external=[(tmp_path / "raw", 0, data.nbytes)])
        tree["text"] = "words"
        tree["texts"] = np.array(["one", "two"], h5py.string_dtype())
        tree["scalar"] = 3.5
        tree["nothing"] = h5py.Empty("<f4")
        tree["none"] = np.zeros((0, 4), "<f4")
        tree["link"] = h5py.SoftLink("/chunked")
        layout = h5py.VirtualLayout(data.shape, data.dtype)
        layout[:] = h5py.VirtualSource(tree["chunked"])
        tree.create_virtual_dataset("virtual", layout)
    loaded = alike(tmp_path / "b.hdf5")
    assert loaded["text"].item() == b"words"
    assert set(read_here) <= {8}  # the scalar


def test_a_type_that_memory_has_otherwise_is_converted(
    tmp_path: Path, read_here: list[int]
) -> None:
    with h5py.File(tmp_path / "c.h5", "w") as tree:
        odd = h5py.h5t.NATIVE_INT32.copy()
        odd.set_precision(20)
        space = h5py.h5s.create_simple((1000,))
        h5py.h5d.create(tree.id, b"odd", odd, space)
        tree["odd"][...] = np.arange(1000)
    loaded = alike(tmp_path / "c.h5")
    assert np.array_equal(loaded["odd"], np.arange(1000))
    assert not read_here


def test_damage_is_told(tmp_path: Path) -> None:
    path = tmp_path / "d.h5"
    with h5py.File(path, "w") as tree:
        tree["a"] = np.ones(100_000)
    whole = path.read_bytes()
    for damaged in (whole[:-1000], whole[:200], b"nothing" * 100):
        path.write_bytes(damaged)
        with pytest.raises(io.FormatError, match=f"{path}: no HDF5 file, or damaged"):
            io.load(path)
    with pytest.raises(FileNotFoundError):
        io.load(tmp_path / "none.h5")


def test_without_h5py_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "e.h5").write_bytes(b"")
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(io.FormatError, match="pip install h5py"):
        io.load(tmp_path / "e.h5")
