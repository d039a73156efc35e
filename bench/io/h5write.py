#!/usr/bin/python3
"""A parallel HDF5 write by h5py, as an application does it.

    mpiexec -n N /usr/bin/python3 h5write.py FILE [rows|columns] [N]

The twin of h5write.c: an N x N dataset of doubles (1536), each rank one hyperslab by rows or by
columns (columns), written and read back collectively. Prints one JSON line; exit code 1 if a value
read back is wrong, 2 for a bad argument.
"""

import json
import sys

import h5py
import numpy
from mpi4py import MPI


def values(slab: tuple[slice, slice]) -> numpy.ndarray:
    """The values that belong into `slab` of the dataset."""
    rows = numpy.arange(slab[0].start, slab[0].stop, dtype=numpy.float64)
    columns = numpy.arange(slab[1].start, slab[1].stop, dtype=numpy.float64)
    return rows[:, None] * 1e6 + columns[None, :]


def transfer(path: str, n: int, slab: tuple[slice, slice], data: numpy.ndarray, op: str) -> float:
    """Writes `data` to, or reads it from, `slab`; returns seconds of the slowest rank."""
    comm = MPI.COMM_WORLD
    with h5py.File(path, "w" if op == "write" else "r", driver="mpio", comm=comm) as file:
        field = file.create_dataset("field", (n, n), "<f8") if op == "write" else file["field"]
        comm.Barrier()
        begin = MPI.Wtime()
        with field.collective:
            if op == "write":
                field[slab] = data
            else:
                # Not field[slab]: that is independent. See "Reading by h5py" in docs/notes.md.
                field.read_direct(data, slab)
        return comm.allreduce(MPI.Wtime() - begin, MPI.MAX)


def main(arguments: list[str]) -> int:
    """Runs the program with the arguments after its name."""
    comm = MPI.COMM_WORLD
    cut = arguments[1] if len(arguments) > 1 else "columns"
    n = int(arguments[2]) if len(arguments) > 2 else 1536
    if not 1 <= len(arguments) <= 3 or cut not in ("rows", "columns") or n < comm.size:
        if comm.rank == 0:
            print("usage: h5write.py FILE [rows|columns] [N], N >= ranks", file=sys.stderr)
        return 2
    own = slice(n * comm.rank // comm.size, n * (comm.rank + 1) // comm.size)
    slab = (own, slice(0, n)) if cut == "rows" else (slice(0, n), own)
    data = values(slab)
    write_s = transfer(arguments[0], n, slab, data, "write")
    data[...] = 0
    read_s = transfer(arguments[0], n, slab, data, "read")
    wrong = comm.allreduce(int(numpy.count_nonzero(data != values(slab))), MPI.SUM)
    if comm.rank == 0:
        results = [
            {"op": "write", "repetition": 0, "seconds": write_s, "wrong_bytes": 0},
            {"op": "read", "repetition": 0, "seconds": read_s, "wrong_bytes": 8 * wrong},
        ]
        shape = {"n": n, "cut": cut}
        line = {
            "program": "h5write.py",
            "ranks": comm.size,
            "shape": shape,
            "bytes": 8 * n * n,
            "verified": True,
            "results": results,
        }
        print(json.dumps(line), flush=True)
    return int(wrong != 0)


sys.exit(main(sys.argv[1:]))
