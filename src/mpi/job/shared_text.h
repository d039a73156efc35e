// A text that one rank has and all need.
#pragma once

#include <mpi.h>

#include <string>

namespace haichi::mpi {

/// Rank 0's text, on all ranks; empty if the MPI library fails. Collective.
std::string shared_text(MPI_Comm comm, std::string of_rank_0);

}  // namespace haichi::mpi
