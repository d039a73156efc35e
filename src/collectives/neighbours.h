// With whom one rank exchanges blocks where that is not everybody: MPI_Neighbor_alltoall and its
// like.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <vector>

namespace haichi::collectives {

/// The ranks that blocks come from and go to, in the order of the blocks in the program's buffers;
/// what is called a place is an index into these lists. A rank may stand there several times, the
/// own rank too.
struct Neighbours {
  static constexpr int kNobody = -1;  ///< of a block that is neither sent nor received

  std::vector<int> sources, destinations;
  /// All places of `sources`, in the order in which their blocks are received: of those from one
  /// rank to another, the k-th that is sent is the k-th that is received.
  std::vector<int> receive_order;

  /// Of a graph: blocks between two ranks are received in the order of their places (MPI 4.1,
  /// section 8.6).
  static Neighbours of_graph(std::vector<int> sources, std::vector<int> destinations);
  /// Of a Cartesian grid: two neighbours for each dimension, the one before and the one after. What
  /// goes one way comes from the other, also where both are one rank (the same section).
  static Neighbours of_grid(std::vector<int> neighbours);

  /// Some rank stands more than once among the sources, or among the destinations.
  bool repeated() const;
  /// How many blocks this rank, `me`, has for itself.
  int own(int me) const;
};

}  // namespace haichi::collectives
