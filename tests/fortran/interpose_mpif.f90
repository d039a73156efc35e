! The program of tests/mpi/interpose_c.c through "mpif.h": collective write and read by a view.
! Usage: interpose_mpif FILE. Prints "intact" on rank 0; exit code 1 if a value is wrong.
program interpose_mpif
  implicit none
  include 'mpif.h'
  integer, parameter :: block = 16, blocks = 10, n = block * blocks
  integer :: rank, ranks, ierr, file, vector, i, got, status(MPI_STATUS_SIZE), out(n), in(n)
  integer(kind=MPI_OFFSET_KIND) :: disp
  character(len=1000) :: path

  call get_command_argument(1, path)
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
  out = [(rank * 1000 + i, i = 0, n - 1)]
  in = 0
  call MPI_TYPE_VECTOR(blocks, block, block * ranks, MPI_INTEGER, vector, ierr)
  call MPI_TYPE_COMMIT(vector, ierr)
  call MPI_FILE_OPEN(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, &
                     file, ierr)
  disp = rank * block * 4
  call MPI_FILE_SET_VIEW(file, disp, MPI_INTEGER, vector, 'native', MPI_INFO_NULL, ierr)
  call MPI_FILE_WRITE_ALL(file, out, n, MPI_INTEGER, status, ierr)
  call MPI_GET_COUNT(status, MPI_INTEGER, got, ierr)
  if (got /= n) call bad('count written')
  disp = 0
  call MPI_FILE_READ_AT_ALL(file, disp, in, n, MPI_INTEGER, status, ierr)
  call MPI_GET_COUNT(status, MPI_INTEGER, got, ierr)
  if (got /= n) call bad('count read')
  if (any(in /= out)) call bad('values')
  call MPI_FILE_CLOSE(file, ierr)
  call MPI_TYPE_FREE(vector, ierr)
  call MPI_BARRIER(MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a)', 'intact'
  call MPI_FINALIZE(ierr)

contains
  subroutine bad(what)
    character(len=*), intent(in) :: what
    print '(2a)', 'interpose_mpif: wrong ', what
    call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
  end subroutine bad
end program interpose_mpif
