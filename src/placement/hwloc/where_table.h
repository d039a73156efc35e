// The table that `haichi where` prints for people.
#pragma once

#include <string>
#include <vector>

#include "placement/hwloc/hardware.h"
#include "placement/placement.h"

namespace haichi::placement {

/// What one rank says of its host, beyond the placement.
struct RankDetails {
  std::string host;     ///< real name, also where a placement file names the node otherwise
  std::string problem;  ///< why hwloc could tell nothing; the rest is empty then
  Hardware hardware;
  Binding binding;
};

/// Between the ranks: any bytes within the strings but zero.
std::string pack(const RankDetails& details);
RankDetails unpack(const std::string& text);

/// The nodes, each with its ranks and hardware, and the ranks with what they are bound to; ranks of
/// a node that are bound alike share a line. `file` is the placement file in force, or empty.
std::string where_table(const Placement& placement, const std::vector<RankDetails>& details,
                        const std::string& file);

}  // namespace haichi::placement
