// Who of a node talks to which other node: the other nodes, counted round from this one, are shared
// out among its leaders; the leader that sends to a node also receives from it.
//
// PURE.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "placement/placement.h"

namespace haichi::collectives {

/// The nodes as one of them sees them: turn 1 is the next one, count()-1 the one before it. Leader
/// i serves turns i+1, i+1+leaders(), ...; it is the i-th rank of its node.
class Leaders {
 public:
  Leaders(const placement::Placement& placement, int node, int leaders)
      : placement_(&placement), node_(node), wanted_(leaders) {}
  /// Of nodes.
  int count() const { return placement_->nodes(); }
  int at(int turn) const { return (node_ + turn) % count(); }
  /// The ranks of this node, and of another.
  std::span<const int> ranks() const { return placement_->ranks_on(node_); }
  std::span<const int> ranks_at(int turn) const { return placement_->ranks_on(at(turn)); }

  int leaders() const { return leaders_on(node_); }
  /// The rank at the other end of the messages between this node and the one at `turn`.
  int partner(int turn) const {
    const int back = count() - turn;  // this node's turn as the other one counts
    return ranks_at(turn)[size_t((back - 1) % leaders_on(at(turn)))];
  }
  /// Ranks on all nodes that a leader serves.
  int64_t ranks_served_by(int leader) const {
    int64_t ranks = 0;
    for (int turn = leader + 1; turn < count(); turn += leaders())
      ranks += int64_t(ranks_at(turn).size());
    return ranks;
  }

 private:
  int leaders_on(int node) const {
    const int there = int(placement_->ranks_on(node).size());
    return wanted_ == 0 ? there : std::min(wanted_, there);
  }
  const placement::Placement* placement_;
  int node_, wanted_;
};

}  // namespace haichi::collectives
