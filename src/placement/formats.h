// The notations for "which rank on which node": haichi.placement/1, Flux RFC 34 task maps, and PMI
// process mappings.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "placement/placement.h"

namespace haichi::placement {

/// haichi.placement/1 (docs/guide/placement.md):
///   {"schema": "haichi.placement/1", "nodes": [{"name": "n0", "ranks": "0-3,8"}, ...],
///    "places": [{"core": 0, "cores": 1, "numa": 0}, ...]}           "places" may be absent
std::string to_json(const Placement& placement);
Result<Placement> from_json(std::string_view text);

/// Flux RFC 34 task map, the version 1 object {"version":1,"map":[[nodeid,nnodes,ppn,repeat],...]}
/// or the bare array. Fails if the placement's nodes are not in task map order (they always are).
std::string to_taskmap(const Placement& placement);
Result<Placement> from_taskmap(std::string_view text);

/// PMI_process_mapping "(vector,(first_node,nodes,per_node),...)".
std::string to_pmi_mapping(const Placement& placement);
/// `ranks` is how many ranks the job has: the vector repeats until it is full.
Result<Placement> from_pmi_mapping(std::string_view text, int ranks);

/// Reads any of the three, told apart by their first characters, and checks that it describes
/// exactly `ranks` ranks. The error says what did not fit and what to write instead.
Result<Placement> parse(std::string_view text, int ranks);

/// Compact rank lists, "0-3,8": ascending, no blanks.
std::string to_rank_list(std::span<const int> ranks);
Result<std::vector<int>> from_rank_list(std::string_view text);

}  // namespace haichi::placement
