// Which rank goes to which seat, so that little is sent between nodes.
//
// PURE: no MPI, no clock, no environment; the same answer everywhere.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "placement/placement.h"
#include "plan/rank_graph.h"

namespace haichi::plan {

/// What a mapping costs, in weights of the graph, the member that counts most first: so they are
/// compared.
struct MappingCost {
  int64_t between_nodes = 0;
  int64_t busiest_node = 0;  ///< what the node with most of it sends and receives
  int64_t between_numa = 0;  ///< between NUMA nodes of a node, as far as they are known

  friend auto operator<=>(const MappingCost&, const MappingCost&) = default;
};

/// Of rank r of the graph on seat `seat_of[r]`, a rank of `seats`.
MappingCost cost_of(const RankGraph& graph, const placement::Placement& seats,
                    std::span<const int> seat_of);

struct Mapping {
  std::vector<int> seat_of;  ///< of each rank of the graph, a permutation
  MappingCost given;         ///< of each rank on the seat of its own number
  MappingCost cost;          ///< never more
};

/// About ten seconds.
inline constexpr int64_t kMappingEffort = 1'000'000'000;

/// The best mapping found: `graph` has as many ranks as `seats`. `grid`, if given, is what the
/// graph was made of. `effort` bounds refinements (effort.h).
///
/// The ranks of a node come from block partitions of the grid (grid_partition.h), from bisection
/// where there is no grid, and from the given order, all of them refined by swaps; then those of
/// its NUMA nodes alike. Where it makes no difference a rank stays on the seat of its own number.
Mapping map_ranks(const RankGraph& graph, const placement::Placement& seats,
                  const std::optional<Grid>& grid = std::nullopt, int64_t effort = kMappingEffort);

}  // namespace haichi::plan
