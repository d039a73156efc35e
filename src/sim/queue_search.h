// How many entries of its queues a rank looks at before it finds the one that it is after.
//
// Why: a receiver keeps the receives that are posted in one list, and the messages that have come
// before their receives in another. What comes is looked for from the list's head on, past what is
// for other ranks: with a receive posted from each of P ranks that is P/2 entries in the mean, and
// an algorithm with few messages at a time has few to look at (paper 004, section 4.2: Simple
// Spread is slower than its model where messages are small).
//
// PURE.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/matching.h"

namespace haichi::sim {

/// A list from which entries are taken anywhere: how many are before one, in logarithmic time.
class Places {
 public:
  /// A new entry at the end; returns its number.
  int64_t add();
  /// Takes that entry away. Returns how many entries were before it.
  int64_t take(int64_t number);
  int64_t size() const { return size_; }

 private:
  void make_room();
  void change(size_t at, int32_t by);

  std::vector<char> there_;
  std::vector<int32_t> sums_;    // a Fenwick tree over there_
  int64_t first_ = 0, end_ = 0;  // numbers of there_[0] and of the next entry
  int64_t size_ = 0;
};

/// It sees what Matching sees: the two lists of each rank.
class QueueSearch {
 public:
  explicit QueueSearch(int ranks) : ranks_(size_t(ranks)) {}
  /// One more side of messages from `source` to `target`: returns how many entries of the other
  /// side's list are looked at, the one that is found among them, or all if none is.
  int64_t offer(int target, int source, Matching::Side side);

 private:
  // Entries of one pair of ranks are all of one side.
  struct Pair {
    Matching::Side side;
    std::deque<int64_t> numbers;
  };
  struct Rank {
    Places lists[2];
    std::unordered_map<int, Pair> pairs;
  };
  std::vector<Rank> ranks_;
};

}  // namespace haichi::sim
