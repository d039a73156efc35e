// A collective access from the agreement of the ranks to the status that the program sees.
#pragma once

#include <mpi.h>

#include "mpi/access/access_request.h"

namespace haichi::mpi {

/// Before this rank tells the others that it has come to a collective access: what it has left to
/// do behind the program is done. So no read-modify-write of an aggregator can undo what a thread
/// of another rank writes.
void come_to_access(FileState& state, mpiio::Direction direction);

/// Collective over the file's communicator; takes the state's mutex. Moves the individual pointer
/// if the call has no explicit offset. Never throws anything but std::bad_alloc.
CollectiveOutcome run_collective(MPI_File file, FileState& state, const CollectiveCall& call);

}  // namespace haichi::mpi
