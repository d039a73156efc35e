"""haichi.io: files into and out of numpy arrays and other buffers, without copies."""

from __future__ import annotations

import errno
import json
import os
import random
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest
from haichi import io

SIZE = 3_000_001
LEAST = 64 << 10


@pytest.fixture
def data() -> np.ndarray:
    return np.random.default_rng(25).integers(0, 256, SIZE, np.uint8)


@pytest.fixture
def file(tmp_path: Path, data: np.ndarray) -> Path:
    made = tmp_path / "data"
    data.tofile(made)
    return made


def test_any_part_is_read(file: Path, data: np.ndarray) -> None:
    draw = random.Random(1)
    for _ in range(40):
        offset, size = draw.randrange(SIZE + 10), draw.randrange(SIZE)
        assert np.array_equal(io.read(file, size, offset).result(), data[offset : offset + size])
    assert np.array_equal(io.read(file).result(), data)


def test_many_at_a_time(file: Path, data: np.ndarray) -> None:
    waiting: list[tuple[int, Future[np.ndarray]]] = [
        (offset, io.read(file, 500_000, offset)) for offset in range(0, SIZE, 250_000)
    ]
    for offset, each in waiting:
        assert np.array_equal(each.result(), data[offset : offset + 500_000])


@pytest.mark.parametrize("kind", ["name", "descriptor", "file"])
def test_what_a_file_is(file: Path, data: np.ndarray, kind: str) -> None:
    with file.open("rb") as opened:
        given = {"name": file, "descriptor": opened.fileno(), "file": opened}[kind]
        assert np.array_equal(io.read(given).result(), data)
        assert opened.tell() == 0


def test_buffers_are_filled_where_they_are(file: Path, data: np.ndarray) -> None:
    array = np.zeros((3, 1000, 1000), np.uint8)
    assert io.readinto(file, array).result() == array.nbytes
    assert np.array_equal(array.ravel(), data[: array.nbytes])
    plain = bytearray(SIZE + 5)
    assert io.readinto(file, memoryview(plain)[3:], 7).result() == SIZE - 7
    assert plain[3 : SIZE - 4] == data[7:].tobytes()
    fortran = np.zeros((1000, 3000), np.uint8, order="F")
    assert io.readinto(file, fortran).result() == fortran.nbytes
    assert np.array_equal(fortran.ravel(order="K"), data[: fortran.nbytes])
    assert io.readinto(file, bytearray()).result() == 0


def test_buffers_that_will_not_do(file: Path) -> None:
    with pytest.raises(ValueError, match="one piece"):
        io.readinto(file, np.zeros((10, 10))[:, ::2])
    with pytest.raises(ValueError, match="written to"):
        io.readinto(file, b"constant")


def test_failures_are_those_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        io.read(tmp_path / "none").result()
    with pytest.raises(IsADirectoryError):
        io.readinto(tmp_path, bytearray(SIZE)).result()
    with pytest.raises(OSError) as failed:
        io.readinto(-1, bytearray(SIZE)).result()
    assert failed.value.errno == errno.EBADF
    with pytest.raises(OSError):
        io.set_options(io.Options(0, 1, 1))


def test_writes_come_back(tmp_path: Path, data: np.ndarray) -> None:
    made = tmp_path / "made"
    assert io.write(made, data).result() == SIZE
    assert io.write(made, data[:10].tobytes(), offset=100).result() == 10
    expected = data.copy()
    expected[100:110] = data[:10]
    assert np.array_equal(np.fromfile(made, np.uint8), expected)


@pytest.mark.parametrize("number", [1, 2, 3, 7])
def test_parts_together_are_the_whole(tmp_path: Path, data: np.ndarray, number: int) -> None:
    files = [tmp_path / f"part{i}" for i in range(number)]
    assert io.write_parts(files, data).result() == SIZE
    together = b"".join(each.read_bytes() for each in files)
    assert together == data.tobytes()


def test_parts_of_no_file_are_refused(data: np.ndarray) -> None:
    with pytest.raises(ValueError, match="no file is named"):
        io.write_parts([], data)


@pytest.mark.parametrize("of", [1, 3, 8])
def test_turns_read_the_same(file: Path, data: np.ndarray, of: int) -> None:
    for number in range(of):
        assert np.array_equal(io.read(file, turn=io.Turn(number, of)).result(), data)
    with pytest.raises(OSError):
        io.read(file, turn=io.Turn(of, of)).result()


def test_how_it_was_done(tmp_path: Path, data: np.ndarray) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor: nothing is split")
    np.save(tmp_path / "a.npy", data)
    io.load(tmp_path / "a.npy")
    how = io.last()
    assert (how.bytes, how.why) == (SIZE, "split by the nodes of its pages")
    assert how.local_bytes <= how.bytes
    io.set_options(io.Options(1, LEAST, LEAST))
    io.load(tmp_path / "a.npy")
    assert (io.last().threads, io.last().why) == (1, "one thread allowed")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f8", ">i4", "?", "<c16", [("a", "<i4"), ("b", "<f8")]])
def test_npy(tmp_path: Path, order: str, dtype: object) -> None:
    array = np.zeros((100, 30, 50), dtype=dtype, order=order)  # type: ignore[call-overload]
    array.ravel(order="K").view(np.uint8)[::3] = 1
    np.save(tmp_path / "a.npy", array)
    loaded = io.load(tmp_path / "a.npy")
    assert isinstance(loaded, np.ndarray)
    assert np.array_equal(loaded, array)
    assert loaded.dtype == array.dtype
    assert loaded.flags["F_CONTIGUOUS"] == array.flags["F_CONTIGUOUS"]


def safetensors(path: Path, tensors: dict[str, np.ndarray], names: dict[str, str]) -> None:
    header: dict[str, object] = {"__metadata__": {"format": "np"}}
    at = 0
    for name, each in tensors.items():
        header[name] = {
            "dtype": names[name],
            "shape": list(each.shape),
            "data_offsets": [at, at + each.nbytes],
        }
        at += each.nbytes
    text = json.dumps(header).encode()
    body = b"".join(each.tobytes() for each in tensors.values())
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)


def test_safetensors(tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    tensors = {
        "odd": draw.integers(0, 255, 3, np.uint8),
        "weight": draw.random((300, 700)),
        "half": draw.random((7, 5)).astype("<f2"),
        "brain": draw.integers(0, 1 << 16, (9, 9), np.uint16),
        "none": np.zeros((0, 4), "<f4"),
        "scalar": np.array(3, "<i8"),
    }
    kinds = {
        "odd": "U8",
        "weight": "F64",
        "half": "F16",
        "brain": "BF16",
        "none": "F32",
        "scalar": "I64",
    }
    safetensors(tmp_path / "m.safetensors", tensors, kinds)
    loaded = io.load(tmp_path / "m.safetensors")
    assert isinstance(loaded, dict)
    assert list(loaded) == list(tensors)
    for name, each in tensors.items():
        assert np.array_equal(loaded[name], each)
        assert loaded[name].shape == each.shape


def test_damaged_files_say_so(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    safetensors(path, {"w": np.ones(1000)}, {"w": "F64"})
    whole = path.read_bytes()
    for damaged, said in (
        (whole[:-1], "behind the end"),
        (whole[:50], "header is damaged"),
        (b"\xff" * 64, "no .safetensors file"),
        (whole.replace(b"F64", b"F65"), "header is damaged"),
        (whole.replace(b"[1000]", b"[1001]"), "header is damaged"),
        (whole.replace(b"[1000]", b'"1000"'), "header is damaged"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(io.FormatError, match=said):
            io.load(path)
    array = tmp_path / "a.npy"
    np.save(array, np.ones(1000))
    array.write_bytes(array.read_bytes()[:-1])
    with pytest.raises(io.FormatError, match="ends after 7999 of 8000"):
        io.load(array)
    np.save(array, np.array([{}], object), allow_pickle=True)
    with pytest.raises(io.FormatError, match="Python objects"):
        io.load(array)
    array.write_bytes(b"nothing")
    with pytest.raises(io.FormatError, match="no .npy file"):
        io.load(array)
    with pytest.raises(io.FormatError, match="takes .npy, .safetensors, .h5"):
        io.load(tmp_path / "a.txt")


def test_a_child_of_a_fork_reads_too(file: Path, data: np.ndarray) -> None:
    io.read(file).result()
    child = os.fork()
    if child == 0:
        right = np.array_equal(io.read(file).result(), data)
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0
