"""`haichi figures numa-load`: how long haichi.io takes to load arrays from files, beside loaders
of the libraries whose files they are and others that read by several threads."""

from __future__ import annotations

import gc
import importlib
import os
import platform
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Annotated, TypedDict

import numpy as np
import typer
from rich.table import Table

from haichi import io
from haichi.figures import record
from haichi.figures.command import keep, one_line, progress_on_errors
from haichi.figures.page_cache import keep_in_memory
from haichi.mpi import Missing
from haichi.units import size_of

OWN = "haichi.io"
MIB = 1 << 20
ARRAYS = 8  # of the file's bytes in equal parts, where a file holds several
INSTALL = ".venv/bin/pip install -r requirements/peers.txt"
# Those that can't be measured here, with the reason.
ABSENT = {
    "KvikIO (its path without a GPU)": "CuFile.read ends in 'libcuda.so.1: cannot open' without "
    "NVIDIA's driver (kvikio-cu12 26.10)",
    "fastsafetensors": "gives tensors of PyTorch or Paddle alone, which are not installed for it",
}

Load = Callable[[Path], object]


@dataclass
class Loader:
    """Who loads a file of some form."""

    form: str
    who: str
    load: Load
    seconds: list[float] = field(default_factory=list)


def _module(name: str, missing: dict[str, str]) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        missing[name] = f"not installed: {INSTALL}"
        return None


def loaders(missing: dict[str, str]) -> list[Loader]:
    """Those that are installed; the others go into `missing` with what to do."""
    found = [
        Loader("bytes", OWN, lambda path: io.read(path).result()),
        Loader("bytes", "one read(2)", plainly),
        Loader(".npy", OWN, io.load),
        Loader(".npy", "numpy.load", np.load),
    ]
    if arrow := _module("pyarrow", missing):
        found.append(Loader("bytes", "Arrow, parallel copy", lambda path: _by_arrow(arrow, path)))
    if h5py := _module("h5py", missing):
        found += [
            Loader(".h5", OWN, io.load),
            Loader(".h5", "h5py", lambda path: _by_h5py(h5py, path)),
        ]
    if safetensors := _module("safetensors.numpy", missing):
        found += [
            Loader(".safetensors", OWN, io.load),
            Loader(".safetensors", "safetensors.numpy", safetensors.load_file),
        ]
    return found


def plainly(path: Path) -> object:
    made = np.empty(path.stat().st_size, np.uint8)
    with path.open("rb", buffering=0) as opened:
        at = 0
        while at < made.nbytes:
            at += opened.readinto(made[at:].data) or 0
    return made


def _by_arrow(arrow: ModuleType, path: Path) -> object:
    """As its users do: a mapped file, copied by as many threads as there are processors."""
    with arrow.memory_map(str(path)) as mapped:
        whole = mapped.read_buffer()
        made = arrow.allocate_buffer(whole.size)
        writer = arrow.FixedSizeBufferWriter(made)
        writer.set_memcopy_threads(len(os.sched_getaffinity(0)))
        writer.write(whole)
        return made


def _by_h5py(h5py: ModuleType, path: Path) -> object:
    with h5py.File(path) as tree:
        return {name: each[()] for name, each in tree.items()}


def write_files(folder: Path, size: int, forms: Mapping[str, object]) -> dict[str, Path]:
    """A file of about `size` bytes of each form."""
    each = np.random.default_rng(25).random(size // 8 // ARRAYS)
    arrays = {f"layer{number}": each for number in range(ARRAYS)}
    made = {form: folder / f"file{form if form != 'bytes' else '.bin'}" for form in forms}
    with made["bytes"].open("wb") as opened:
        for array in arrays.values():
            array.tofile(opened)
    np.save(made[".npy"], np.concatenate(list(arrays.values())))
    if ".h5" in made:
        with importlib.import_module("h5py").File(made[".h5"], "w") as tree:
            for name, array in arrays.items():
                tree[name] = array
    if ".safetensors" in made:
        importlib.import_module("safetensors.numpy").save_file(arrays, made[".safetensors"])
    for path in made.values():
        with path.open("rb") as opened:
            os.fsync(opened.fileno())
    return made


def _timed(loader: Loader, path: Path, cached: float) -> float:
    if cached < 1:
        with path.open("rb") as opened:
            keep_in_memory(opened.fileno(), [(0, int(path.stat().st_size * cached))])
    gc.collect()  # what the last one loaded is gone
    begin = time.perf_counter()
    got = loader.load(path)
    taken = time.perf_counter() - begin
    del got
    return taken


def measure(
    found: list[Loader],
    files: Mapping[str, Path],
    rounds: int,
    *,
    cached: float,
    say: Callable[[str], None],
) -> None:
    """Each once a round, in an order drawn anew: who reads a file right behind another one may have
    its bytes from a cache below this machine. The first round warms up and does not count."""
    draw = random.Random(25)
    gc.freeze()  # so that collecting what a loader has left does not look at all the rest
    try:
        for number in range(rounds + 1):
            say(f"round {number} of {rounds}, {cached:.0%} cached")
            for loader in draw.sample(found, len(found)):
                taken = _timed(loader, files[loader.form], cached)
                if number > 0:
                    loader.seconds.append(taken)
    finally:
        gc.unfreeze()


class Row(TypedDict):
    """A loader's times; the ratio of the medians, its over haichi's, with the least and the largest
    of the rounds' ratios around it."""

    form: str
    loader: str
    seconds: list[float]
    gib_s: float
    to_haichi: tuple[float, float, float]


def _rows(found: list[Loader], size: int) -> list[Row]:
    own = {each.form: each.seconds for each in found if each.who == OWN}
    rows: list[Row] = []
    for each in found:
        ratios = [theirs / ours for theirs, ours in zip(each.seconds, own[each.form], strict=True)]
        middle = statistics.median(each.seconds) / statistics.median(own[each.form])
        rows.append(
            {
                "form": each.form,
                "loader": each.who,
                "seconds": each.seconds,
                "gib_s": size / statistics.median(each.seconds) / (1 << 30),
                "to_haichi": (min(ratios), middle, max(ratios)),
            }
        )
    return rows


@contextmanager
def temporary(folder: Path, needed: int) -> Iterator[Path]:
    if not folder.is_dir():
        raise Missing(f"{folder} is no folder")
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise Missing(f"{folder} has {free // MIB} MiB free, {needed // MIB} are needed: --size")
    with tempfile.TemporaryDirectory(dir=folder, prefix="haichi-load-") as made:
        yield Path(made)


def command(
    folder: Annotated[
        Path | None, typer.Option(help="Where the files are made; $TMPDIR else.")
    ] = None,
    size: Annotated[str, typer.Option(help="Bytes of each file.")] = "1g",
    rounds: Annotated[int, typer.Option(min=1, help="Of each loader, in turns.")] = 7,
    cached: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of each file, from its beginning, in memory."),
    ] = 1,
    out: Annotated[
        Path | None, typer.Option(help="The JSON file to write (haichi.numa-load/1).")
    ] = None,
) -> None:
    """Load .npy, .safetensors and HDF5 files by haichi.io and by the libraries' own loaders."""
    say = progress_on_errors()
    missing = dict(ABSENT)
    with one_line():
        bytes_each = size_of(size)
        found = loaders(missing)
        forms = dict.fromkeys(each.form for each in found)
        before = record.load()
        with temporary(
            folder or Path(tempfile.gettempdir()), bytes_each * (len(forms) + 1)
        ) as into:
            files = write_files(into, bytes_each, forms)
            measure(found, files, rounds, cached=cached, say=say)
    rows = _rows(found, bytes_each)
    _show(rows, missing, cached)
    keep(
        {
            "schema": "haichi.numa-load/1",
            "bytes": bytes_each,
            "cached": cached,
            "cores": len(os.sched_getaffinity(0)),
            "kernel": platform.release(),
            "load": [before, record.load()],
            "loaders": rows,
            "missing": missing,
        },
        out,
        "numa-load" if cached == 1 else f"numa-load-{cached:g}",
    )


def _show(rows: list[Row], missing: Mapping[str, str], cached: float) -> None:
    table = Table("file", "loader", "GiB/s", "its time / haichi's", title=f"{cached:.0%} cached")
    for row in rows:
        low, middle, high = row["to_haichi"]
        ratio = "1" if row["loader"] == OWN else f"{middle:.2f} ({low:.2f} to {high:.2f})"
        table.add_row(row["form"], row["loader"], f"{row['gib_s']:.2f}", ratio)
    console = record.console()
    console.print(table)
    for who, why in missing.items():
        console.print(f"{who}: {why}", markup=False)
