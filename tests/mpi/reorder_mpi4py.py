"""A grid and a graph with reorder true: whom each rank hears from is whom its topology names."""

from mpi4py import MPI

world = MPI.COMM_WORLD
size = world.Get_size()
grid = world.Create_cart([2, size // 2], periods=[False, True], reorder=True)
right = True
for dimension in range(2):
    source, to = grid.Shift(dimension, 1)
    heard = grid.sendrecv(grid.Get_rank(), dest=to, source=source)
    right &= heard == (None if source == MPI.PROC_NULL else source)
right &= grid.Get_cart_rank(grid.Get_coords(grid.Get_rank())) == grid.Get_rank()

rank = world.Get_rank()
far = size // 2 - 1
graph = world.Create_dist_graph_adjacent(
    [(rank - far) % size], [(rank + far) % size], [7], [7], reorder=True
)
mine = graph.Get_rank()
right &= graph.Get_dist_neighbors()[:2] == ([(mine - far) % size], [(mine + far) % size])
right &= graph.neighbor_allgather(mine) == [(mine - far) % size]
if world.allreduce(right, MPI.LAND) and rank == 0:
    print("neighbours are right")
