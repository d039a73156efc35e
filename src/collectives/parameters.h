// What an algorithm for an exchange can be told.
//
// PURE.
#pragma once

#include "plan/issue_order.h"

namespace haichi::collectives {

/// What an algorithm can be told; each reads its own.
struct Parameters {
  plan::IssueOrder order = plan::IssueOrder::nd_rank_shift;  ///< spread
  int window = 0;   ///< spread: most sends outstanding; 0 is no limit
  int radix = 2;    ///< bruck, doubling; at least 2
  int leaders = 1;  ///< node_aware, node_gather: ranks of a node that talk to others; 0: all
  friend bool operator==(const Parameters&, const Parameters&) = default;
};

}  // namespace haichi::collectives
