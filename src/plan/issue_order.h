// The order in which a rank issues its messages to all others (paper 000, section 3).
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "placement/placement.h"

namespace haichi::plan {

enum class IssueOrder { rank, pairwise, nd_shift, nd_rank_shift };

std::optional<IssueOrder> issue_order_from(std::string_view name);
std::string_view name_of(IssueOrder order);

/// The order of all peers of rank `me`, itself included, as a lazy sequence: peer(k) for
/// k = 0..ranks()-1 takes constant time, so 100,000 ranks cost nothing until they are asked for.
///   rank           0, 1, 2, ...                                   (paper 000, Fig. 4)
///   pairwise       me, me+1, ...  modulo ranks                    (Fig. 5)
///   nd_shift       nodes my+1, my+2, ... my; ranks ascending      (Algorithm 1, Fig. 6)
///   nd_rank_shift  the same nodes; within a node of s ranks start at index
///                  my_node_rank modulo s                          (Algorithm 2, Fig. 7)
/// The placement must outlive the object.
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
};

/// The order restricted to `peers` (each a rank, no duplicates).
std::vector<int> restricted(const PeerOrder& order, const std::vector<int>& peers);

}  // namespace haichi::plan
