// GOAL as a record of which only the sequences are known.
#pragma once

#include <istream>

#include "base/result.h"
#include "record/record.h"

namespace haichi::goal {

/// Reads GOAL's text (`num_ranks 2`, `rank 0 {`, `l1: send 8b to 1 tag 0`, `l1: calc 100`,
/// `l2 requires l1`, `l2 irequires l1`, `}`; `cpu` and `nic` are passed over, and comments from //
/// on). Each rank's operations become calls in an order that their dependences allow, theirs in the
/// file as far as it does: a send MPI_Isend, a receive MPI_Irecv, `calc` computing in nanoseconds
/// before the next call, and MPI_Waitall where something requires messages. Ranks are on a node
/// each.
///
/// Fails with EINVAL where a line is wrong ("line 7: ...") or dependences make a circle.
Result<record::Record> read_goal(std::istream& in);

}  // namespace haichi::goal
