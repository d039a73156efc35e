// Where two placements of the same ranks disagree, in words.
#pragma once

#include <string>
#include <string_view>

#include "placement/placement.h"

namespace haichi::placement {

/// One line that says where `theirs` splits a node of `ours` or joins several, with examples and
/// what usually causes it; empty if the two agree on who shares a node. `their_name` is who says so
/// ("MPI_COMM_TYPE_SHARED"). Both must have the same number of ranks.
std::string difference(const Placement& ours, const Placement& theirs, std::string_view their_name);

}  // namespace haichi::placement
