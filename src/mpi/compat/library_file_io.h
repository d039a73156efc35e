// What the MPI library's own file accesses do, as far as haichi has to know.
#pragma once

#include "mpiio/ways/way.h"

namespace haichi::mpi {

/// Found out once, by the library's version and its settings in the environment.
const mpiio::LibraryFileIo& library_file_io();

}  // namespace haichi::mpi
