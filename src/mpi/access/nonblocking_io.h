// A nonblocking collective access: each rank does its own part, without the others.
//
// Why not together: docs/adr/0011-nonblocking-collectives.md.
#pragma once

#include <memory>
#include <optional>

#include "mpi/access/access_request.h"

namespace haichi::mpi {

/// True if every rank of the file hands the call to the MPI library; it is then recorded. That must
/// be the same on all ranks without a message, so only what they agreed on at open counts, and what
/// is equal on all by the rules of MPI: a hint of now may be of one rank alone. Nothing is then
/// left to do behind the program.
bool leave_to_library(MPI_File file, FileState& state, const CollectiveCall& call);

/// Local. Takes the state's mutex. Does this rank's part, or leaves it to a thread behind the
/// program if the settings say so, and gives a request. Moves the individual pointer if the call
/// has no explicit offset. Returns what the program's call shall return.
///
/// Nothing if this rank must make the real *independent* call: the others may have done their part
/// already, and would not join it in the real collective one. Only wrong calls come to that, reads
/// through views that show bytes twice, and ranks that are out of memory.
std::optional<int> start_own_part(MPI_File file, const std::shared_ptr<FileState>& state,
                                  const CollectiveCall& call, MPI_Request* request);

}  // namespace haichi::mpi
