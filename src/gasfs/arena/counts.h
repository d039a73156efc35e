// What the arenas of a node have carried.
#pragma once

#include <cstdint>

namespace haichi::gasfs::arena {

/// Since the start.
struct Counts {
  uint64_t programs = 0;  // that have an arena now
  uint64_t records = 0;
  uint64_t bytes = 0;
  uint64_t answers = 0;  // to what programs asked to read
  uint64_t answer_bytes = 0;
  uint64_t watches = 0;  // the same to what they asked to keep of names
  uint64_t cut_off = 0;  // programs whose ring held what can't be
};

}  // namespace haichi::gasfs::arena
