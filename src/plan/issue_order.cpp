#include "plan/issue_order.h"

#include <algorithm>
#include <utility>

namespace haichi::plan {
namespace {

constexpr std::string_view kNames[] = {"rank", "pairwise", "nd_shift", "nd_rank_shift"};

// (a + b) % n for a and b in [0, n), without an overflow of int.
int add_modulo(int a, int b, int n) { return a < n - b ? a + b : a - (n - b); }

// (a - b) % n for a and b in [0, n), never negative.
int subtract_modulo(int a, int b, int n) { return a >= b ? a - b : a + (n - b); }

}  // namespace

std::optional<IssueOrder> issue_order_from(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return IssueOrder(i);
  return std::nullopt;
}

std::string_view name_of(IssueOrder order) { return kNames[size_t(order)]; }

// Both nd_ orders visit the nodes my+1, my+2, ..., my. In the table of ranks grouped by node that
// is one walk around the whole table, begun where node my+1 begins: `start_`. nd_shift reads the
// table as it stands; nd_rank_shift turns each node's part of it by my_node_rank modulo its size.
PeerOrder::PeerOrder(const placement::Placement& placement, IssueOrder order, int me)
    : placement_(&placement), order_(order), me_(me) {
  const int next = add_modulo(placement.node_of(me), 1 % placement.nodes(), placement.nodes());
  start_ = placement.first_index(next);
  turn_ = placement.local_index(me);
}

int PeerOrder::peer(int k) const {
  const int ranks = placement_->ranks();
  if (order_ == IssueOrder::rank) return k;
  if (order_ == IssueOrder::pairwise) return add_modulo(me_, k, ranks);
  const int index = add_modulo(start_, k, ranks);
  const int straight = placement_->by_node()[size_t(index)];
  if (order_ == IssueOrder::nd_shift) return straight;
  const auto node = placement_->ranks_on(placement_->node_of(straight));
  const int size = int(node.size());
  return node[size_t(add_modulo(placement_->local_index(straight), turn_ % size, size))];
}

int PeerOrder::position_of(int rank) const {
  const int ranks = placement_->ranks();
  if (order_ == IssueOrder::rank) return rank;
  if (order_ == IssueOrder::pairwise) return subtract_modulo(rank, me_, ranks);
  const int node = placement_->node_of(rank);
  int within = placement_->local_index(rank);
  if (order_ == IssueOrder::nd_rank_shift) {
    const int size = int(placement_->ranks_on(node).size());
    within = subtract_modulo(within, turn_ % size, size);
  }
  return subtract_modulo(placement_->first_index(node) + within, start_, ranks);
}

std::vector<int> restricted(const PeerOrder& order, const std::vector<int>& peers) {
  std::vector<std::pair<int, int>> placed;
  placed.reserve(peers.size());
  for (const int rank : peers) placed.emplace_back(order.position_of(rank), rank);
  std::sort(placed.begin(), placed.end());
  std::vector<int> sorted;
  sorted.reserve(peers.size());
  for (const auto& [position, rank] : placed) sorted.push_back(rank);
  return sorted;
}

}  // namespace haichi::plan
