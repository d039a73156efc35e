// A rank's part of a collective access by that rank alone.
#pragma once

#include "mpi/access/access_request.h"
#include "mpi/access/call_trace.h"
#include "mpi/files/file_state.h"

namespace haichi::mpi {

/// True if reading the part through windows costs less than a system call for each of its pieces.
bool reads_by_sieving(const CollectiveCall& call, const Request& request);

/// Cuts a read at the end of the file: as it is now, or will be when what is left to do before the
/// read is done. Returns an errno value.
int clip_at_end(FileState& state, mpiio::Access& access);

/// Carries the part out, now and without the other ranks. Needs the file's own descriptor. A write
/// may fill holes between its pieces if `slot` is the handle's; see "Who may fill holes" in
/// docs/notes.md.
Status transfer_own_part(FileState& state, const CollectiveCall& call, const Request& request,
                         int64_t slot, CallTrace& trace);

}  // namespace haichi::mpi
