// Who is where: the nodes of a job and the ranks on each of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace haichi::placement {

/// Where one rank runs inside its node; -1 where that is not known.
struct RankPlace {
  int core = -1;       ///< first core (operating system index) that the rank may run on
  int cores = 0;       ///< how many cores it may run on; 0 if not known
  int numa_node = -1;  ///< NUMA node of that core
};

/// An immutable map rank -> node of one communicator. Ranks are 0..ranks()-1; nodes are
/// 0..nodes()-1 and each has at least one rank. Cheap for 100,000 ranks: two integers a rank.
/// Thread-safe, since nothing changes after construction.
class Placement {
 public:
  Placement() = default;
  /// `node_of_rank[r]` may hold any integers; nodes are renumbered in order of first appearance by
  /// rank. `names[n]`, if given, belongs to the n-th node in that order.
  explicit Placement(std::span<const int> node_of_rank, std::vector<std::string> names = {});

  int ranks() const { return int(node_.size()); }
  int nodes() const { return int(begin_.size()) - 1; }
  int node_of(int rank) const { return node_[size_t(rank)]; }
  /// The ranks on a node, ascending.
  std::span<const int> ranks_on(int node) const;
  /// All ranks grouped by node: ranks_on(0), then ranks_on(1), ...
  std::span<const int> by_node() const { return member_; }
  /// Index in by_node() at which a node's ranks begin.
  int first_index(int node) const { return begin_[size_t(node)]; }
  /// Position of a rank among the ranks of its node (my_node_rank of paper 000, Algorithm 2).
  int local_index(int rank) const { return local_[size_t(rank)]; }
  /// Name of the node, or "node<n>" if none was given.
  std::string node_name(int node) const;
  bool same_node(int a, int b) const { return node_of(a) == node_of(b); }

  /// Placement of a sub-communicator whose rank i is rank `ranks[i]` here; no communication.
  Placement subset(std::span<const int> ranks) const;

  /// Where the node sits in the network, as whoever knows it writes it (topology/seats.h reads it);
  /// empty if nobody said.
  std::string node_address(int node) const {
    return size_t(node) < addresses_.size() ? addresses_[size_t(node)] : std::string();
  }
  void set_node_addresses(std::vector<std::string> addresses) { addresses_ = std::move(addresses); }

  /// Where each rank runs inside its node; empty if not known.
  std::span<const RankPlace> places() const { return places_; }
  void set_places(std::vector<RankPlace> places) { places_ = std::move(places); }

  friend bool operator==(const Placement& a, const Placement& b) { return a.node_ == b.node_; }

 private:
  std::vector<int> node_;         // rank -> node
  std::vector<int> local_;        // rank -> index within its node
  std::vector<int> member_;       // ranks grouped by node
  std::vector<int> begin_ = {0};  // node -> first index in member_; nodes()+1 entries
  std::vector<std::string> names_, addresses_;
  std::vector<RankPlace> places_;
};

/// Synthetic placements for tests and what-if: `per_node` ranks on each of `nodes` nodes, filled
/// node by node (block) or dealt out one by one (round_robin).
Placement block(int nodes, int per_node);
Placement round_robin(int nodes, int per_node);

}  // namespace haichi::placement
