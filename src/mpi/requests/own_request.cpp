#include "mpi/requests/own_request.h"

#include <memory>

#include "generated/real.h"
#include "mpi/compat/handles.h"

namespace haichi::mpi {
namespace {

// The MPI library calls these from within the program's MPI_Wait, on any thread.

int give_status(void* state, MPI_Status* status) {
  const auto& answer = *static_cast<RequestAnswer*>(state);
  real().Status_set_elements_x(status, handles().byte, MPI_Count(answer.bytes));
  real().Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return answer.error;
}

int forget(void* state) {
  const std::unique_ptr<RequestAnswer> answer(static_cast<RequestAnswer*>(state));
  if (answer->ended) answer->ended();
  return MPI_SUCCESS;
}

// What haichi does is done, or cannot be taken back.
int cancel(void*, int) { return MPI_SUCCESS; }

}  // namespace

int start_request(RequestAnswer*& answer, MPI_Request* request) {
  auto made = std::make_unique<RequestAnswer>();
  *request = handles().request_null;
  const int code = real().Grequest_start(give_status, forget, cancel, made.get(), request);
  if (code == MPI_SUCCESS) answer = made.release();
  return code;
}

int make_completed_request(int64_t bytes, MPI_Request* request) {
  RequestAnswer* answer = nullptr;
  if (const int code = start_request(answer, request); code != MPI_SUCCESS) return code;
  answer->bytes = bytes;
  return real().Grequest_complete(*request);
}

}  // namespace haichi::mpi
