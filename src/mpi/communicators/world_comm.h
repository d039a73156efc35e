// A duplicate of MPI_COMM_WORLD, made at MPI_Init, that haichi's other communicators come from.
//
// There is none where the program may go on when processes fail: MPIX_Comm_revoke and _shrink let
// ranks out of the program's communicators, but would leave them waiting in haichi's.
#pragma once

#include <mpi.h>

namespace haichi::mpi {

/// Collective over MPI_COMM_WORLD, right after MPI_Init.
void start_world_comm();

/// The duplicate of MPI_COMM_WORLD, with MPI_ERRORS_RETURN: to ask the MPI library what it thinks
/// of an argument. MPI_COMM_NULL if there is none.
MPI_Comm asking_comm();

}  // namespace haichi::mpi
