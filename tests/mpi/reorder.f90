! A grid and a graph with reorder true: whom each rank hears from is whom its topology names.
program reorder
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, ranks, grid, graph, mine, source, to, heard, d, far
  integer :: status(MPI_STATUS_SIZE), extents(2), from(1), onto(1), weights(1), got(1)
  logical :: periods(2), right, all_right

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  extents = (/ 2, ranks / 2 /)
  periods = (/ .false., .true. /)
  right = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, .true., grid, ierr)
  call MPI_Comm_rank(grid, mine, ierr)
  do d = 0, 1
    call MPI_Cart_shift(grid, d, 1, source, to, ierr)
    heard = MPI_PROC_NULL
    call MPI_Sendrecv(mine, 1, MPI_INTEGER, to, 0, heard, 1, MPI_INTEGER, source, 0, grid, &
                      status, ierr)
    right = right .and. heard == source
  end do
  far = ranks / 2 - 1
  from(1) = modulo(rank - far, ranks)
  onto(1) = modulo(rank + far, ranks)
  weights(1) = 7
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, weights, 1, onto, weights, &
                                      MPI_INFO_NULL, .true., graph, ierr)
  call MPI_Comm_rank(graph, mine, ierr)
  call MPI_Neighbor_allgather(mine, 1, MPI_INTEGER, got, 1, MPI_INTEGER, graph, ierr)
  right = right .and. got(1) == modulo(mine - far, ranks)
  call MPI_Allreduce(right, all_right, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
  if (all_right .and. rank == 0) print *, 'neighbours are right'
  call MPI_Finalize(ierr)
end program reorder
