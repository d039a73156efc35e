"""Parallel HDF5 files by h5py in the layouts that applications use.

Usage: mpiexec -n N python3 client_h5py.py FILE. Deterministic: two runs leave the same bytes.
Prints what was read back, summed over the ranks, so that two runs can be compared by their output.
"""

import sys
import zlib

import h5py
import numpy
from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.rank, COMM.size


def mine(shape: tuple[int, ...], salt: int) -> numpy.ndarray:
    """Values that name their rank and place."""
    count = int(numpy.prod(shape))
    return (numpy.arange(count, dtype=numpy.int64) * 7 + RANK * 100003 + salt).reshape(shape)


def write(file: h5py.File) -> None:
    """One dataset a layout, collective unless it says otherwise."""
    rows = file.create_dataset("rows", (6 * RANKS, 50), "i8")
    columns = file.create_dataset("columns", (40, 9 * RANKS), "f8")
    strided = file.create_dataset("strided", (64 * RANKS,), "i4")
    holes = file.create_dataset("holes", (100, 20 * RANKS), "i2", fillvalue=-3)
    chunked = file.create_dataset("chunked", (32, 16 * RANKS), "i8", chunks=(10, 7))
    grown = file.create_dataset("grown", (0, 24), "u4", maxshape=(None, 24), chunks=(5, 24))
    volume = file.create_dataset("volume", (4 * RANKS, 6, 10), "f4")
    pair = numpy.dtype([("weight", "f8"), ("index", "i4"), ("flag", "i1")], align=True)
    records = file.create_dataset("records", (30 * RANKS,), pair)
    some = file.create_dataset("some", (RANKS, 33), "i8")
    with rows.collective:
        rows[6 * RANK : 6 * RANK + 6] = mine((6, 50), 1)
    with columns.collective:
        columns[:, 9 * RANK : 9 * RANK + 9] = mine((40, 9), 2) / 8
    with strided.collective:
        strided[RANK::RANKS] = mine((64,), 3)
    with holes.collective:
        holes[3:90:4, 20 * RANK + 2 : 20 * RANK + 15] = mine((22, 13), 4) % 30000
    with chunked.collective:
        chunked[5:30, 16 * RANK : 16 * RANK + 16] = mine((25, 16), 5)
    grown.resize((8 * RANKS, 24))
    with grown.collective:
        grown[RANK::RANKS, :] = mine((8, 24), 6)
    with volume.collective:
        volume[RANK::RANKS, 1:5, ::3] = mine((4, 4, 4), 7)
    filled = numpy.zeros(30, pair)
    filled["weight"], filled["index"], filled["flag"] = RANK + 0.5, mine((30,), 8), RANK
    with records.collective:
        records[30 * RANK : 30 * RANK + 30] = filled
    # Only some ranks have anything to write; the others take part with nothing, which h5py can say
    # at its lower level only.
    transfer = h5py.h5p.create(h5py.h5p.DATASET_XFER)
    transfer.set_dxpl_mpio(h5py.h5fd.MPIO_COLLECTIVE)
    space, memory = some.id.get_space(), h5py.h5s.create_simple((27,))
    if RANK % 2 == 0:
        space.select_hyperslab((RANK, 3), (1, 27))
    else:
        space.select_none()
        memory.select_none()
    some.id.write(memory, space, mine((27,), 9), dxpl=transfer)
    COMM.Barrier()
    # One rank alone, as attributes and small tables are written.
    if RANK == RANKS - 1:
        some[RANK, 30:33] = [1, 2, 3]
    file.attrs["title"] = "haichi"
    file.create_group("group").attrs["ranks"] = RANKS


def read(file: h5py.File) -> list[str]:
    """Another rank's part of each dataset, and all of it."""
    lines = []
    other = (RANK + 1) % RANKS
    for name in sorted(name for name in file if isinstance(file[name], h5py.Dataset)):
        dataset = file[name]
        with dataset.collective:
            rows = len(range(other, dataset.shape[0], RANKS))
            part = numpy.empty((rows, *dataset.shape[1:]), dataset.dtype)
            dataset.read_direct(part, numpy.s_[other::RANKS])
            whole = dataset[...]  # independent: see "Reading by h5py" in docs/notes.md
        total = COMM.allreduce(zlib.crc32(part.tobytes()), MPI.SUM)
        lines.append(f"{name} {total} {zlib.crc32(whole.tobytes())}")
    return lines


def main() -> None:
    """Writes, reads, changes in place and reads again."""
    path = sys.argv[1]
    with h5py.File(path, "w", driver="mpio", comm=COMM) as file:
        write(file)
    lines = []
    for turn in range(2):
        with h5py.File(path, "r+", driver="mpio", comm=COMM) as file:
            lines += read(file)
            with file["columns"].collective:
                file["columns"][RANK::RANKS, 3:7] = turn + RANK
            lines += read(file)
    if RANK == 0:
        print("\n".join(lines), flush=True)


main()
