// Requests for what is done already.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace haichi::mpi {

/// A generalized request (MPI 4.1, section 13.2) that is complete, for MPI_Wait, MPI_Test and their
/// kin beside requests of any other kind. Its status says that `bytes` bytes were moved and nothing
/// was cancelled. Returns an MPI error code; `request` is then MPI_REQUEST_NULL.
int make_completed_request(int64_t bytes, MPI_Request* request);

}  // namespace haichi::mpi
