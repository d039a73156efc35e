// A collective access at the shared file pointer, in the order of the ranks (MPI 4.1, 14.4.4).
#pragma once

#include "mpi/access/access_request.h"

namespace haichi::mpi {

/// Collective over the file's communicator. The pointer itself stays the MPI library's: it is read
/// before the access and set behind it after, by what all ranks asked for. If not taken, it is
/// where it was.
CollectiveOutcome run_ordered(MPI_File file, FileState& state, const CollectiveCall& call);

}  // namespace haichi::mpi
