! The program of tests/mpi/interpose_c.c through the module mpi_f08: typed handles, no ierror.
! Usage: interpose_f08 FILE. Prints "intact" on rank 0; exit code 1 if a value is wrong.
program interpose_f08
  use mpi_f08
  implicit none
  integer, parameter :: block = 16, blocks = 10, n = block * blocks
  integer :: rank, ranks, i, got, out(n), in(n)
  integer(kind=MPI_OFFSET_KIND) :: disp
  type(MPI_File) :: file
  type(MPI_Datatype) :: vector
  type(MPI_Status) :: status
  character(len=1000) :: path

  call get_command_argument(1, path)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  out = [(rank * 1000 + i, i = 0, n - 1)]
  in = 0
  call MPI_Type_vector(blocks, block, block * ranks, MPI_INTEGER, vector)
  call MPI_Type_commit(vector)
  call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, &
                     file)
  disp = rank * block * 4
  call MPI_File_set_view(file, disp, MPI_INTEGER, vector, 'native', MPI_INFO_NULL)
  call MPI_File_write_all(file, out, n, MPI_INTEGER, status)
  call MPI_Get_count(status, MPI_INTEGER, got)
  if (got /= n) call bad('count written')
  disp = 0
  call MPI_File_read_at_all(file, disp, in, n, MPI_INTEGER, status)
  call MPI_Get_count(status, MPI_INTEGER, got)
  if (got /= n) call bad('count read')
  if (any(in /= out)) call bad('values')
  call MPI_File_close(file)
  call MPI_Type_free(vector)
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) print '(a)', 'intact'
  call MPI_Finalize()

contains
  subroutine bad(what)
    character(len=*), intent(in) :: what
    print '(2a)', 'interpose_f08: wrong ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine bad
end program interpose_f08
