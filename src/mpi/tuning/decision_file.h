// Where decisions of earlier runs are kept: a folder (collectives.decisions) with one file for each
// MPI ABI and placement.
#pragma once

#include <mpi.h>

#include <vector>

#include "collectives/decisions.h"
#include "mpi/job/runtime.h"
#include "placement/placement.h"

namespace haichi::mpi {

/// What earlier runs decided for a communicator of this placement; the same on all its ranks.
/// Collective: its rank 0 reads. A file that is damaged or holds for something else is ignored,
/// with a note.
std::vector<collectives::Decision> read_decisions(Runtime& runtime, MPI_Comm comm,
                                                  const placement::Placement& placement, int rank);

/// Adds what this run decided; only rank 0 of the communicator may. The file is replaced as a whole
/// or stays as it was; a folder that cannot be written is a note. By any thread.
void write_decisions(Runtime& runtime, const placement::Placement& placement,
                     const std::vector<collectives::Decision>& decided);

}  // namespace haichi::mpi
