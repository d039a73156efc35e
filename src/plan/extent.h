// Bytes of a file in a row.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace haichi::plan {

/// Half-open range of bytes of a file.
struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  friend bool operator==(const Extent&, const Extent&) = default;
};

/// What both have; empty if that is nothing.
inline Extent common(const Extent& a, const Extent& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// Bytes of all parts together.
inline int64_t size_of(std::span<const Extent> parts) {
  int64_t size = 0;
  for (const Extent& part : parts) size += part.size();
  return size;
}

}  // namespace haichi::plan
