// Which ranks do the file access for all (paper 000, sections 2 and 3; ROMIO's cb_nodes).
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/placement.h"

namespace haichi::plan {

enum class Layout { roundrobin, packed };

std::optional<Layout> layout_from(std::string_view name);
std::string_view name_of(Layout layout);

struct Aggregators {
  std::vector<int> ranks;  ///< in the order in which file domains are dealt to them
  std::string why;         ///< one clause for the report: how the number came about
};

/// `wanted` aggregators (0: one per node, a multiple or divisor of the stripes if `stripes` > 0 is
/// not forced by `wanted`), cut at the number of ranks.
///   roundrobin  first rank of node 0, first of node 1, ..., then second of node 0, ... (Fig. 3);
///               nodes that have no rank left are skipped
///   packed      all ranks of node 0, then of node 1, ...                          (Fig. 2)
/// With one per node both are the same set. No order within a node other than ascending ranks.
Aggregators choose_aggregators(const placement::Placement& placement, Layout layout, int wanted,
                               int stripes);

}  // namespace haichi::plan
