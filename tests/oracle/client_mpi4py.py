"""Collective I/O by mpi4py with datatypes that are out of the ordinary but right in every library.

Usage: mpiexec -n N python client_mpi4py.py FILE. Deterministic. Prints statuses and what was read
back, so that two runs can be compared by their output.
"""

import sys
import zlib

from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.rank, COMM.size


def view_types() -> list[tuple[str, int, MPI.Datatype, MPI.Datatype]]:
    """(name, displacement in bytes, etype, filetype) of this rank."""
    item = MPI.DOUBLE
    grid = MPI.Compute_dims(RANKS, 2)
    darray = item.Create_darray(
        RANKS, RANK, [12, 14], [MPI.DISTRIBUTE_CYCLIC, MPI.DISTRIBUTE_BLOCK],
        [2, MPI.DISTRIBUTE_DFLT_DARG], grid, MPI.ORDER_F,
    )  # fmt: skip
    vector = item.Create_vector(5, 3, 3 * RANKS)
    triple = MPI.INT.Create_contiguous(3)
    return [
        ("vector", 24 * RANK, item, vector.Create_resized(0, 5 * 3 * RANKS * 8)),
        ("subarray", 4096, item, item.Create_subarray([9, 7 * RANKS], [9, 7], [0, 7 * RANK])),
        ("darray", 16384, item, darray),
        ("triples", 40000 + 36 * RANK, triple, triple.Create_vector(4, 3, 3 * RANKS)),
        (
            "indexed",
            60000,
            MPI.BYTE,
            MPI.BYTE.Create_indexed([5, 0, 9], [14 * RANK, 400, 500 + 9 * RANK]),
        ),
    ]


def memory_types(etype: MPI.Datatype) -> list[tuple[str, MPI.Datatype, int]]:
    """(name, type, how many of it) made of whole etypes, with gaps in memory."""
    extent = etype.Get_extent()[1]
    spread = etype.Create_vector(4, 1, 3)
    block = etype.Create_hindexed_block(2, [extent, 5 * extent])
    return [
        ("plain", etype.Dup(), 12),
        ("spread", spread.Create_resized(0, 12 * extent), 3),
        ("block", block, 3),
        ("struct", MPI.Datatype.Create_struct([1, 2], [0, 3 * extent], [etype, etype]), 4),
        ("none", etype.Create_contiguous(0), 2),
    ]


def transfer(file: MPI.File, salt: int, etype: MPI.Datatype) -> str:
    """Writes and reads back through each memory type, with the file pointer and without."""
    out = ""
    for turn, (name, memory, count) in enumerate(memory_types(etype)):
        memory.Commit()
        buffer = bytearray((i * 3 + RANK * 17 + salt + turn) % 256 for i in range(4000))
        back = bytearray(b"\xee" * 4000)
        status = MPI.Status()
        spec, into = [buffer, count, memory], [back, count, memory]
        moved = count * memory.Get_size() // etype.Get_size()
        if turn % 2:
            file.Write_at_all(0, spec, status)
            file.Read_at_all(0, into, status)
        else:
            file.Seek(0)
            file.Write_all(spec, status)
            assert file.Get_position() == moved, (name, file.Get_position(), moved)
            file.Seek(0)
            file.Read_all(into, status)
        got = COMM.gather((status.Get_elements(MPI.BYTE), zlib.crc32(back)))
        out += f"  {name} {got}\n"
        memory.Free()
    return out


def main() -> None:
    """All views one after the other in one file."""
    info = MPI.Info.Create()
    info.Set("cb_buffer_size", "700")
    file = MPI.File.Open(COMM, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR, info)
    # Bytes that nobody writes may be anything: here there are none.
    if RANK == 0:
        file.Write_at(0, bytes(80000))
    file.Sync()
    COMM.Barrier()
    file.Sync()
    text = ""
    for salt, (name, displacement, etype, filetype) in enumerate(view_types()):
        filetype.Commit()
        etype.Commit()
        file.Set_view(displacement, etype, filetype)
        text += name + "\n" + transfer(file, 50 * salt, etype)
        COMM.Barrier()
    size = file.Get_size()
    file.Close()
    if RANK == 0:
        print(text + f"size {size}", flush=True)


main()
