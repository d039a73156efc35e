// Patterns as MPI datatypes give them, for the kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "mpiio/regions/access.h"
#include "mpiio/regions/pattern.h"

namespace haichi::bench {

using mpiio::Access;
using mpiio::Pattern;
using mpiio::PatternPtr;

/// MPI_Type_vector(regions, 8 bytes, every 16).
inline PatternPtr vector_of(int64_t regions) {
  return Pattern::loop(Pattern::block(8), regions, 16);
}

/// A vector of vectors that cannot become one: rows of 100 regions with a gap behind each.
inline PatternPtr vector_of_vectors(int64_t regions) {
  return Pattern::loop(vector_of(100), regions / 100, 100 * 16 + 40);
}

/// A block of 8-byte elements inside a frame, of regions = n * n rows.
inline PatternPtr subarray_3d(int64_t regions) {
  const auto n = int64_t(std::sqrt(double(regions)));
  const int64_t row = (n + 4) * 8;
  const PatternPtr plane = Pattern::loop(Pattern::block(n * 8), n, row);
  return Pattern::shifted(Pattern::loop(plane, n, (n + 4) * row), 2 * (n + 4) * row + 2 * row + 16);
}

/// A struct of 4, 8 and 12 bytes with gaps, every 64 bytes.
inline PatternPtr hvector_of_struct(int64_t regions) {
  const PatternPtr record =
      Pattern::sequence({{0, Pattern::block(4)}, {8, Pattern::block(8)}, {24, Pattern::block(12)}});
  return Pattern::loop(record, regions / 3, 64);
}

/// MPI_Type_indexed_block with displacements that have no rule.
inline PatternPtr irregular(int64_t regions) {
  const PatternPtr block = Pattern::block(8);
  std::vector<Pattern::Placed> parts;
  parts.reserve(size_t(regions));
  uint64_t state = 1;
  for (int64_t i = 0, at = 0; i < regions; ++i) {
    parts.push_back({at, block});
    state = state * 6364136223846793005u + 1442695040888963407u;
    at += 9 + int64_t(state >> 61);
  }
  return Pattern::sequence(std::move(parts));
}

inline Access access_of(const PatternPtr& pattern) {
  return {{0, pattern, pattern->end()}, 0, pattern->size()};
}

}  // namespace haichi::bench
