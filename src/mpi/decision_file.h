// Where decisions of earlier runs are kept: a folder (collectives.decisions) with one file for each
// MPI ABI and placement.
#pragma once

#include "mpi/comm_state.h"

namespace haichi::mpi {

/// Gives a new state what earlier runs decided. Collective over the state's communicator: its rank
/// 0 reads. A file that is damaged or holds for something else is ignored, with a note.
void read_decisions(CommState& state);

/// Adds what this run decided; on rank 0 alone does it do anything. The file is replaced as a whole
/// or stays as it was; a folder that cannot be written is a note.
void write_decisions(const CommState& state);

}  // namespace haichi::mpi
