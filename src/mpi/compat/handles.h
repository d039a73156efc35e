// The predefined MPI handles that haichi itself uses, resolved at run time.
//
// Open MPI's predefined handles are addresses of data in libmpi. A preload object that named them
// would need libmpi as a dependency, could bind a second libmpi, and could not load into a Python
// that opens libmpi privately. See "Predefined handles" in docs/notes.md.
#pragma once

#include <mpi.h>

namespace haichi::mpi {

struct Handles {
  MPI_Comm comm_world;
  MPI_Comm comm_self;
  MPI_Comm comm_null;
  MPI_Datatype byte;
  MPI_Datatype datatype_null;
  MPI_Op op_max;
  MPI_Op op_min;
  MPI_Op op_sum;
  MPI_Info info_null;
  MPI_Request request_null;
  MPI_File file_null;
  MPI_Group group_null;
  MPI_Datatype int64;  ///< long long
  MPI_Errhandler errors_return;
};

/// Valid once libmpi is loaded, i.e. within any intercepted call. Thread-safe.
const Handles& handles();

}  // namespace haichi::mpi
