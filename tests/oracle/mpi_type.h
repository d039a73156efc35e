// From the tree of a datatype to the MPI library's.
#pragma once

#include <mpi.h>

#include "oracle/type.h"

namespace oracle {

/// The datatype, committed; free it with free_mpi_type. Errors of MPI end the program, as
/// MPI_ERRORS_ARE_FATAL of the world has it.
MPI_Datatype make_mpi_type(const Type& type);
/// Frees what make_mpi_type made; predefined types stay.
void free_mpi_type(const Type& type, MPI_Datatype& handle);

}  // namespace oracle
