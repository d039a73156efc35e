// A nonblocking collective access: each rank does its own part at once, without the others.
//
// Why not together: docs/adr/0011-nonblocking-collectives.md.
#pragma once

#include "mpi/access_request.h"

namespace haichi::mpi {

/// True if every rank of the file hands the call to the MPI library; it is then recorded. That must
/// be the same on all ranks without a message, so only what they agreed on at open counts, and what
/// is equal on all by the rules of MPI: a hint of now may be of one rank alone.
bool leave_to_library(MPI_File file, FileState& state, const CollectiveCall& call);

/// Local. Takes the state's mutex. Moves the individual pointer if the call has no explicit offset.
/// If not taken, this rank must make the real *independent* call: the others may have done their
/// part already, and would not join it in the real collective one. Only wrong calls come to that,
/// reads through views that show bytes twice, and ranks that are out of memory.
CollectiveOutcome run_own_part(MPI_File file, FileState& state, const CollectiveCall& call);

}  // namespace haichi::mpi
