! Split and nonblocking collectives from Fortran: requests together with a message's, statuses.
! Usage: access_kinds FILE. Prints "intact" on rank 0; exit code 1 if a value is wrong.
program access_kinds
  use mpi
  implicit none
  integer, parameter :: block = 16, blocks = 10, n = block * blocks
  integer :: rank, ranks, i, got, file, vector, ierror, token, requests(3)
  integer :: statuses(MPI_STATUS_SIZE, 3), status(MPI_STATUS_SIZE)
  integer, asynchronous :: out(n), in(n)
  integer(kind=MPI_OFFSET_KIND) :: disp
  logical :: done
  character(len=1000) :: path

  call get_command_argument(1, path)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  out = [(rank * 1000 + i, i = 0, n - 1)]
  call MPI_Type_vector(blocks, block, block * ranks, MPI_INTEGER, vector, ierror)
  call MPI_Type_commit(vector, ierror)
  call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, &
                     file, ierror)
  disp = rank * block * 4
  call MPI_File_set_view(file, disp, MPI_INTEGER, vector, 'native', MPI_INFO_NULL, ierror)

  call MPI_File_write_all_begin(file, out, n, MPI_INTEGER, ierror)
  call MPI_File_write_all_end(file, out, status, ierror)
  call check(status, 'count of the split write')
  call MPI_File_get_position(file, disp, ierror)
  if (disp /= n) call bad('position')
  call MPI_File_sync(file, ierror)
  disp = 0
  in = 0
  call MPI_File_read_at_all_begin(file, disp, in, n, MPI_INTEGER, ierror)
  call MPI_File_read_at_all_end(file, in, status, ierror)
  call check(status, 'count of the split read')
  if (any(in /= out)) call bad('values of the split read')

  out = out + 1
  token = -1
  call MPI_Irecv(token, 1, MPI_INTEGER, mod(rank + ranks - 1, ranks), 5, MPI_COMM_WORLD, &
                 requests(2), ierror)
  call MPI_File_iwrite_at_all(file, disp, out, n, MPI_INTEGER, requests(1), ierror)
  call MPI_Isend(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 5, MPI_COMM_WORLD, requests(3), ierror)
  call MPI_Waitall(3, requests, statuses, ierror)
  if (any(requests /= MPI_REQUEST_NULL)) call bad('requests')
  call check(statuses(:, 1), 'count of the nonblocking write')
  if (token /= mod(rank + ranks - 1, ranks)) call bad('message')
  call MPI_File_sync(file, ierror)
  call MPI_File_seek(file, disp, MPI_SEEK_SET, ierror)
  call MPI_File_iread_all(file, in, n, MPI_INTEGER, requests(1), ierror)
  done = .false.
  do while (.not. done)
    call MPI_Test(requests(1), done, status, ierror)
  end do
  call check(status, 'count of the nonblocking read')
  if (any(in /= out)) call bad('values of the nonblocking read')

  call MPI_File_close(file, ierror)
  call MPI_Type_free(vector, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(a)', 'intact'
  call MPI_Finalize(ierror)

contains
  subroutine check(status, what)
    integer, intent(in) :: status(MPI_STATUS_SIZE)
    character(len=*), intent(in) :: what
    call MPI_Get_count(status, MPI_INTEGER, got, ierror)
    if (got /= n) call bad(what)
  end subroutine check
  subroutine bad(what)
    character(len=*), intent(in) :: what
    print '(2a)', 'access_kinds: wrong ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine bad
end program access_kinds
