! The output of NPB's BT, as BTIO writes it, in its four variants. An array of n x n x n cells of
! five doubles is cut by diagonal multipartition: p*p ranks have p blocks each, one in every slab
! along each dimension, with a frame of two cells in memory. All of it is written once per step,
! step after step, and read back at the end. Usage:
!
!   client_btio full|simple|fortran|epio N STEPS FILE         on a square number of ranks
!
! full     collective, one call a step, with derived types of blocks in memory and in the file
! simple   MPI_File_write_at of every row of cells
! fortran  Fortran direct access, a record for each cell, all ranks in one file
! epio     a sequential file for each process, FILE.rank
!
! The first three leave the same bytes. Prints a sum of what was read; exit code 1 if it is wrong.
program client_btio
  use mpi
  implicit none
  integer, parameter :: frame = 2, unknowns = 5, cell_bytes = 40
  integer :: rank, ranks, side, n, steps, widest, ierr
  integer, allocatable :: low(:, :), extent(:, :)  ! (dimension, block); low from 0
  double precision, allocatable :: u(:, :, :, :, :)  ! (unknown, x, y, z, block)
  character(len=16) :: variant
  character(len=1000) :: path
  logical :: wrong

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call arguments()
  call multipartition()
  allocate (u(unknowns, -frame:widest + frame - 1, -frame:widest + frame - 1, &
              -frame:widest + frame - 1, side))
  wrong = .false.
  select case (variant)
  case ('full')
    call full(.true.)
    call full(.false.)
  case ('simple')
    call simple(.true.)
    call simple(.false.)
  case ('fortran')
    call direct(.true.)
    call direct(.false.)
  case ('epio')
    call sequential(.true.)
    call sequential(.false.)
  end select
  if (wrong) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  call MPI_Finalize(ierr)

contains

  subroutine arguments()
    character(len=16) :: word
    logical :: good
    call get_command_argument(1, variant)
    call get_command_argument(2, word)
    read (word, *, iostat=ierr) n
    call get_command_argument(3, word)
    read (word, *, iostat=ierr) steps
    call get_command_argument(4, path)
    side = nint(sqrt(dble(ranks)))
    good = any(variant == ['full            ', 'simple          ', 'fortran         ', &
                           'epio            '])
    if (good .and. side*side == ranks .and. n >= side .and. command_argument_count() == 4) return
    if (rank == 0) print '(2a)', 'usage: client_btio full|simple|fortran|epio N STEPS FILE, ', &
      'on p*p ranks'
    call MPI_Finalize(ierr)
    stop 2
  end subroutine arguments

  ! NPB's make_set: the next block is one further in x, one back in y, one further in z.
  subroutine multipartition()
    integer :: block, d, at(3), rest
    allocate (low(3, side), extent(3, side))
    at = [mod(rank, side), rank/side, 0]
    rest = mod(n, side)
    do block = 1, side
      do d = 1, 3
        extent(d, block) = n/side + merge(1, 0, at(d) < rest)
        low(d, block) = at(d)*(n/side) + min(at(d), rest)
      end do
      at = [mod(at(1) + 1, side), mod(at(2) - 1 + side, side), at(3) + 1]
    end do
    widest = n/side + merge(1, 0, rest > 0)
  end subroutine multipartition

  double precision function value_at(m, x, y, z, block, step)
    integer, intent(in) :: m, x, y, z, block, step
    integer :: place
    place = ((low(3, block) + z)*n + low(2, block) + y)*n + low(1, block) + x
    value_at = m + 10d0*place + 1d9*step
  end function value_at

  ! Cells of the frame are negative: they must not be in any file.
  subroutine fill(step)
    integer, intent(in) :: step
    integer :: m, x, y, z, block
    u = -1
    do block = 1, side
      do z = 0, extent(3, block) - 1
        do y = 0, extent(2, block) - 1
          do x = 0, extent(1, block) - 1
            do m = 1, unknowns
              u(m, x, y, z, block) = value_at(m, x, y, z, block, step)
            end do
          end do
        end do
      end do
    end do
  end subroutine fill

  ! Compares u with what fill() gives, all ranks together.
  subroutine compare(step)
    integer, intent(in) :: step
    double precision, allocatable :: found(:, :, :, :, :)
    double precision :: own, all
    allocate (found, source=u)
    call fill(step)
    if (any(found /= u)) then
      print '(a, i0, a, i0)', 'client_btio: wrong cells in step ', step, ' on rank ', rank
      wrong = .true.
    end if
    own = sum(found, mask=found >= 0)
    call MPI_Reduce(own, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(a, i0, a, f30.1)', 'step ', step, ': ', all
  end subroutine compare

  ! The cell as etype, and the rank's blocks as one type each in memory and in the file.
  subroutine block_types(cell, in_memory, in_file)
    integer, intent(out) :: cell, in_memory, in_file
    integer :: memory_types(side), file_types(side), ones(side), block
    integer(kind=MPI_ADDRESS_KIND) :: places(side), zeros(side)
    call MPI_Type_contiguous(unknowns, MPI_DOUBLE_PRECISION, cell, ierr)
    do block = 1, side
      call MPI_Type_create_subarray(3, spread(widest + 2*frame, 1, 3), extent(:, block), &
                                    [frame, frame, frame], MPI_ORDER_FORTRAN, cell, &
                                    memory_types(block), ierr)
      call MPI_Type_create_subarray(3, [n, n, n], extent(:, block), low(:, block), &
                                    MPI_ORDER_FORTRAN, cell, file_types(block), ierr)
      places(block) = int(block - 1, MPI_ADDRESS_KIND)*cell_bytes*(widest + 2*frame)**3
    end do
    ones = 1
    zeros = 0
    call MPI_Type_create_struct(side, ones, places, memory_types, in_memory, ierr)
    call MPI_Type_create_struct(side, ones, zeros, file_types, in_file, ierr)
    do block = 1, side
      call MPI_Type_free(memory_types(block), ierr)
      call MPI_Type_free(file_types(block), ierr)
    end do
    call MPI_Type_commit(cell, ierr)
    call MPI_Type_commit(in_memory, ierr)
    call MPI_Type_commit(in_file, ierr)
  end subroutine block_types

  subroutine full(writing)
    logical, intent(in) :: writing
    integer :: cell, in_memory, in_file, file, step, block
    integer(kind=MPI_OFFSET_KIND) :: at, each
    call block_types(cell, in_memory, in_file)
    call open_file(file, writing)
    at = 0
    call MPI_File_set_view(file, at, cell, in_file, 'native', MPI_INFO_NULL, ierr)
    each = 0
    do block = 1, side
      each = each + product(extent(:, block))
    end do
    do step = 1, steps
      if (writing) then
        call fill(step)
        call MPI_File_write_at_all(file, at, u, 1, in_memory, MPI_STATUS_IGNORE, ierr)
      else
        u = -1
        call MPI_File_read_at_all(file, at, u, 1, in_memory, MPI_STATUS_IGNORE, ierr)
        call compare(step)
      end if
      at = at + each
    end do
    call MPI_File_close(file, ierr)
    call MPI_Type_free(cell, ierr)
    call MPI_Type_free(in_memory, ierr)
    call MPI_Type_free(in_file, ierr)
  end subroutine full

  subroutine simple(writing)
    logical, intent(in) :: writing
    integer :: file, step, block, y, z, count
    integer(kind=MPI_OFFSET_KIND) :: at
    call open_file(file, writing)
    do step = 1, steps
      u = -1
      if (writing) call fill(step)
      do block = 1, side
        count = unknowns*extent(1, block)
        do z = 0, extent(3, block) - 1
          do y = 0, extent(2, block) - 1
            at = (row_of(block, y, z, step))*cell_bytes
            if (writing) then
              call MPI_File_write_at(file, at, u(1, 0, y, z, block), count, MPI_DOUBLE_PRECISION, &
                                     MPI_STATUS_IGNORE, ierr)
            else
              call MPI_File_read_at(file, at, u(1, 0, y, z, block), count, MPI_DOUBLE_PRECISION, &
                                    MPI_STATUS_IGNORE, ierr)
            end if
          end do
        end do
      end do
      if (.not. writing) call compare(step)
    end do
    call MPI_File_close(file, ierr)
  end subroutine simple

  ! Cells before a row of a block, in the file.
  integer(kind=MPI_OFFSET_KIND) function row_of(block, y, z, step)
    integer, intent(in) :: block, y, z, step
    row_of = ((step - 1)*n + low(3, block) + z)*n + low(2, block) + y
    row_of = row_of*n + low(1, block)
  end function row_of

  subroutine open_file(file, writing)
    integer, intent(out) :: file
    logical, intent(in) :: writing
    integer :: mode
    mode = merge(MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_MODE_RDONLY, writing)
    call MPI_File_open(MPI_COMM_WORLD, trim(path), mode, MPI_INFO_NULL, file, ierr)
    if (ierr /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine open_file

  subroutine direct(writing)
    logical, intent(in) :: writing
    integer, parameter :: unit = 20
    integer :: step, block, x, y, z, length, record
    inquire (iolength=length) u(:, 0, 0, 0, 1)
    if (writing .and. rank == 0) then
      open (unit, file=trim(path), status='replace', form='unformatted', access='direct', &
            recl=length)
      close (unit)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    open (unit, file=trim(path), status='old', form='unformatted', access='direct', recl=length)
    do step = 1, steps
      u = -1
      if (writing) call fill(step)
      do block = 1, side
        do z = 0, extent(3, block) - 1
          do y = 0, extent(2, block) - 1
            do x = 0, extent(1, block) - 1
              record = int(row_of(block, y, z, step)) + x + 1
              if (writing) then
                write (unit, rec=record) u(:, x, y, z, block)
              else
                read (unit, rec=record) u(:, x, y, z, block)
              end if
            end do
          end do
        end do
      end do
      if (.not. writing) call compare(step)
    end do
    close (unit)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end subroutine direct

  subroutine sequential(writing)
    logical, intent(in) :: writing
    integer, parameter :: unit = 20
    integer :: step, block, y, z
    character(len=16) :: number
    write (number, '(a, i0)') '.', rank
    open (unit, file=trim(path)//trim(number), form='unformatted')
    do step = 1, steps
      u = -1
      if (writing) call fill(step)
      do block = 1, side
        do z = 0, extent(3, block) - 1
          do y = 0, extent(2, block) - 1
            if (writing) then
              write (unit) u(:, 0:extent(1, block) - 1, y, z, block)
            else
              read (unit) u(:, 0:extent(1, block) - 1, y, z, block)
            end if
          end do
        end do
      end do
      if (.not. writing) call compare(step)
    end do
    close (unit)
  end subroutine sequential
end program client_btio
