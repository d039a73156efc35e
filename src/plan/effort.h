// How much a search may do. PURE.
#pragma once

#include <cstdint>

namespace haichi::plan {

/// What a search may still do, about one edge looked at each (10 to 20 ns). Counted, and not a
/// time, so that the same question has the same answer everywhere.
struct Effort {
  int64_t left;
  bool spent() const { return left <= 0; }
};

}  // namespace haichi::plan
