// What the arenas of a node have carried.
#pragma once

#include <cstdint>

namespace haichi::gasfs::arena {

/// What has come in by rings since the start.
struct Counts {
  uint64_t programs = 0;  // that write by a ring now
  uint64_t records = 0;
  uint64_t bytes = 0;
  uint64_t cut_off = 0;  // programs whose ring held what can't be
};

}  // namespace haichi::gasfs::arena
