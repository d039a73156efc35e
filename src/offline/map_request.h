// What `haichi map` is asked, as JSON:
//   {"placement": {... haichi.placement/1 ...},
//    "edges": [[0, 1, 4096], ...]}                  bytes of both ways, repeated ones add up
// or, in place of edges, a grid of which each neighbour counts alike:
//    "grid": {"dims": [4, 4], "periods": [true, false]}
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "placement/placement.h"
#include "plan/rank_graph.h"

namespace haichi::offline {

struct MapRequest {
  placement::Placement seats;
  plan::RankGraph graph;
  std::optional<plan::Grid> grid;
};

/// Fails with EINVAL and one line that says what is wrong.
Result<MapRequest> read_map_request(std::string_view text);

}  // namespace haichi::offline
