// With whom a rank exchanges blocks on a communicator of the program's that has a topology.
#pragma once

#include <mpi.h>

#include <optional>

#include "collectives/neighbours.h"

namespace haichi::mpi {

/// Functions that treat a rank that is a neighbour more than once in different ways.
enum class NeighbourCall {
  allgather,  ///< all that comes from a rank is the same
  alltoall,
  alltoallv,  ///< alltoallw too, and all nonblocking and persistent ones
};

struct Neighbourhood {
  collectives::Neighbours neighbours;
  bool cartesian = false;
  int own = 0;  ///< how often this rank is its own neighbour
  /// Of all ranks, once they have agreed; until then, this one's.
  bool repeated = false;  ///< some rank is a neighbour of another more than once
  int most = 0;           ///< destinations of the one that has most

  /// It is known which block becomes which, also where two ranks exchange several: all MPI
  /// libraries do as `neighbours` says. The same answer on all ranks.
  ///
  /// MPI 4.1, section 8.6, says it for all functions, but MPICH 4.0.2 receives the blocks of
  /// MPI_Neighbor_alltoallv and w in order, which is wrong in a grid, and those of
  /// MPI_Neighbor_alltoall in reverse, which is right in a grid only, and there only if a rank's
  /// blocks for itself are of one dimension. Later releases changed that
  /// (https://github.com/pmodels/mpich/pull/5777, https://github.com/pmodels/mpich/pull/7945).
  bool matches_alike(NeighbourCall call) const {
    if (call == NeighbourCall::allgather || !repeated) return true;
    return call == NeighbourCall::alltoall && cartesian && own <= 2;
  }
};

/// This rank's; nothing if there is no topology, or the MPI library does not say. Local.
std::optional<Neighbourhood> neighbourhood_of(MPI_Comm comm);

/// Makes `mine` say of all ranks what it has to, or nothing on all if one rank has nothing. False
/// on all if one is not `ready`; `mine` is then to be thrown away. Collective over `comm`.
bool agree_on_neighbourhood(std::optional<Neighbourhood>& mine, bool ready, MPI_Comm comm);

}  // namespace haichi::mpi
