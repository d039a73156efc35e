// What may be chosen of an exchange beside its bytes: the order in which a rank issues its messages
// and how many sends it has outstanding (paper 000, sections 3 and 4.1). Which of these pairs are
// worth a trial.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "placement/placement.h"
#include "plan/issue_order.h"

namespace haichi::plan {

struct OrderWindow {
  IssueOrder order = IssueOrder::nd_rank_shift;
  int window = 32;  ///< most sends outstanding per rank; 0: no limit
  friend bool operator==(const OrderWindow&, const OrderWindow&) = default;
  /// "nd_rank_shift,32".
  std::string text() const;
};

/// Who may send to whom in a cycle of an exchange. The ranks must outlive it.
struct ExchangeEnds {
  std::span<const int> senders, receivers;
  bool inside = false;  ///< between ranks of one node too; false: those copy
  int cycles = 1;       ///< whose messages may be under way together
};

/// The pairs to try, `usual` first and none twice: those that issue the same messages in the same
/// order, or that can never reach their window, are one. Looks at the orders of at most 64 senders.
std::vector<OrderWindow> pairs_to_try(const placement::Placement& placement,
                                      const ExchangeEnds& ends, const OrderWindow& usual);

}  // namespace haichi::plan
