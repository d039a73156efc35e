// What the ranks of a file tell each other before a collective access in two phases, when they know
// its sums (access_summary.h).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "mpi/executor.h"
#include "mpi/file_state.h"
#include "mpiio/access.h"
#include "mpiio/two_phase.h"

namespace haichi::mpi {

/// Fixed-size record of one rank, gathered on all (328 bytes a rank).
struct Announcement {
  int64_t window;      ///< largest collective buffer in bytes that this rank can do with; 0: this
                       ///< rank needs the call to be passed through
  int64_t hull_begin;  ///< of the file; begin >= end if the rank has no bytes
  int64_t hull_end;
  int64_t bytes;      ///< that the rank accesses
  int64_t blocks;     ///< contiguous pieces of the file that these are, about
  int64_t file_size;  ///< seen by an aggregator, else -1
  uint64_t tuning;    ///< TunedAccess::announced()
  /// Size of the encoded access if it fits below; 0 if it must be asked for.
  int64_t encoded_size;
  std::byte encoded[264];
};

/// Of what must be equal on all ranks for a plan to be the same on all.
uint64_t fingerprint(const mpiio::TwoPhaseOptions& options);

Announcement announce(FileState& state, const mpiio::Access& access, int64_t window);

/// One allgather of the file's ranks, in order of rank.
Result<std::vector<Announcement>> agree(FileState& state, const Announcement& own);

/// The accesses that fitted into the announcements, clipped at file offset `end`; others are empty.
Result<std::vector<mpiio::Access>> announced_accesses(const std::vector<Announcement>& all,
                                                      int64_t end);

/// The accesses that this rank, if it is an aggregator, needs: element r is rank r's access as far
/// as it touches this rank's file domain. Empty vector on other ranks. Sends and receives the
/// descriptions that did not fit into the announcements. Collective.
Result<std::vector<mpiio::Access>> collect_accesses(FileState& state,
                                                    const mpiio::TwoPhasePlan& plan,
                                                    const std::vector<Announcement>& announcements,
                                                    const std::vector<mpiio::Access>& announced,
                                                    const mpiio::Access& own);

}  // namespace haichi::mpi
