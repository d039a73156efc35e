// What became of an access that haichi may carry out, and how the program learns of it.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace haichi::mpi {

/// What became of a call. If not taken, the real call must be made, on every rank of the file.
struct CollectiveOutcome {
  bool taken = false;
  int error = MPI_SUCCESS;  ///< an MPI error class; equal on all ranks if they exchanged bytes
  int64_t bytes = 0;        ///< this rank's, really transferred
  bool timed = false;       ///< how long the real call takes is of use, see way_trials.h
};

/// Fills in the status, unless it is ignored, and returns what the program's call shall return: the
/// file's own error handler has decided about an error, and if it returned, so does the call.
int give_outcome(MPI_File file, const CollectiveOutcome& outcome, MPI_Status* status);

}  // namespace haichi::mpi
