// Requests of haichi's own that the program gets: generalized requests (MPI 4.1, section 13.2), for
// MPI_Wait, MPI_Test and their kin beside requests of any other kind.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>

namespace haichi::mpi {

/// What the status of a request is to say. Nothing was cancelled.
struct RequestAnswer {
  int64_t bytes = 0;
  int error = MPI_SUCCESS;      ///< an MPI error code; MPI_Wait ends with it
  std::function<void()> ended;  ///< called when the request is gone; may be empty
};

/// Gives a request that stays open until MPI_Grequest_complete. `answer` belongs to the request and
/// is gone soon after that: write it before. Returns an MPI error code; `request` is then
/// MPI_REQUEST_NULL.
int start_request(RequestAnswer*& answer, MPI_Request* request);

/// Gives a request that is complete: `bytes` bytes were moved. Returns as start_request().
int make_completed_request(int64_t bytes, MPI_Request* request);

}  // namespace haichi::mpi
