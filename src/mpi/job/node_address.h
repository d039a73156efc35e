// Where this rank's node sits in the network: everybody who may know is asked in turn.
//
// To add a source, write a function that returns its answer, or nothing where it is not there, and
// put it into the table in node_address.cpp. What the answers look like is in topology/seats.h.
#pragma once

#include <mpi.h>

#include <string>

namespace haichi::mpi {

/// The first answer, or an empty text. Local. `rank` is this process's in `comm`.
std::string node_address(MPI_Comm comm, int rank);

}  // namespace haichi::mpi
