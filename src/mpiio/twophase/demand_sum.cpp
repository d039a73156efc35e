#include "mpiio/twophase/demand_sum.h"

#include <algorithm>

#include "mpiio/regions/spread.h"
#include "mpiio/twophase/cut.h"

namespace haichi::mpiio {

Demand sum_of(const std::vector<Access>& accesses, Direction direction) {
  Demand sum{.hull = {INT64_MAX, 0}, .hole = hole_of(direction), .all_open = true};
  for (const Access& access : accesses) {
    if (access.empty()) continue;
    const plan::Extent hull = access.hull();
    const int64_t bytes = access.end() - access.begin();
    const Spread spread = spread_of(access, sum.hole);
    sum.hull = {std::min(sum.hull.begin, hull.begin), std::max(sum.hull.end, hull.end)};
    sum.spans += hull.size();
    sum.bytes += bytes;
    sum.most = std::max(sum.most, bytes);
    sum.blocks += access.blocks();
    sum.parts += spread.parts;
    sum.occupied += spread.bytes;
    ++sum.ranks;
  }
  if (sum.ranks == 0) sum.hull = {};
  return sum;
}

}  // namespace haichi::mpiio
