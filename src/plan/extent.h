// Bytes of a file in a row.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>

namespace haichi::plan {

/// Half-open range of bytes of a file.
struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  friend bool operator==(const Extent&, const Extent&) = default;
};

}  // namespace haichi::plan
