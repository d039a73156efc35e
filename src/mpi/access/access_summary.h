// What the ranks of a file tell one another first in a collective access: a few sums and extremes,
// by one reduction of a fixed size whatever the number of ranks.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "mpi/access/access_request.h"
#include "mpi/files/file_state.h"
#include "mpiio/ways/way.h"

namespace haichi::mpi {

/// The same on all ranks.
struct AccessSummary {
  bool can = false;             ///< every rank can take the call
  bool same_hints = false;      ///< every rank has the same hints in force
  int64_t hints = 0;            ///< stands for them
  bool library_writes = false;  ///< nonblocking writes of the library may be under way
  bool all_off = false;         ///< every rank was told to leave the file alone
  Striping striping;            ///< as rank 0's descriptor tells; 0, 0: it does not
  bool some_fill = false;       ///< a rank would fill holes between its own pieces
  int64_t slot = -1;            ///< of the handle, see mpiio/storage/file_lock.h
  int64_t last_ns = 0;          ///< of the slowest rank in the last access, see way_trials.h
  int longest_doze = 0;         ///< calls that may go on without an agreement, at most; 0: as usual
  mpiio::Demand demand;
};

/// Collective over the file's ranks: one MPI_Allreduce, or as much in memory. A rank whose request
/// has a refusal says so.
Result<AccessSummary> summarize(FileState& state, const Request& request,
                                mpiio::Direction direction);

}  // namespace haichi::mpi
