! A Fortran application's files: a distributed 3-D array with halos, records of several types and a
! list of particles, through the module mpi. Usage: client_fortran FILE. Deterministic; prints
! counts and sums of what was read back. Exit code 1 if a value is wrong.
program client_fortran
  use mpi
  implicit none
  integer, parameter :: nx = 6, ny = 5, nz = 4, halo = 2
  integer :: rank, ranks, ierr, file, got
  integer :: status(MPI_STATUS_SIZE)
  character(len=1000) :: path

  call get_command_argument(1, path)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, &
                     file, ierr)
  call fill_with_zeros()
  call array_with_halos()
  call records()
  call particles()
  call MPI_File_close(file, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a)', 'done'
  call MPI_Finalize(ierr)

contains

  ! Bytes that nobody writes may be anything: here there are none.
  subroutine fill_with_zeros()
    integer :: zeros(12500)
    integer(kind=MPI_OFFSET_KIND) :: zero
    zero = 0
    zeros = 0
    if (rank == 0) call MPI_File_write_at(file, zero, zeros, 12500, MPI_INTEGER, status, ierr)
    call MPI_File_sync(file, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_File_sync(file, ierr)
  end subroutine fill_with_zeros

  ! The array is cut along its second dimension; halos stay in memory.
  subroutine array_with_halos()
    double precision :: field(1 - halo:nx + halo, 1 - halo:ny + halo, nz)
    double precision :: back(1 - halo:nx + halo, 1 - halo:ny + halo, nz)
    integer :: inner, mine, i, j, k
    integer(kind=MPI_OFFSET_KIND) :: zero
    zero = 0
    field = -1
    do k = 1, nz
      do j = 1, ny
        do i = 1, nx
          field(i, j, k) = i + 10 * j + 100 * k + 1000 * rank
        end do
      end do
    end do
    call MPI_Type_create_subarray(3, [nx + 2 * halo, ny + 2 * halo, nz], [nx, ny, nz], &
                                  [halo, halo, 0], MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, &
                                  inner, ierr)
    call MPI_Type_create_subarray(3, [nx, ny * ranks, nz], [nx, ny, nz], [0, ny * rank, 0], &
                                  MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, mine, ierr)
    call MPI_Type_commit(inner, ierr)
    call MPI_Type_commit(mine, ierr)
    call MPI_File_set_view(file, zero, MPI_DOUBLE_PRECISION, mine, 'native', MPI_INFO_NULL, ierr)
    call MPI_File_write_all(file, field, 1, inner, status, ierr)
    call MPI_Get_count(status, inner, got, ierr)
    if (got /= 1) call bad('count of the array')
    back = -1
    call MPI_File_read_at_all(file, zero, back, 1, inner, status, ierr)
    if (any(back /= field)) call bad('array')
    call MPI_Type_free(inner, ierr)
    call MPI_Type_free(mine, ierr)
    call tell('array', sum(back))
  end subroutine array_with_halos

  ! Records of an integer, two reals and a complex number, dealt out to the ranks.
  subroutine records()
    integer, parameter :: n = 7
    integer :: header(n), back(n), cell, tile, i
    integer(kind=MPI_ADDRESS_KIND) :: lower, extent
    integer(kind=MPI_OFFSET_KIND) :: disp
    header = [(1000 * rank + i, i = 1, n)]
    call MPI_Type_create_f90_integer(9, cell, ierr)
    lower = 0
    extent = 4 * 5 * ranks
    call MPI_Type_create_resized(MPI_INTEGER, lower, extent, tile, ierr)
    call MPI_Type_commit(tile, ierr)
    disp = 8 * nx * ny * nz * ranks + 20 * rank + 4
    call MPI_File_set_view(file, disp, MPI_INTEGER, tile, 'native', MPI_INFO_NULL, ierr)
    call MPI_File_write_all(file, header, n, cell, status, ierr)
    back = 0
    disp = 0
    call MPI_File_read_at_all(file, disp, back, n, MPI_INTEGER, status, ierr)
    call MPI_Get_count(status, MPI_INTEGER, got, ierr)
    if (got /= n .or. any(back /= header)) call bad('records')
    call MPI_Type_free(tile, ierr)
    call tell('records', dble(sum(back)))
  end subroutine records

  ! Rank r has 3 r particles, so that rank 0 has none; characters behind them.
  subroutine particles()
    complex :: place(3 * ranks), back(3 * ranks)
    character(len=11) :: name, name_back
    integer :: i, n
    integer(kind=MPI_OFFSET_KIND) :: disp, zero
    zero = 0
    n = 3 * rank
    place = [(cmplx(rank, i), i = 1, 3 * ranks)]
    back = place
    disp = 20000 + 8 * 3 * rank * (rank - 1) / 2
    call MPI_File_set_view(file, disp, MPI_COMPLEX, MPI_COMPLEX, 'native', MPI_INFO_NULL, ierr)
    call MPI_File_write_at_all(file, zero, place, n, MPI_COMPLEX, status, ierr)
    back(1:n) = 0
    call MPI_File_read_all(file, back, n, MPI_COMPLEX, status, ierr)
    call MPI_Get_count(status, MPI_COMPLEX, got, ierr)
    if (got /= n .or. any(back /= place)) call bad('particles')
    write (name, '(a, i5.5)') 'rank: ', rank
    disp = 40000 + 11 * (ranks - 1 - rank)
    call MPI_File_set_view(file, disp, MPI_CHARACTER, MPI_CHARACTER, 'native', MPI_INFO_NULL, ierr)
    call MPI_File_write_all(file, name, 11, MPI_CHARACTER, status, ierr)
    call MPI_File_read_at_all(file, zero, name_back, 11, MPI_CHARACTER, status, ierr)
    if (name_back /= name) call bad('names')
    call tell('particles', dble(sum(abs(back(1:n)))))
  end subroutine particles

  subroutine tell(what, value)
    character(len=*), intent(in) :: what
    double precision, intent(in) :: value
    double precision :: total
    call MPI_Reduce(value, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(a, f16.4)', what, total
  end subroutine tell

  subroutine bad(what)
    character(len=*), intent(in) :: what
    integer :: code
    print '(2a)', 'client_fortran: wrong ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, code)
  end subroutine bad
end program client_fortran
