#include "mpi/files/outcome.h"

#include "generated/real.h"
#include "mpi/compat/handles.h"

namespace haichi::mpi {

int give_outcome(MPI_File file, const CollectiveOutcome& outcome, MPI_Status* status) {
  if (status != MPI_STATUS_IGNORE)
    real().Status_set_elements_x(status, handles().byte, MPI_Count(outcome.bytes));
  if (outcome.error != MPI_SUCCESS) real().File_call_errhandler(file, outcome.error);
  return outcome.error;
}

}  // namespace haichi::mpi
