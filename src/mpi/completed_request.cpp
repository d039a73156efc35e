#include "mpi/completed_request.h"

#include <memory>

#include "generated/real.h"
#include "mpi/compat/handles.h"

namespace haichi::mpi {
namespace {

// The MPI library calls these from within the program's MPI_Wait, on any thread.

int give_status(void* bytes, MPI_Status* status) {
  real().Status_set_elements_x(status, handles().byte, MPI_Count(*static_cast<int64_t*>(bytes)));
  real().Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int forget(void* bytes) {
  delete static_cast<int64_t*>(bytes);
  return MPI_SUCCESS;
}

// There is nothing left to cancel.
int cancel(void*, int) { return MPI_SUCCESS; }

}  // namespace

int make_completed_request(int64_t bytes, MPI_Request* request) {
  auto moved = std::make_unique<int64_t>(bytes);
  *request = handles().request_null;
  if (const int code = real().Grequest_start(give_status, forget, cancel, moved.get(), request);
      code != MPI_SUCCESS)
    return code;
  moved.release();
  return real().Grequest_complete(*request);
}

}  // namespace haichi::mpi
