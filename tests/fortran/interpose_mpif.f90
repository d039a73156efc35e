! interpose_steps.inc through "mpif.h".
program interpose_mpif
  implicit none
  include 'mpif.h'
  include 'interpose_steps.inc'
end program interpose_mpif
