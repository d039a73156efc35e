#include "mpi/communicators/world_comm.h"

#include <stdlib.h>
#include <string.h>

#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpi/job/runtime.h"

namespace haichi::mpi {
namespace {

MPI_Comm& duplicate() {
  static MPI_Comm comm = handles().comm_null;
  return comm;
}

/// True if the program may go on when processes fail (Open MPI's `mpiexec --with-ft ulfm`).
bool fault_tolerant() {
  const char* const value = getenv("OMPI_MCA_mpi_ft_enable");
  return value != nullptr && strcmp(value, "0") != 0 && strcmp(value, "false") != 0;
}

}  // namespace

void start_world_comm() {
  const Handles& h = handles();
  if (fault_tolerant()) return;
  if (Runtime::get() == nullptr || Runtime::get()->world.ranks() < 2 ||
      real().Comm_dup(h.comm_world, &duplicate()) != MPI_SUCCESS)
    return;
  real().Comm_set_errhandler(duplicate(), h.errors_return);
}

MPI_Comm asking_comm() { return duplicate(); }

}  // namespace haichi::mpi
