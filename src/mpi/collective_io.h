// A collective access from the agreement of the ranks to the status that the program sees.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "mpi/file_state.h"
#include "mpiio/two_phase.h"

namespace haichi::mpi {

/// A collective data access as the program called it.
struct CollectiveCall {
  const char* name;
  mpiio::Direction direction;
  std::optional<MPI_Offset> offset;  ///< explicit, in etypes of the view; else individual pointer
  void* memory;
  int64_t count;
  MPI_Datatype type;
};

/// What became of a call. If not taken, every rank of the file must make the real call.
struct CollectiveOutcome {
  bool taken = false;
  int error = MPI_SUCCESS;  ///< an MPI error class, equal on all ranks
  int64_t bytes = 0;        ///< this rank's, really transferred
};

/// Collective over the file's communicator; takes the state's mutex. Moves the individual pointer
/// if the call has no explicit offset. Never throws anything but std::bad_alloc.
CollectiveOutcome run_collective(MPI_File file, FileState& state, const CollectiveCall& call);

}  // namespace haichi::mpi
