#include "mpiio/regions/pattern_pool.h"

#include <algorithm>

namespace haichi::mpiio {

Result<PatternPtr> PatternPool::decode(std::span<const std::byte> data) {
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const Known& each) {
    return std::ranges::equal(each.data, data);
  });
  if (found != known_.end()) {
    std::rotate(known_.begin(), found, found + 1);
    return known_.front().pattern;
  }
  auto pattern = Pattern::decode(data);
  if (!pattern || data.size() > kLargest) return pattern;
  if (known_.size() == kKept) known_.pop_back();
  known_.insert(known_.begin(), Known{{data.begin(), data.end()}, *pattern});
  return pattern;
}

}  // namespace haichi::mpiio
