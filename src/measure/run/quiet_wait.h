// Waiting for others without taking cores from them.
#pragma once

#include <mpi.h>

namespace haichi::measure {

/// Completes the request; sleeps where an MPI call would spin.
void wait_quietly(MPI_Request request);
/// A barrier that ranks sleep in.
void gather_quietly(MPI_Comm comm);

}  // namespace haichi::measure
