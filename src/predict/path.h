// The critical path up to a rank's present: which calls, between which places, took the time that
// nothing else could have shortened.
//
// Kept as sums and not as a list of steps, so that it takes the same memory after a million
// iterations. Where a rank waits for a message, its path becomes the sender's at the time of the
// sending.
//
// PURE.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/time.h"

namespace haichi::predict {

/// Where a message goes: to the rank itself, or as far as machine::Place tells.
enum class Way : uint8_t { self, core, numa, node, network };
inline constexpr int kWays = 5;

/// What one function between ranks of one place has on the path.
struct PathPart {
  sim::Time time = 0;
  int64_t messages = 0, bytes = 0;
};

/// Parts by their key.
class Path {
 public:
  void add(size_t key, const PathPart& part) {
    if (key >= parts_.size()) parts_.resize(key + 1);
    PathPart& mine = parts_[key];
    mine.time += part.time;
    mine.messages += part.messages;
    mine.bytes += part.bytes;
  }
  const std::vector<PathPart>& parts() const { return parts_; }

 private:
  std::vector<PathPart> parts_;
};

/// Numbers for the pairs of a function and a place that come up, in their order.
class PathKeys {
 public:
  /// `place` is a Way, or kNoPlace.
  size_t key(int function, int place) {
    const size_t at = size_t(function) * kPlaces + size_t(place);
    if (at >= keys_.size()) keys_.resize(at + 1, -1);
    if (keys_[at] < 0) {
      keys_[at] = int32_t(pairs_.size());
      pairs_.emplace_back(function, place);
    }
    return size_t(keys_[at]);
  }
  /// Function and place of each key.
  const std::vector<std::pair<int, int>>& pairs() const { return pairs_; }

  static constexpr int kNoPlace = kWays;

 private:
  static constexpr size_t kPlaces = kWays + 1;
  std::vector<int32_t> keys_;
  std::vector<std::pair<int, int>> pairs_;
};

/// Paths as they were when messages were sent, until these are received. Memory is used again.
class PathPool {
 public:
  int32_t keep(const Path& path) {
    if (free_.empty()) {
      kept_.push_back(path);
      return int32_t(kept_.size()) - 1;
    }
    const int32_t at = free_.back();
    free_.pop_back();
    kept_[size_t(at)] = path;
    return at;
  }
  const Path& at(int32_t number) const { return kept_[size_t(number)]; }
  void forget(int32_t number) {
    if (number >= 0) free_.push_back(number);
  }

 private:
  std::vector<Path> kept_;
  std::vector<int32_t> free_;
};

}  // namespace haichi::predict
