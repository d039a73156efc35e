// Who exchanges how much with whom: the ranks of a communicator as a weighted graph.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace haichi::plan {

/// An immutable undirected graph. A weight is what goes both ways, in bytes, or in messages where
/// nobody knows bytes; weights are above zero, and all of them together fit into an int64_t. Two
/// ranks have one edge at most, and none has one to itself.
class RankGraph {
 public:
  struct Edge {
    int a, b;
    int64_t weight;
  };
  struct Neighbour {
    int rank;
    int64_t weight;
  };

  /// Edges may come in any order, both ways and repeatedly, which adds up. Those of a rank to
  /// itself and those without a weight are left out. Ranks are 0..ranks-1.
  RankGraph(int ranks, std::span<const Edge> edges);

  int ranks() const { return int(begin_.size()) - 1; }
  /// Ascending by rank.
  std::span<const Neighbour> of(int rank) const {
    const size_t begin = begin_[size_t(rank)];
    return std::span(neighbours_).subspan(begin, begin_[size_t(rank) + 1] - begin);
  }
  /// How many edges there are, each counted from both ends.
  int64_t ends() const { return int64_t(neighbours_.size()); }

  /// The edges among these ranks, ascending; rank i there is `ranks[i]` here.
  RankGraph among(std::span<const int> ranks) const;

 private:
  std::vector<size_t> begin_;  // rank -> first of its neighbours; ranks()+1 entries
  std::vector<Neighbour> neighbours_;
};

/// A Cartesian grid, the last dimension fastest, as MPI_Cart_create numbers its ranks.
struct Grid {
  std::vector<int> extents;    ///< at least 1 each; their product is the number of ranks
  std::vector<bool> periodic;  ///< as many
  /// What two neighbours in a dimension exchange, both ways together; empty: 2 in each.
  std::vector<int64_t> weights;

  int ranks() const;
};

/// Each rank with the next one in each dimension. Around a dimension of two ranks there are two
/// messages each way, around one of a single rank there are none that matter.
RankGraph graph_of(const Grid& grid);

}  // namespace haichi::plan
