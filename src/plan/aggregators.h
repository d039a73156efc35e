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

/// The layout of that name, or nothing.
std::optional<Layout> layout_from(std::string_view name);
std::string_view name_of(Layout layout);

struct Aggregators {
  std::vector<int> ranks;  ///< in the order in which file domains are dealt to them
  std::string why;         ///< their number and its reason: "4 aggregators: one per node ..."
};

/// How many, and which.
///
/// Number: `wanted`, cut at the number of ranks. With `wanted` 0 one per node; if the file has
/// `stripes` > 0 (its stripe count), one per stripe where there are at least as many nodes, else
/// the largest divisor of `stripes` that is at most the number of nodes, so that each server is
/// used by the same number of aggregators. (That is avail_cb_nodes of ROMIO's Lustre driver with
/// its default of one client per server, romio_lustre_co_ratio = 1.)
///
/// Which, for a number that was asked for:
///   roundrobin  first rank of node 0, first of node 1, ..., then second of node 0, ... (Fig. 3);
///               nodes that have no rank left are skipped
///   packed      all ranks of node 0, then of node 1, ...                          (Fig. 2)
/// With `wanted` 0 it is at most one per node, and both layouts give the first ranks of the nodes.
/// No order within a node other than ascending ranks. Linear in the number of ranks at worst.
///
/// With `per_node` k > 0 only the first k ranks of each node are looked at, and `wanted` 0 is all
/// of them. ROMIO has no round robin: cb_config_list "*:k" takes k ranks of the first host, then k
/// of the next, which is `packed` with k here, so that cb_nodes below k * nodes leaves whole nodes
/// without an aggregator; "*:*" is no k, and its default "*:1" is `wanted` 0.
Aggregators choose_aggregators(const placement::Placement& placement, Layout layout, int wanted,
                               int stripes, int per_node = 0);

}  // namespace haichi::plan
