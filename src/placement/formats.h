// The notations for "which rank on which node": haichi.placement/1, Flux RFC 34 task maps, and PMI
// process mappings.
//
// Placement files are written by hand, by schedulers and by other tools, so every reader here takes
// any text at all and answers a bad one with one line: where it is wrong (line and column,
// position, or field) and what to write instead. All errors have the code EINVAL.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "placement/placement.h"

namespace haichi::placement {

/// Most ranks that a text may describe; a larger one is taken for a slip of the pen.
inline constexpr int kMaxRanks = 16'777'216;

/// haichi.placement/1 (docs/guide/placement.md):
///   {"schema": "haichi.placement/1",
///    "nodes": [{"name": "n0", "address": "0,2,1", "ranks": "0-3,8"}, ...],
///    "places": [{"core": 0, "cores": 1, "numa": 0}, ...]}
/// "places" may be absent or null, and so may a "name" or an "address"; any field of a place may be
/// absent. Ends with a newline.
std::string to_json(const Placement& placement);
Result<Placement> from_json(std::string_view text);

/// Flux RFC 34 task map, {"version":1,"map":[[nodeid,nnodes,ppn,repeat],...]}. A placement's nodes
/// are numbered in order of first appearance, so node ids of a map that was read may differ in the
/// one that is written.
std::string to_taskmap(const Placement& placement);
/// Reads that object, or the bare array. Fails on the empty map, which means "not known".
Result<Placement> from_taskmap(std::string_view text);

/// PMI_process_mapping "(vector,(first_node,nodes,per_node),...)", in the form that every reader of
/// it knows: no abbreviations.
std::string to_pmi_mapping(const Placement& placement);
/// Reads that, and MPICH 5's abbreviations: a bare number is (number,1,1), and "[block,...]xN" is
/// its blocks N times. `ranks` is how many ranks the job has: as MPICH 4 and older write it, the
/// vector starts again until it is full, and what is left over then is not used.
Result<Placement> from_pmi_mapping(std::string_view text, int ranks);

/// Reads any of the three, told apart by their first characters, and checks that it describes
/// exactly `ranks` ranks. The error says what did not fit and what to write instead.
Result<Placement> parse(std::string_view text, int ranks);

/// Compact rank lists, "0-3,8": ascending, no blanks.
std::string to_rank_list(std::span<const int> ranks);
Result<std::vector<int>> from_rank_list(std::string_view text);

}  // namespace haichi::placement
