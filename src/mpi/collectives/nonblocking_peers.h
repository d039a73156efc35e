// The peers of communicators whose nonblocking collectives are haichi's: made with the
// communicator, kept with it (comm_attachment.h).
#pragma once

#include <mpi.h>

#include <memory>

#include "mpi/collectives/comm_peers.h"

namespace haichi::mpi {

/// Right after MPI_Init, collective over MPI_COMM_WORLD: haichi's own communicators can be made
/// then, and MPI_COMM_WORLD is prepared if nonblocking collectives are to be haichi's.
void start_nonblocking();

/// For a communicator that was just created, collective over it: its nonblocking collectives will
/// be haichi's, if they may.
void prepare_nonblocking(MPI_Comm comm);

/// Null if the communicator's nonblocking collectives are the library's: on all of its ranks alike.
std::shared_ptr<CommPeers> peers_of(MPI_Comm comm);

}  // namespace haichi::mpi
