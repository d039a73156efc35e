"""The same quantities as loops.c, with the calls of mpi4py on buffers, as its users time them: half
of a round trip, a barrier, an all-to-all, a put with its flush; blocks of many calls, the median of
the blocks. What Python takes for a call is in them.

    mpiexec -n 2 python3 mpi4py_loops.py KERNEL BYTES BLOCKS
"""

from __future__ import annotations

import os
import statistics
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.Get_rank()
kernel, size, blocks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
calls = 50 if size <= 4096 else 10 if size <= 65536 else 2
os.sched_setaffinity(0, {rank % (os.cpu_count() or 1)})

out, into = bytearray(b"1" * max(2 * size, 1)), bytearray(b"1" * max(2 * size, 1))
one, other = memoryview(out)[:size], memoryview(into)[:size]
window = MPI.Win.Allocate(max(size, 1), 1, comm=comm)
window.Lock_all()


def pingpong() -> None:
    if rank == 0:
        comm.Send([one, MPI.BYTE], 1)
        comm.Recv([other, MPI.BYTE], 1)
    else:
        comm.Recv([other, MPI.BYTE], 0)
        comm.Send([one, MPI.BYTE], 0)


def alltoall() -> None:
    comm.Alltoall([out, size, MPI.BYTE], [into, size, MPI.BYTE])


def putflush() -> None:
    if rank == 0:
        window.Put([one, MPI.BYTE], 1)
        window.Flush(1)


work = {"pingpong": pingpong, "barrier": comm.Barrier, "alltoall": alltoall, "putflush": putflush}
parts = 2 if kernel == "pingpong" else 1
call = work[kernel]
seconds = []
for _ in range(blocks):
    comm.Barrier()
    begin = MPI.Wtime()
    for _ in range(calls):
        call()
    seconds.append((MPI.Wtime() - begin) / (calls * parts))
if rank == 0:
    print(f"{statistics.median(seconds):.12f}")
window.Unlock_all()
window.Free()
