// Parts of a file, one behind the other, of which each node's ranks have some bytes.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "plan/locality.h"

namespace haichi::plan {

/// `bytes[p][n]`: what the ranks of node n have of part p, which is as long as all have together.
inline NodeBytes parts_of(std::vector<std::vector<int64_t>> bytes) {
  NodeBytes have;
  int64_t at = 0;
  for (const auto& part : bytes) {
    const int64_t size = std::accumulate(part.begin(), part.end(), int64_t{0});
    have.parts.push_back({at, at + size});
    at += size;
  }
  have.bytes = std::move(bytes);
  return have;
}

}  // namespace haichi::plan
