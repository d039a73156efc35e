// Patterns that other ranks describe, each decoded once as long as the next ones are the same: in
// most accesses all ranks have the same pattern at different places of the file.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mpiio/regions/pattern.h"

namespace haichi::mpiio {

class PatternPool {
 public:
  /// As Pattern::decode(); an object that is known is shared.
  Result<PatternPtr> decode(std::span<const std::byte> data);

 private:
  // Blocks at the border of an array differ from those inside in each dimension.
  static constexpr size_t kKept = 8;
  static constexpr size_t kLargest = 4096;

  struct Known {
    std::vector<std::byte> data;
    PatternPtr pattern;
  };
  std::vector<Known> known_;  // the one that was used last is the first
};

}  // namespace haichi::mpiio
