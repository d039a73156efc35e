! interpose_steps.inc through the module mpi.
program interpose_usempi
  use mpi
  implicit none
  include 'interpose_steps.inc'
end program interpose_usempi
