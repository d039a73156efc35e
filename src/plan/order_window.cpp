#include "plan/order_window.h"

#include <fmt/format.h>

#include <algorithm>

namespace haichi::plan {
namespace {

// The orders that keep the nodes' links busy alike. nd_shift and rank, which do not, are tried
// nowhere: they are there to be compared with.
constexpr IssueOrder kOrders[] = {IssueOrder::nd_rank_shift, IssueOrder::pairwise};
// Few sends outstanding keep the order, and queues short; many hide what a message costs.
constexpr int kWindows[] = {0, 4};
constexpr size_t kSendersLookedAt = 64;

/// The receivers of a sender's messages in the order of issue.
std::vector<int> issued(const placement::Placement& placement, const ExchangeEnds& ends,
                        IssueOrder order, int sender) {
  std::vector<int> peers;
  for (const int receiver : ends.receivers)
    if (receiver != sender && (ends.inside || !placement.same_node(sender, receiver)))
      peers.push_back(receiver);
  return restricted(PeerOrder(placement, order, sender), peers);
}

bool same_order(const placement::Placement& placement, const ExchangeEnds& ends, IssueOrder a,
                IssueOrder b) {
  if (a == b) return true;
  const size_t step = ends.senders.size() / kSendersLookedAt + 1;
  for (size_t i = 0; i < ends.senders.size(); i += step) {
    const int sender = ends.senders[i];
    if (issued(placement, ends, a, sender) != issued(placement, ends, b, sender)) return false;
  }
  return true;
}

}  // namespace

std::string OrderWindow::text() const { return fmt::format("{},{}", name_of(order), window); }

std::vector<OrderWindow> pairs_to_try(const placement::Placement& placement,
                                      const ExchangeEnds& ends, const OrderWindow& usual) {
  std::vector<IssueOrder> orders = {usual.order};
  for (const IssueOrder order : kOrders)
    if (std::none_of(orders.begin(), orders.end(),
                     [&](IssueOrder known) { return same_order(placement, ends, known, order); }))
      orders.push_back(order);
  const int64_t most = int64_t(ends.receivers.size()) * ends.cycles;
  const auto effective = [&](int window) { return window >= most ? 0 : window; };
  std::vector<int> windows = {usual.window};
  for (const int window : kWindows)
    if (std::none_of(windows.begin(), windows.end(),
                     [&](int known) { return effective(known) == effective(window); }))
      windows.push_back(window);
  std::vector<OrderWindow> pairs;
  for (const int window : windows)
    for (const IssueOrder order : orders) pairs.push_back({order, window});
  return pairs;
}

}  // namespace haichi::plan
