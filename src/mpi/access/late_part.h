// A rank's part of a nonblocking collective access that a thread carries out behind the program.
//
// The thread makes no MPI call, so the program needs no thread level for it. All that concerns MPI
// is done by the program's own threads: in the call, which decodes view and datatypes, and where
// the program looks after the request (request_hooks.cpp). See
// docs/adr/0011-nonblocking-collectives.md.
#pragma once

#include <memory>

#include "base/task_queue.h"
#include "mpi/access/access_request.h"
#include "mpi/files/file_state.h"

namespace haichi::mpi {

/// Leaves what `wanted` says to `tasks`, and gives a request that is open until that is done and
/// the program looks after it. Local; waits only if too much is left to do. Fills in the record of
/// the call, which the caller keeps. Returns an MPI error code; nothing is then left to do and
/// `request` is MPI_REQUEST_NULL.
int start_late_part(MPI_File file, const std::shared_ptr<FileState>& state,
                    const CollectiveCall& call, Request wanted, TaskQueue& tasks,
                    report::CallRecord& record, MPI_Request* request);

}  // namespace haichi::mpi
