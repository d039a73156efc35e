"""The program of interpose_c.c in mpi4py: collective write and read through a file view.

Usage: interpose_mpi4py.py FILE [plain]. Prints "intact" on rank 0; exit code 1 if a value is wrong.
With "plain" each rank's part of the file is one piece, for MPICH 4.0: mpi4py makes every datatype
with a large-count function, and a view of such a type ends there in "Out of memory" (flatten.c).
"""

import array
import sys

from mpi4py import MPI

BLOCK, BLOCKS = 16, 10
N = BLOCK * BLOCKS
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
mine = array.array("i", (rank * 1000 + i for i in range(N)))
back = array.array("i", [0] * N)

if sys.argv[2:] == ["plain"]:
    BLOCK, BLOCKS, blocks = N, 1, MPI.INT
else:
    blocks = MPI.INT.Create_vector(BLOCKS, BLOCK, BLOCK * size).Commit()
file = MPI.File.Open(comm, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(rank * BLOCK * 4, MPI.INT, blocks)
status = MPI.Status()
file.Write_all([mine, MPI.INT], status)
assert status.Get_count(MPI.INT) == N, "wrong count written"
file.Seek(0)
file.Read_all([back, MPI.INT], status)
assert status.Get_count(MPI.INT) == N, "wrong count read"
assert back == mine, "wrong values"
file.Get_info().Free()
file.Close()

comm.Barrier()
with open(sys.argv[1], "rb") as plain:
    everything = array.array("i", plain.read())
for i, value in enumerate(everything):
    row, owner = divmod(i // BLOCK, size)
    assert value == owner * 1000 + row * BLOCK + i % BLOCK, "wrong file"
comm.Barrier()
if rank == 0:
    print("intact")
