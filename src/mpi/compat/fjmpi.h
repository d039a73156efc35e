// Fujitsu's MPI tells each rank where its node sits in the Tofu network ("MPI User's Guide",
// Topology query interface; <mpi-ext.h>). It is asked at run time, as no other MPI has it.
#pragma once

#include <mpi.h>

#include <string>

namespace haichi::mpi {

/// The six coordinates of the node in the system, "x,y,z,a,b,c"; empty under another MPI, or if
/// that MPI does not tell.
std::string fjmpi_address(MPI_Comm comm, int rank);

}  // namespace haichi::mpi
