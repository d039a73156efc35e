// Seeded random numbers and placements for property tests: the same on every machine and with every
// standard library, so that a seed printed by a failed test repeats it.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "placement/placement.h"

namespace haichi::test {

/// SplitMix64 (Steele, Lea, Flood 2014). The standard's distributions differ between libraries, so
/// ranges are cut by hand; the bias of a modulo does not matter to a test.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// A value in [0, n); n > 0.
  int64_t below(int64_t n) { return int64_t(next() % uint64_t(n)); }
  /// A value in [low, high].
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  /// A value in [1, high], small ones more often: uniform in the number of bits.
  int64_t mostly_small(int64_t high) {
    int bits = 0;
    while (bits < 62 && (int64_t{1} << bits) < high) ++bits;
    return between(1, std::min(high, int64_t{1} << below(bits + 1)));
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[size_t(below(int64_t(i)))]);
  }

 private:
  uint64_t state_;
};

/// Node ids of 1 to `max_ranks` ranks, in one of the shapes that jobs have and in some that they
/// should not: block, round robin, blocks of unequal size, shuffled, one node, one rank per node,
/// one large node among single ranks. Ids are not consecutive and not in order of appearance.
inline std::vector<int> random_node_ids(Random& random, int max_ranks) {
  const int ranks = int(random.mostly_small(max_ranks));
  const int nodes = int(random.mostly_small(ranks));
  std::vector<int> ids(static_cast<size_t>(ranks));
  const int64_t shape = random.below(7);
  int node = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    switch (shape) {
      case 0:
        node = int(int64_t{rank} * nodes / ranks);
        break;  // block
      case 1:
        node = rank % nodes;
        break;  // round robin
      case 2:
        node += random.below(ranks) < nodes;
        break;  // unequal blocks
      case 3:
        node = int(random.below(nodes));
        break;  // any
      case 4:
        node = 0;
        break;  // one node
      case 5:
        node = rank;
        break;  // one rank per node
      default:
        node = rank < ranks / 2 ? 0 : rank;
        break;  // one large node
    }
    ids[size_t(rank)] = node;
  }
  if (random.below(4) == 0) random.shuffle(ids);
  const int stride = int(random.between(1, 1000)), offset = int(random.between(-1000, 1000));
  const bool descending = random.below(2) == 0;
  for (int& id : ids) id = offset + stride * (descending ? ranks - id : id);
  return ids;
}

/// A placement of random_node_ids(): 1 to `max_ranks` ranks (up to about two million).
inline placement::Placement random_placement(Random& random, int max_ranks) {
  return placement::Placement(random_node_ids(random, max_ranks));
}

/// A placement with the same number of ranks on every node, at most `max_ranks` in all: block,
/// round robin or any order.
inline placement::Placement random_equal_placement(Random& random, int max_ranks) {
  const int nodes = int(random.mostly_small(max_ranks));
  const int per_node = int(random.mostly_small(max_ranks / nodes));
  std::vector<int> ids(size_t(nodes) * size_t(per_node));
  for (size_t rank = 0; rank < ids.size(); ++rank) ids[rank] = int(rank / size_t(per_node));
  if (random.below(3) != 0) random.shuffle(ids);
  return placement::Placement(ids);
}

/// "0 0 1 1": the node of each rank, for messages of failed tests; cut after 64 ranks.
inline std::string describe(const placement::Placement& placement) {
  std::string text = std::to_string(placement.ranks()) + " ranks on nodes";
  for (int rank = 0; rank < placement.ranks() && rank < 64; ++rank)
    text += ' ' + std::to_string(placement.node_of(rank));
  return placement.ranks() > 64 ? text + " ..." : text;
}

}  // namespace haichi::test
