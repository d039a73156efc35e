// A set of small numbers whose least is found at once.
//
// PURE.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace haichi::sim {

/// Numbers below `size`, a bit each; above them, level by level, a bit for each word that has any.
class ActorSet {
 public:
  explicit ActorSet(size_t size) {
    do levels_.emplace_back(size = (size + 63) / 64);
    while (size > 1);
  }

  bool empty() const { return levels_.back()[0] == 0; }
  void add(uint32_t number) {
    for (auto& words : levels_) {
      uint64_t& word = words[number / 64];
      const bool had_any = word != 0;
      word |= uint64_t(1) << number % 64;
      if (had_any) return;
      number /= 64;
    }
  }
  void remove(uint32_t number) {
    for (auto& words : levels_) {
      uint64_t& word = words[number / 64];
      word &= ~(uint64_t(1) << number % 64);
      if (word != 0) return;
      number /= 64;
    }
  }
  /// The next one behind `number` that is found at once: kNone if none is near.
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t soon_behind(uint32_t number) const {
    const size_t at = number / 64;
    if (const uint64_t rest = levels_[0][at] & ~uint64_t(1) << number % 64; rest != 0)
      return uint32_t(at * 64) + uint32_t(std::countr_zero(rest));
    if (at + 1 == levels_[0].size() || levels_[0][at + 1] == 0) return kNone;
    return uint32_t((at + 1) * 64) + uint32_t(std::countr_zero(levels_[0][at + 1]));
  }
  /// The least; there must be one.
  uint32_t first() const {
    uint32_t number = 0;
    for (size_t level = levels_.size(); level-- > 0;)
      number = number * 64 + uint32_t(std::countr_zero(levels_[level][number]));
    return number;
  }

 private:
  std::vector<std::vector<uint64_t>> levels_;  // the last has one word
};

}  // namespace haichi::sim
