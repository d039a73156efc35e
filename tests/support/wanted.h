// What ranks want of a file together, and the accesses that it points to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "mpiio/twophase/two_phase.h"

namespace haichi::mpiio {

/// One demand for each access that was added.
struct Wanted {
  std::deque<Access> accesses;
  std::vector<RankDemand> demands;
  plan::Extent range{INT64_MAX, INT64_MIN};

  void add(Access access) {
    accesses.push_back(std::move(access));
    demands.push_back(demand_of(accesses.back()));
    range.begin = std::min(range.begin, demands.back().hull.begin);
    range.end = std::max(range.end, demands.back().hull.end);
  }
  /// All of a pattern, once, from a file offset on.
  void add(int64_t begin, const PatternPtr& pattern) {
    add({View{begin, pattern, pattern->end()}, 0, pattern->size()});
  }
};

}  // namespace haichi::mpiio
