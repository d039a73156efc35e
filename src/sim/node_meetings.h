// Where the simulated ranks of a node meet, and what they tell each other there.
//
// PURE.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "placement/placement.h"
#include "plan/node_table.h"
#include "sim/time.h"

namespace haichi::sim {

class NodeMeetings {
 public:
  /// All ranks leave a meeting `latency` after the last has come. The placement must outlive it.
  NodeMeetings(const placement::Placement& placement, Time latency)
      : placement_(placement), latency_(latency), nodes_(size_t(placement.nodes())) {}

  /// The rank has come to its node's next meeting. True if it is the last: the meeting is held.
  bool arrive(int rank, Time now) {
    Node& node = of(rank);
    node.last = std::max(node.last, now);
    if (++node.arrived < members(rank)) return false;
    ++node.held;
    node.leave = node.last + latency_;
    node.arrived = 0;
    node.last = 0;
    return true;
  }
  /// How many meetings of the rank's node were held, and when the last of them ended.
  int64_t held(int rank) const { return nodes_[size_t(placement_.node_of(rank))].held; }
  Time leave(int rank) const { return nodes_[size_t(placement_.node_of(rank))].leave; }

  void tell(int rank, int64_t cell, int64_t number) {
    table(rank).tell(cell, placement_.local_index(rank), number);
  }
  plan::NodeSum sum(int rank, int64_t cell) {
    return table(rank).sum(cell, placement_.local_index(rank));
  }

 private:
  struct Node {
    int arrived = 0;  // at the next meeting
    Time last = 0;    // of those
    int64_t held = 0;
    Time leave = 0;
    std::optional<plan::OwnNodeTable> table;  // once something was told
  };

  Node& of(int rank) { return nodes_[size_t(placement_.node_of(rank))]; }
  int members(int rank) const { return int(placement_.ranks_on(placement_.node_of(rank)).size()); }
  plan::OwnNodeTable& table(int rank) {
    auto& table = of(rank).table;
    if (!table) table.emplace(members(rank));
    return *table;
  }

  const placement::Placement& placement_;
  const Time latency_;
  std::vector<Node> nodes_;
};

}  // namespace haichi::sim
