// How much of a file one node may handle so that bytes stay where they are: as much as is worth it
// by what a byte costs, on a node's link and between an aggregator and the file.
//
// Where links are slow a node handles all that its ranks have, and nothing crosses the network.
// Where one aggregator's access to the file is slow, the nodes share the work, and bytes move. In
// between a node takes so much more than its even share that its link and its file take as long.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "machine/machine.h"
#include "plan/aggregator_number.h"
#include "plan/locality.h"

namespace haichi::plan {

/// Nanoseconds of a byte, about.
struct ByteCosts {
  double link = 0;  ///< into a node, or out of it
  double file = 0;  ///< between one aggregator and the file
  double all = 0;   ///< at all servers together, whoever accesses them; 0: not known
  /// Files are behind the port of the messages: then both take turns. Else they overlap.
  bool one_port = false;
  std::string_view from = "";  ///< who says so
};

/// Those of a machine; nothing if it was not told of the nodes' ports, and of what one rank or the
/// servers access.
std::optional<ByteCosts> byte_costs(const machine::Machine& machine, const FileShape& file);

/// Parts of a file at nodes.
struct PlacedParts {
  std::vector<int> nodes;      ///< of each part
  double share = kUsualShare;  ///< times its even share that a node may handle
};

/// What handling the parts takes, in nanoseconds, about: link and file of the node that has most to
/// do. `aggregators[n]`: those of node n, which share its work.
double handling_ns(const NodeBytes& have, const std::vector<int>& nodes,
                   const std::vector<int>& aggregators, const ByteCosts& costs);

/// Bytes of the aggregator that handles most.
int64_t busiest_aggregator(const NodeBytes& have, const std::vector<int>& nodes,
                           const std::vector<int>& aggregators);

/// By place_by_bytes() with the share that takes the least time; the usual one if no costs are
/// known, or if another would not save a tenth. At least one node must have an aggregator.
PlacedParts place_by_cost(const NodeBytes& have, const std::vector<int>& aggregators, int64_t run,
                          const std::optional<ByteCosts>& costs);

}  // namespace haichi::plan
