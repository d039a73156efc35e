// Swaps between two parts of a graph, see refine_parts() in partition.h. PURE.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/effort.h"
#include "plan/rank_graph.h"

namespace haichi::plan {

/// Keeps its memory from pair to pair. Of the graph and the parts that it was made for, which it
/// changes.
class PairRefiner {
 public:
  PairRefiner(const RankGraph& graph, std::vector<int>& part_of, Effort& effort);

  /// Swaps ranks of `a` with ranks of `b`, which are all those of two parts, as long as the cut
  /// shrinks; both lists are then those of the parts as they are now, in any order. Returns by how
  /// much it shrank.
  int64_t refine(std::vector<int>& a, std::vector<int>& b);

 private:
  struct Entry {
    int64_t gain;
    int rank;
    bool operator<(const Entry& other) const {
      return gain != other.gain ? gain < other.gain : rank > other.rank;
    }
  };
  using Heap = std::vector<Entry>;

  int64_t pass(const std::vector<int>& first, const std::vector<int>& second);
  void fill(const std::vector<int>& ranks, int own, int other, Heap& heap);
  int best_of(Heap& heap);
  void move(int rank, int from, int to, Heap* stays, Heap* other);

  const RankGraph& graph_;
  std::vector<int>& part_of_;
  Effort& effort_;
  std::vector<int64_t> gain_;  // of moving a rank to the other of the two parts
  std::vector<bool> moved_;    // in this pass
  Heap heaps_[2];              // what may move out of each; entries with another gain are stale
  std::vector<int> swapped_;   // in turns from the first and the second
};

}  // namespace haichi::plan
