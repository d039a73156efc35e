// Who the ranks of a communicator are: one object for all communicators and files that have the
// same ranks in the same order.
//
// Placement and world ranks take 28 bytes a rank: at 100,000 ranks nobody wants a copy for each
// file. The set is kept with the communicator and goes over to its duplicates, so that a library
// that duplicates a communicator for each file asks for nothing again.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "placement/placement.h"

namespace haichi::mpi {

class Runtime;

struct RankSet {
  const std::vector<int> world_rank;  ///< of each rank, its rank in MPI_COMM_WORLD
  const std::shared_ptr<const placement::Placement> placement;
};

/// Two of the same ranks in the same order are the same pointer.
using RankSetPtr = std::shared_ptr<const RankSet>;

/// Right after MPI_Init: keeps that of MPI_COMM_WORLD with it.
void start_rank_sets(const Runtime& runtime);

/// That of MPI_COMM_WORLD; null before start_rank_sets().
RankSetPtr ranks_of_world();

/// Collective over `comm`. Null, on all ranks, for an intercommunicator and where there are ranks
/// of another MPI_COMM_WORLD; see "Several worlds" in docs/notes.md.
RankSetPtr ranks_of(MPI_Comm comm);

/// Before MPI_Comm_spawn: its ranks may meet others.
void expect_spawned();

}  // namespace haichi::mpi
