// From MPI_Init to MPI_Finalize: makes what the other parts share, and takes it down.
#pragma once

namespace haichi::mpi {

/// Collective over MPI_COMM_WORLD; called once, right after the real MPI_Init.
void start_runtime();
/// Collective over MPI_COMM_WORLD, before the real MPI_Finalize; writes the report if one is asked
/// for.
void stop_runtime();

}  // namespace haichi::mpi
