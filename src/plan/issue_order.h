// The order in which a rank issues its messages to all others (paper 000, section 3).
//
// Why it matters: with at most W sends outstanding, ranks that all begin at rank 0 queue up at one
// node while the other nodes' links are idle. The nd_ orders make every node talk to another one.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "placement/placement.h"

namespace haichi::plan {

enum class IssueOrder { rank, pairwise, nd_shift, nd_rank_shift };

/// The order of that name, or nothing.
std::optional<IssueOrder> issue_order_from(std::string_view name);
std::string_view name_of(IssueOrder order);

/// The order of all peers of rank `me`, itself included, as a lazy sequence: peer(k) for
/// k = 0..size()-1 takes constant time and no memory, so 100,000 ranks cost nothing until they are
/// asked for.
///   rank           0, 1, 2, ...                                   (paper 000, Fig. 4)
///   pairwise       me, me+1, ...  modulo ranks                    (Fig. 5)
///   nd_shift       nodes my+1, my+2, ... my; ranks ascending      (Algorithm 1, Fig. 6)
///   nd_rank_shift  the same nodes; within a node of s ranks start at index
///                  my_node_rank modulo s                          (Algorithm 2, Fig. 7)
/// Any placement will do: nodes are in the placement's order (first appearance by rank) and may
/// have unequal numbers of ranks.
///
/// How evenly the receivers of step k are spread, when every rank issues its k-th message (s_n is
/// the number of ranks of node n; proved in docs/notes.md, "Issue orders"):
///   rank           all on rank k
///   pairwise       exactly one on every rank, but at k = 0 it is the rank itself
///   nd_shift       at k = 0 s_(n-1) on node n, all on its first rank; at any k at most
///                  s_n + max(s) - 1 on node n
///   nd_rank_shift  the same per node; at k = 0 each rank of node n receives floor or ceil of
///                  s_(n-1)/s_n; with equal s exactly one on every rank at every k
///
/// The placement must outlive the object. Precondition: 0 <= me < ranks.
class PeerOrder {
 public:
  PeerOrder(const placement::Placement& placement, IssueOrder order, int me);
  int size() const { return placement_->ranks(); }
  int peer(int k) const;
  /// The k with peer(k) == rank: the inverse, constant time. Sorting any subset of the ranks by it
  /// (e.g. the aggregators) gives the order restricted to that subset.
  int position_of(int rank) const;

 private:
  const placement::Placement* placement_;
  IssueOrder order_;
  int me_;
  int start_ = 0;  // nd_ orders: index in placement_->by_node() of the first rank of node my+1
  int turn_ = 0;   // nd_rank_shift: my_node_rank
};

/// The order restricted to `peers` (each a rank, no duplicates): n log n.
std::vector<int> restricted(const PeerOrder& order, const std::vector<int>& peers);

}  // namespace haichi::plan
