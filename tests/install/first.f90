! The same as first.c in Fortran.
program first
  use mpi_f08
  implicit none
  integer, parameter :: rounds = 4, turns = 64, turn = 1024
  integer, allocatable :: out(:), in(:)
  integer :: rank, ranks, i, round
  integer(mpi_offset_kind) :: start
  integer(mpi_address_kind) :: extent
  logical :: right, all_right
  type(mpi_datatype) :: one, spread
  type(mpi_file) :: file
  character(len=4096) :: name

  call mpi_init()
  call mpi_comm_rank(mpi_comm_world, rank)
  call mpi_comm_size(mpi_comm_world, ranks)
  allocate (out(turns*turn), in(turns*turn))
  out = [(rank*1000003 + i, i=1, turns*turn)]
  call get_command_argument(1, name)
  extent = 4_mpi_address_kind*turn*ranks
  call mpi_type_contiguous(turn, mpi_integer, one)
  call mpi_type_create_resized(one, 0_mpi_address_kind, extent, spread)
  call mpi_type_commit(spread)
  call mpi_file_open(mpi_comm_world, trim(name), ior(mpi_mode_create, mpi_mode_rdwr), mpi_info_null, file)
  start = 4_mpi_offset_kind*turn*rank
  call mpi_file_set_view(file, start, mpi_integer, spread, "native", mpi_info_null)
  right = .true.
  do round = 1, rounds
    in = 0
    call mpi_file_write_at_all(file, 0_mpi_offset_kind, out, turns*turn, mpi_integer, mpi_status_ignore)
    call mpi_file_read_at_all(file, 0_mpi_offset_kind, in, turns*turn, mpi_integer, mpi_status_ignore)
    right = right .and. all(in == out)
  end do
  call mpi_file_close(file)
  call mpi_reduce(right, all_right, 1, mpi_logical, mpi_land, 0, mpi_comm_world)
  if (rank == 0) print '(a)', merge("right", "wrong", all_right)
  call mpi_type_free(one)
  call mpi_type_free(spread)
  call mpi_finalize()
end program first
