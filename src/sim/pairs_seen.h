// Which pairs of ranks have had a message between them.
//
// PURE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace haichi::sim {

/// A bit for each pair, up to 32 MiB of them; beyond that nothing is known.
class PairsSeen {
 public:
  explicit PairsSeen(int ranks) : ranks_(ranks) {
    if (ranks <= kMostRanks) bits_.resize(size_t(ranks) * size_t(ranks));
  }
  /// Notes a message. True if it is known to be the pair's first one.
  bool is_first(int source, int target) {
    if (bits_.empty()) return false;
    auto bit = bits_[size_t(source) * size_t(ranks_) + size_t(target)];
    const bool first = !bit;
    bit = true;
    return first;
  }

 private:
  static constexpr int kMostRanks = 16384;
  int ranks_;
  std::vector<bool> bits_;
};

}  // namespace haichi::sim
