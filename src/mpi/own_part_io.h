// A rank's part of a collective access by that rank alone.
#pragma once

#include "mpi/access_request.h"
#include "mpi/call_trace.h"
#include "mpi/file_state.h"

namespace haichi::mpi {

/// True if reading the part through windows costs less than a system call for each of its pieces.
bool reads_by_sieving(const CollectiveCall& call, const Request& request);

/// Carries the part out, now and without the other ranks. Needs the file's own descriptor.
Status transfer_own_part(FileState& state, const CollectiveCall& call, const Request& request,
                         CallTrace& trace);

}  // namespace haichi::mpi
