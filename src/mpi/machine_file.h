// What messages cost on this machine, from a file that the user names (the setting "machine").
#pragma once

#include "mpi/comm_state.h"

namespace haichi::mpi {

/// Gives a new state its model. Collective over the state's communicator: its rank 0 reads. A file
/// that cannot be used is a note, and the default numbers stand for the machine.
void read_machine(CommState& state);

}  // namespace haichi::mpi
