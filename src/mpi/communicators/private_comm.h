// Communicators of haichi's own, for what it does beneath a collective call of the program's.
//
// They come from the duplicate of MPI_COMM_WORLD, by the ranks of the
// program's communicator alone: so they have none of its attributes (whose callbacks the program
// counts on), and what fails asks no error handler of the program's. A library has a few thousand
// communicators for all: haichi takes kMostPrivateComms of them at most. Communicators and files of
// the same ranks in the same order share one, that of all ranks is the duplicate itself, unless
// several threads may call MPI at a time: no message is left over between two collective calls.
//
// There are none where there is no duplicate (world_comm.h).
//
// Thread-safe.
#pragma once

#include <mpi.h>

namespace haichi::mpi {

/// The communicators that are there at a time.
inline constexpr int kMostPrivateComms = 64;

/// One of the ranks of `comm`, with MPI_ERRORS_RETURN; MPI_COMM_NULL on all of them if `comm` is
/// none, has one rank, two groups or ranks of another MPI_COMM_WORLD, or if there are too many.
/// Collective over `comm`.
MPI_Comm take_private_comm(MPI_Comm comm);

/// To be called as often as one was taken.
void give_back_private_comm(MPI_Comm own);

/// One of this rank alone, with MPI_ERRORS_RETURN, to try a call on; MPI_COMM_NULL if there is
/// none. Local.
MPI_Comm make_self_comm();

}  // namespace haichi::mpi
