// Which MPI library this is.
#pragma once

#include <string>

namespace haichi::mpi {

/// Name of the ABI that this build is for: "mpich", "openmpi" or "mpiabi".
extern const char* const kAbi;

/// The first line of what MPI_Get_library_version says.
std::string library_version();

}  // namespace haichi::mpi
