// Who is where, found out inside an MPI program.
//
// Nodes are told apart by the identity of their hosts, not by MPI_COMM_TYPE_SHARED: under a hydra
// hostfile that repeats a host, MPICH takes each of its lines for a node of its own.
// cross_check() says where the two disagree.
//
// All of it goes through haichi::mpi::real() and so runs in the shim and in haichi-where alike.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "placement/placement.h"

namespace haichi::mpi {

/// A number that the ranks of a communicator compare.
struct Ballot {
  uint64_t mine = 0;
  bool alike = false;
};

/// Placement of an intracommunicator's ranks, with node names and places. Collective; one allgather
/// of 120 bytes a rank, all of which must have haichi.
///
/// `file` (HAICHI_PLACEMENT), if not empty, names a placement to use in place of the hosts'. The
/// first rank that gives one reads it for all, so that a launcher which does not pass the
/// environment on, or a node without the file, does not split the job. Places that it leaves out
/// are the real ones. On every rank the error is the same: EINVAL if the file cannot be read, is no
/// placement, or is one of another number of ranks; EIO if the MPI library fails.
///
/// `ballot`, if given, rides along: `alike` tells on every rank whether all gave the same number.
Result<placement::Placement> discover(MPI_Comm comm, const std::string& file = {},
                                      Ballot* ballot = nullptr);

/// Rank in MPI_COMM_WORLD of each rank of `comm`; no communication. Fails with EINVAL on an
/// intercommunicator, whose two groups have no common numbering, and where `comm` has ranks of
/// another MPI_COMM_WORLD (spawned or connected). All ranks of a communicator see that alike.
/// Nobody tells whether such ranks have haichi, so a communicator for which this fails is left to
/// the MPI library: nothing collective may be done on it.
Result<std::vector<int>> world_ranks(MPI_Comm comm);

/// Placement of `comm`, from that of MPI_COMM_WORLD, without communication. Fails as world_ranks().
Result<placement::Placement> placement_of(MPI_Comm comm, const placement::Placement& world);

/// What MPI_COMM_TYPE_SHARED says other than `placement`, in one line; empty if they agree, and the
/// same on all ranks. Collective; splits a communicator, so not for every MPI_Init.
Result<std::string> cross_check(MPI_Comm comm, const placement::Placement& placement);

}  // namespace haichi::mpi
